//! The call pipeline: from a proposed call to exactly one outcome.
//!
//! Reading order: `pipeline` opens the record and runs the steps; `decide`, `hooks` and
//! `quarantine` are steps before execution; `execute` sends the call; `task_calls` follows calls
//! that continue as tasks.

pub(crate) mod decide;
pub(crate) mod execute;
pub(crate) mod hooks;
pub(crate) mod in_flight;
pub(crate) mod pipeline;
pub(crate) mod quarantine;
pub(crate) mod session_answers;
pub(crate) mod taint;
pub(crate) mod task_calls;
