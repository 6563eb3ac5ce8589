//! Calls that another program of the same user makes through us, as if it made them itself: what
//! happens is told on the stream of the call, and what a person is asked is put to whoever sits
//! there.

mod call_stream;
mod program_call;

pub(crate) use call_stream::start_call;
pub(crate) use program_call::{AnswerRejection, ProgramCalls};
