//! Step 6b: what people are asked, by policy or by servers, and who puts it to them.
//!
//! A question goes to the face and, through `put`, into the queue `waiting`, where every other face
//! and process sees it. The first answer counts.

mod ask;
mod ask_reply;
mod bad_ask;
mod call_askers;
mod check;
mod face_answers;
mod form;
mod form_values;
mod given;
mod matter;
mod posted;
mod put;
mod recorded_calls;
mod reviewer;
mod sampler;
mod sampling;
mod sampling_budget;
mod sampling_request;
mod schema_of_form;
mod secret_words;
mod secrets;
mod url_ask;
mod waiting;
mod waiting_entry;
mod waiting_error;
mod waiting_store;

pub use ask::{Ask, AskKind, Asker, NobodyToAsk, Replying};
pub use ask_reply::Reply;
pub use bad_ask::BadAsk;
pub use call_askers::{Registration, WhichCall};
pub use face_answers::FaceAnswers;
pub use form::{Choice, Field, FieldKind, Form, NumberKind, TextFormat};
pub use form_values::FieldProblem;
pub use given::Given;
pub use matter::{ask_matter, restore_ask, review_matter};
pub use put::News;
pub(crate) use put::{put_consent, put_question};
pub use reviewer::{Answering, NobodyThere, Reviewer, Unanswered};
pub use sampler::{
    ChosenModel, ModelWishes, SampleMedia, SampleMessage, SamplePart, SampleRequest, SampleRole,
    SampleStop, SampleTool, SampleToolChoice, Sampled, Sampler, Sampling, ToolUse,
};
pub use sampling::SamplingAsk;
pub use url_ask::UrlAsk;
pub use waiting::{CallLookup, CallSeen, LookingUp, USUAL_LIMIT, Waiting, Watch};
pub use waiting_entry::{AskMatter, Asked, AskedFor, Entry, Matter, ReviewMatter, State};
pub use waiting_error::WaitingError;
pub use waiting_store::{Answered, WaitingStore};
