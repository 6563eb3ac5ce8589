//! What servers tell by themselves of tasks, passed on to whoever follows them.

use serde::Deserialize;
use switchboard_core::{Events, ServerId, What};
use switchboard_wire::Json;

/// Tells that a task has changed. What it is like now is asked for: a notification may be old.
pub(crate) fn tell_task(events: &Events, server: &ServerId, params: Option<&Json>) {
    #[derive(Deserialize)]
    struct Told {
        #[serde(rename = "taskId")]
        task: String,
    }
    if let Some(Ok(Told { task })) = params.map(Json::read) {
        events.tell(|| What::TaskChanged { server: server.to_string(), task });
    }
}
