//! Step 6b: what people are asked, by policy or by servers, and who puts it to them.

mod ask;
mod bad_ask;
mod face_answers;
mod form;
mod form_values;
mod reviewer;
mod schema_of_form;
mod secret_words;
mod secrets;
mod url_ask;

pub use ask::{Ask, AskKind, Asker, NobodyToAsk, Reply, Replying};
pub use bad_ask::BadAsk;
pub use face_answers::FaceAnswers;
pub use form::{Choice, Field, FieldKind, Form, NumberKind, TextFormat};
pub use form_values::FieldProblem;
pub use reviewer::{Answering, NobodyThere, Reviewer, Unanswered};
pub use url_ask::UrlAsk;
