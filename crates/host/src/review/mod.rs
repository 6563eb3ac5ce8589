//! Step 6b: a question to an answer, asked by the face.

mod reviewer;

pub use reviewer::{Answering, NobodyThere, Reviewer, Unanswered};
