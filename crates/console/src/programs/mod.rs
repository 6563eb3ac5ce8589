//! Calls that other programs of the same user make through this instance, as if they made them
//! directly. The stream of a call carries its updates, and questions go to the program's user.

mod call_stream;
mod program_call;

pub(crate) use call_stream::start_call;
pub(crate) use program_call::{AnswerRejection, ProgramCalls};
