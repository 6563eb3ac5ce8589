//! Calls that continue as tasks of a server, offered to clients that support tasks.
//!
//! The call stays in this process and follows the server's task; the client gets a task of the
//! gateway, whose id reveals nothing about the server's. `task_request` decides whether a client
//! supports tasks, `task_store` keeps them, `follow` follows them, `requests` answers requests about
//! them, `task_json` writes both forms.

mod follow;
mod requests;
mod task_json;
mod task_request;
mod task_store;

pub(crate) use requests::requested_task_id;
pub(crate) use task_request::{TASKS_EXTENSION, TaskRequest};
pub(crate) use task_store::ClientTasks;
