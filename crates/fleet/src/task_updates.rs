//! What servers tell by themselves of tasks, passed on to whoever follows them.

use serde::Deserialize;
use switchboard_core::{EventKind, Events, ServerId};
use switchboard_wire::Json;

/// Tells that a task has changed. What it is like now is asked for: a notification may be old.
pub(crate) fn forward_task_change(events: &Events, server: &ServerId, params: Option<&Json>) {
    #[derive(Deserialize)]
    struct TaskChangedParams {
        #[serde(rename = "taskId")]
        task: String,
    }
    if let Some(Ok(TaskChangedParams { task })) = params.map(Json::read) {
        events.emit(|| EventKind::TaskChanged { server: server.to_string(), task });
    }
}
