//! A task as each of the two eras writes it.

use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use switchboard_wire::{Era, Json, RpcError};

use super::kept::{End, State, Task};
use crate::members::{with_front, with_value};

const RELATED: &str = "io.modelcontextprotocol/related-task";

/// The answer to the call that became the task.
pub(super) fn created(task: &Task, era: Era) -> String {
    match era {
        Era::Legacy => json!({"task": legacy(task)}).to_string(),
        Era::Modern => {
            let text = plain(task, Era::Modern).to_string();
            with_front(r#""resultType":"task""#, &text).unwrap_or(text)
        }
    }
}

/// How far it is, as 2025-11-25 has it.
pub(super) fn legacy(task: &Task) -> Value {
    plain(task, Era::Legacy)
}

/// How far it is as 2026-07-28 has it, with what it asks and how it ended.
pub(super) fn modern(task: &Task) -> String {
    let text = plain(task, Era::Modern).to_string();
    let more = task.look(|state| match &state.end {
        Some(End::Result { text, .. }) => Some(format!(r#""result":{text}"#)),
        Some(End::Error(error)) => Some(format!(r#""error":{}"#, error_text(error))),
        Some(End::Cancelled) => None,
        None if state.asks.is_empty() => None,
        None => {
            let asks: Vec<String> = state
                .asks
                .iter()
                .map(|(key, ask)| {
                    let params = ask.params.as_ref().map_or("{}", Json::as_str);
                    let (key, method) = (json!(key), &ask.method);
                    format!(r#"{key}:{{"method":"{method}","params":{params}}}"#)
                })
                .collect();
            Some(format!(r#""inputRequests":{{{}}}"#, asks.join(",")))
        }
    });
    let text = more.and_then(|more| with_front(&more, &text)).unwrap_or(text);
    with_front(r#""resultType":"complete""#, &text).unwrap_or(text)
}

/// Text that belongs to a task, with a word about which one.
pub(super) fn related(object: &str, task: &Task) -> String {
    let of = json!({RELATED: {"taskId": task.id}}).to_string();
    let meta = serde_json::from_str::<Value>(object).ok();
    let meta = meta.and_then(|object| object.get("_meta").cloned());
    let whole = match meta {
        None => with_front(&format!(r#""_meta":{of}"#), object),
        Some(mut meta) => {
            if let Some(members) = meta.as_object_mut() {
                members.insert(RELATED.to_owned(), json!({"taskId": task.id}));
            }
            with_value(object, "_meta", &meta.to_string())
        }
    };
    whole.unwrap_or_else(|| object.to_owned())
}

/// The same text without a word about which task it belongs to; nothing if there is none.
pub(super) fn unrelated(object: &str) -> Option<String> {
    let meta = serde_json::from_str::<Value>(object).ok()?.get("_meta").cloned();
    let mut meta = meta.filter(|meta| meta.get(RELATED).is_some())?;
    meta.as_object_mut()?.remove(RELATED);
    with_value(object, "_meta", &meta.to_string())
}

fn plain(task: &Task, era: Era) -> Value {
    task.look(|state| {
        let (ttl, poll) = match era {
            Era::Legacy => ("ttl", "pollInterval"),
            Era::Modern => ("ttlMs", "pollIntervalMs"),
        };
        let mut members = json!({
            "taskId": task.id,
            "status": status(state, era),
            "createdAt": time(task.created),
            "lastUpdatedAt": time(state.updated),
            ttl: milliseconds(task.ttl),
            poll: milliseconds(state.poll),
        });
        if let (Some(message), Some(all)) = (&state.message, members.as_object_mut()) {
            all.insert("statusMessage".to_owned(), json!(message));
        }
        members
    })
}

fn status(state: &State, era: Era) -> &'static str {
    match (&state.end, era) {
        // The legacy era calls a task failed whose result reports a failure.
        (Some(End::Result { failed: true, .. }), Era::Legacy) => "failed",
        (Some(End::Result { .. }), _) => "completed",
        (Some(End::Error(_)), _) => "failed",
        (Some(End::Cancelled), _) => "cancelled",
        (None, _) if state.waits() => "input_required",
        (None, _) => "working",
    }
}

fn error_text(error: &RpcError) -> String {
    let code = error.code;
    let data = error.data.as_ref().map(|data| format!(r#","data":{}"#, data.as_str()));
    let message = Value::from(error.message.as_str());
    format!(r#"{{"code":{code},"message":{message}{}}}"#, data.unwrap_or_default())
}

fn time(time: SystemTime) -> String {
    jiff::Timestamp::try_from(time).map(|time| time.to_string()).unwrap_or_default()
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
