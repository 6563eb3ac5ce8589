//! Tasks as servers describe them: handle, state and result.

use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use switchboard_core::{TaskHandle, TaskState, TaskStatus};
use switchboard_wire::{Era, Json, RpcError};

/// A task as a server described it. The last three members exist only in the modern era.
#[derive(Clone, Debug)]
pub(super) struct TaskSnapshot {
    pub(super) handle: TaskHandle,
    pub(super) state: TaskState,
    pub(super) input_requests: Option<Json>,
    pub(super) result: Option<Json>,
    pub(super) error: Option<RpcError>,
}

/// The members of a task in both eras; the modern durations have their unit in the name.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TaskMembers<'a> {
    task_id: Option<String>,
    status: Option<String>,
    status_message: Option<String>,
    ttl: Option<f64>,
    ttl_ms: Option<f64>,
    poll_interval: Option<f64>,
    poll_interval_ms: Option<f64>,
    #[serde(borrow)]
    input_requests: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    error: Option<TaskErrorMembers>,
}

#[derive(Deserialize)]
struct TaskErrorMembers {
    code: Option<i64>,
    message: Option<String>,
}

impl TaskSnapshot {
    /// Parses a task; the error says what is missing or invalid.
    pub(super) fn parse(text: &Json, era: Era) -> Result<Self, String> {
        let members: TaskMembers<'_> =
            text.read().map_err(|error| format!("the task cannot be read: {error}"))?;
        let (ttl, poll) = match era {
            Era::Legacy => (members.ttl, members.poll_interval),
            Era::Modern => (members.ttl_ms, members.poll_interval_ms),
        };
        let word = members.status.ok_or("the task has no status")?;
        let status =
            TaskStatus::parse(&word).ok_or_else(|| format!("unknown task status `{word}`"))?;
        let poll = poll.and_then(milliseconds);
        let id = members.task_id.filter(|id| !id.is_empty()).ok_or("the task has no id")?;
        let error = members
            .error
            .map(|error| RpcError::new(error.code.unwrap_or(0), error.message.unwrap_or_default()));
        Ok(Self {
            handle: TaskHandle { id, era, poll, ttl: ttl.and_then(milliseconds) },
            state: TaskState { status, message: members.status_message, poll },
            input_requests: members.input_requests.map(Json::from),
            result: members.result.map(Json::from),
            error,
        })
    }
}

/// Returns the task that a call has become, if its result is one. Fails if the task is invalid.
pub(super) fn parse_created_task(result: &Json, era: Era) -> Result<Option<TaskSnapshot>, String> {
    #[derive(Deserialize)]
    struct CreatedTask<'a> {
        #[serde(borrow)]
        task: Option<&'a RawValue>,
        #[serde(borrow)]
        content: Option<&'a RawValue>,
        #[serde(borrow, rename = "resultType")]
        kind: Option<&'a RawValue>,
    }
    let Ok(created) = result.read::<CreatedTask<'_>>() else { return Ok(None) };
    match era {
        // A tool's own result may have a `task` member too, but then it also has `content`.
        Era::Legacy => match (created.task, created.content) {
            (Some(task), None) => TaskSnapshot::parse(&Json::from(task), era).map(Some),
            _ => Ok(None),
        },
        Era::Modern if created.kind.map(RawValue::get) == Some(r#""task""#) => {
            TaskSnapshot::parse(result, era).map(Some)
        }
        Era::Modern => Ok(None),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "numbers out of range are rejected before the cast"
)]
fn milliseconds(number: f64) -> Option<Duration> {
    let sensible = number.is_finite() && (0.0..1e15).contains(&number);
    sensible.then(|| Duration::from_millis(number as u64))
}

#[cfg(test)]
#[path = "task_tests.rs"]
mod tests;
