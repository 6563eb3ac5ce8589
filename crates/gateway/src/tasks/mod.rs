//! Calls that servers go on with by themselves, handed to clients that know such tasks.
//!
//! The call itself stays here and follows the server's task; the client gets a task of ours, whose
//! name says nothing of the server's, and asks about that one. `wanted` says which clients know
//! tasks, `kept` holds them, `follow` follows them, `requests` answers, `shape` writes both forms.

mod follow;
mod requests;
mod task_json;
mod task_request;
mod task_store;

pub(crate) use requests::requested_task_id;
pub(crate) use task_request::{TASKS_EXTENSION, TaskRequest};
pub(crate) use task_store::ClientTasks;
