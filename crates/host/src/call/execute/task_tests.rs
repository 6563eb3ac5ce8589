//! Tests of parsing tasks.

use std::time::Duration;

use serde_json::{Value, json};
use switchboard_core::{TaskHandle, TaskState, TaskStatus};
use switchboard_wire::{Era, Json};

use super::{TaskSnapshot, parse_created_task};

fn read(value: &Value, era: Era) -> Result<Option<(TaskHandle, TaskState)>, String> {
    let seen = parse_created_task(&Json::from(value), era)?;
    Ok(seen.map(|seen| (seen.handle, seen.state)))
}

#[test]
fn a_task_is_read_in_the_form_of_its_era_and_in_no_other() {
    let handle = |era| TaskHandle {
        id: "t-1".to_owned(),
        era,
        poll: Some(Duration::from_millis(500)),
        ttl: Some(Duration::from_secs(60)),
    };
    let state = TaskState {
        status: TaskStatus::Working,
        message: Some("on it".to_owned()),
        poll: Some(Duration::from_millis(500)),
    };
    let legacy = json!({"task": {"taskId": "t-1", "status": "working", "statusMessage": "on it",
        "ttl": 60_000, "pollInterval": 500, "createdAt": "2025-11-25T10:00:00Z"}});
    let modern = json!({"resultType": "task", "taskId": "t-1", "status": "working",
        "statusMessage": "on it", "ttlMs": 60_000, "pollIntervalMs": 500});
    assert_eq!(read(&legacy, Era::Legacy), Ok(Some((handle(Era::Legacy), state.clone()))));
    assert_eq!(read(&modern, Era::Modern), Ok(Some((handle(Era::Modern), state))));
    assert_eq!(read(&legacy, Era::Modern), Ok(None));
    assert_eq!(read(&modern, Era::Legacy), Ok(None));
}

#[test]
fn a_result_that_only_looks_like_a_task_is_a_result() {
    for (value, era) in [
        (json!({"content": [], "task": {"taskId": "t", "status": "working"}}), Era::Legacy),
        (json!({"content": []}), Era::Legacy),
        (json!({"taskId": "t", "status": "working", "resultType": "complete"}), Era::Modern),
        (json!([1]), Era::Modern),
    ] {
        assert_eq!(read(&value, era), Ok(None), "{value}");
    }
}

#[test]
fn a_task_that_cannot_be_followed_is_told_apart() {
    for (task, expected) in [
        (json!({"taskId": "t"}), "the task has no status"),
        (json!({"status": "working"}), "the task has no id"),
        (json!({"taskId": "", "status": "working"}), "the task has no id"),
        (json!({"taskId": "t", "status": "napping"}), "unknown task status `napping`"),
    ] {
        assert_eq!(read(&json!({"task": task}), Era::Legacy), Err(expected.to_owned()));
    }
}

#[test]
fn odd_times_are_left_out() {
    for odd in [json!(null), json!(-1), json!(1e300)] {
        let value = json!({"taskId": "t", "status": "working", "ttlMs": odd,
            "pollIntervalMs": odd});
        let seen = TaskSnapshot::parse(&Json::from(&value), Era::Modern).unwrap();
        assert_eq!((seen.handle.ttl, seen.handle.poll), (None, None), "{value}");
    }
}

#[test]
fn the_modern_form_tells_its_end_in_the_same_breath() {
    let done = json!({"taskId": "t", "status": "completed", "result": {"content": []}});
    let seen = TaskSnapshot::parse(&Json::from(&done), Era::Modern).unwrap();
    assert_eq!(seen.result.unwrap().as_str(), r#"{"content":[]}"#);
    let failed = json!({"taskId": "t", "status": "failed", "error": {"code": 5, "message": "no"}});
    let seen = TaskSnapshot::parse(&Json::from(&failed), Era::Modern).unwrap();
    assert_eq!(seen.error.unwrap().to_string(), "no (code 5)");
}
