//! Calls that servers go on with by themselves, handed to clients that know such tasks.
//!
//! The call itself stays here and follows the server's task; the client gets a task of ours, whose
//! name says nothing of the server's, and asks about that one. `wanted` says which clients know
//! tasks, `kept` holds them, `follow` follows them, `requests` answers, `shape` writes both forms.

mod follow;
mod kept;
mod requests;
mod shape;
mod wanted;

pub(crate) use kept::Tasks;
pub(crate) use requests::task_in;
pub(crate) use wanted::{EXTENSION, Wanted};
