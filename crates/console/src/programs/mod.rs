//! Calls that another program of the same user makes through us, as if it made them itself: what
//! happens is told on the stream of the call, and what a person is asked is put to whoever sits
//! there.

mod follow;
mod line;
mod people;
mod told;
mod wanted;

pub(crate) use follow::begin;
pub(crate) use line::{Lines, NoAnswer};
pub use told::{CallEnded, Told};
pub use wanted::{Proposer, TaskWanted, WantedCall, Whom};
