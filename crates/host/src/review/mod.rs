//! Reviews: the questions that policy and servers ask people, and the traits that present them.
//!
//! `first_answer` sends a question to the face that made the call and to the `review_queue`, where
//! every other face and process sees it. The first answer counts.

mod ask;
mod check;
mod face_answers;
mod first_answer;
mod form;
mod form_schema;
mod form_values;
mod matter;
mod pending_entry;
mod review_queue;
mod reviewer;
mod sampling;
mod sampling_budget;
mod sampling_request;
mod secret_words;
mod secrets;
mod url_ask;

pub use ask::{Ask, AskKind, Asker, BadAsk, NobodyToAsk, ReplyFuture};
pub use face_answers::FaceAnswers;
pub use first_answer::QuestionUpdate;
pub(crate) use first_answer::{ask_consent, ask_question};
pub use form::{Choice, Field, FieldKind, Form, NumberKind, TextFormat};
pub use form_values::FieldProblem;
pub use matter::{ask_matter, restore_ask, review_matter};
pub use review_queue::{DEFAULT_REVIEW_LIMIT, QueueWatch, ReviewQueue};
pub use reviewer::{NobodyThere, ReviewFuture, Reviewer, Unanswered};
pub use sampling::SamplingAsk;
pub use url_ask::UrlAsk;
