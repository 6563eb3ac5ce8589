//! The JSON forms of a task in both eras.

use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use switchboard_wire::{Era, RpcError};

use super::task_store::{ClientTask, ClientTaskEnd, ClientTaskState};
use crate::members::{with_leading_members, with_raw_member};
use crate::relay::input_requests;

const RELATED_TASK_KEY: &str = "io.modelcontextprotocol/related-task";

/// Returns the result of the call that became the task.
pub(super) fn created_task(task: &ClientTask, era: Era) -> String {
    match era {
        Era::Legacy => json!({"task": legacy_task(task)}).to_string(),
        Era::Modern => {
            let text = task_members(task, Era::Modern).to_string();
            with_leading_members(r#""resultType":"task""#, &text).unwrap_or(text)
        }
    }
}

/// Returns the state of a task as in 2025-11-25.
pub(super) fn legacy_task(task: &ClientTask) -> Value {
    task_members(task, Era::Legacy)
}

/// Returns the state of a task as in 2026-07-28, with its questions or its end.
pub(super) fn modern_task(task: &ClientTask) -> String {
    let text = task_members(task, Era::Modern).to_string();
    let more = task.read(|state| match &state.end {
        Some(ClientTaskEnd::Result { text, .. }) => Some(format!(r#""result":{text}"#)),
        Some(ClientTaskEnd::Error(error)) => Some(format!(r#""error":{}"#, error_text(error))),
        Some(ClientTaskEnd::Cancelled) => None,
        None if state.asks.is_empty() => None,
        None => Some(format!(r#""inputRequests":{}"#, input_requests(&state.asks))),
    });
    let text = more.and_then(|more| with_leading_members(&more, &text)).unwrap_or(text);
    with_leading_members(r#""resultType":"complete""#, &text).unwrap_or(text)
}

/// Adds the task's id to the `_meta` of an object.
pub(super) fn with_related_task(object: &str, task: &ClientTask) -> String {
    let of = json!({RELATED_TASK_KEY: {"taskId": task.id}}).to_string();
    let read = serde_json::from_str::<Value>(object);
    let whole = match read.ok().and_then(|object| object.get("_meta").cloned()) {
        None => with_leading_members(&format!(r#""_meta":{of}"#), object),
        Some(mut meta) => {
            if let Some(members) = meta.as_object_mut() {
                members.insert(RELATED_TASK_KEY.to_owned(), json!({"taskId": task.id}));
            }
            with_raw_member(object, "_meta", &meta.to_string())
        }
    };
    whole.unwrap_or_else(|| object.to_owned())
}

/// Removes the task's id from the `_meta` of an object. `None` if there is none.
pub(super) fn without_related_task(object: &str) -> Option<String> {
    let meta = serde_json::from_str::<Value>(object).ok()?.get("_meta").cloned();
    let mut meta = meta.filter(|meta| meta.get(RELATED_TASK_KEY).is_some())?;
    meta.as_object_mut()?.remove(RELATED_TASK_KEY);
    with_raw_member(object, "_meta", &meta.to_string())
}

fn task_members(task: &ClientTask, era: Era) -> Value {
    task.read(|state| {
        let (ttl, poll) = match era {
            Era::Legacy => ("ttl", "pollInterval"),
            Era::Modern => ("ttlMs", "pollIntervalMs"),
        };
        let mut members = json!({
            "taskId": task.id,
            "status": status_word(state, era),
            "createdAt": format_time(task.created),
            "lastUpdatedAt": format_time(state.updated),
            ttl: milliseconds(task.ttl),
            poll: milliseconds(state.poll),
        });
        if let (Some(message), Some(all)) = (&state.message, members.as_object_mut()) {
            all.insert("statusMessage".to_owned(), json!(message));
        }
        members
    })
}

fn status_word(state: &ClientTaskState, era: Era) -> &'static str {
    match (&state.end, era) {
        // In the legacy era, a task whose result is an error has failed.
        (Some(ClientTaskEnd::Result { failed: true, .. }), Era::Legacy) => "failed",
        (Some(ClientTaskEnd::Result { .. }), _) => "completed",
        (Some(ClientTaskEnd::Error(_)), _) => "failed",
        (Some(ClientTaskEnd::Cancelled), _) => "cancelled",
        (None, _) if state.needs_input() => "input_required",
        (None, _) => "working",
    }
}

fn error_text(error: &RpcError) -> String {
    let code = error.code;
    let data = error.data.as_ref().map(|data| format!(r#","data":{}"#, data.as_str()));
    let message = Value::from(error.message.as_str());
    format!(r#"{{"code":{code},"message":{message}{}}}"#, data.unwrap_or_default())
}

fn format_time(time: SystemTime) -> String {
    jiff::Timestamp::try_from(time).map(|time| time.to_string()).unwrap_or_default()
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
