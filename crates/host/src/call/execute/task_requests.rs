//! Requests about tasks, in both eras.

use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use switchboard_core::TaskHandle;
use switchboard_wire::{Era, Json, Peer, Request, RequestError, RpcError};

use crate::call::execute::task::TaskSnapshot;

/// Timeout of one request about a task.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(20);
/// Maximum number of pages of a task list, since a faulty server may never end it.
const MAX_PAGES: usize = 20;

/// Why a request about a task failed.
#[derive(Debug)]
pub(super) enum TaskRequestError {
    /// The server does not know the task.
    Forgotten(String),
    Broken(String),
    /// No usable response; a later request may succeed.
    Later(String),
    /// The task ended with this error.
    Error(RpcError),
}

/// Requests the state of a task (`tasks/get`).
pub(super) async fn get(peer: &Peer, task: &TaskHandle) -> Result<TaskSnapshot, TaskRequestError> {
    let answer = send_request(peer, "tasks/get", task, Map::new(), REQUEST_TIMEOUT, 0)
        .await
        .map_err(classify_get_error)?;
    let seen = TaskSnapshot::parse(&answer, task.era).map_err(TaskRequestError::Broken)?;
    if seen.handle.id == task.id {
        Ok(seen)
    } else {
        Err(TaskRequestError::Broken("the server described another task".to_owned()))
    }
}

/// Requests the result of a task and waits for it (`tasks/result`, legacy only). Meanwhile, the
/// server's requests belong to the call with this tag.
pub(super) async fn result(
    peer: &Peer,
    task: &TaskHandle,
    limit: Duration,
    tag: u64,
) -> Result<Json, TaskRequestError> {
    send_request(peer, "tasks/result", task, Map::new(), limit, tag).await.map_err(|error| {
        match error {
            RequestError::Rpc(error) => TaskRequestError::Error(error),
            error => TaskRequestError::Later(error.to_string()),
        }
    })
}

/// Sends the answers that a task waits for (`tasks/update`, modern only).
pub(super) async fn update(
    peer: &Peer,
    task: &TaskHandle,
    responses: Map<String, Value>,
) -> Result<(), RequestError> {
    let members = Map::from_iter([("inputResponses".to_owned(), Value::Object(responses))]);
    send_request(peer, "tasks/update", task, members, REQUEST_TIMEOUT, 0).await.map(drop)
}

/// Cancels a task (`tasks/cancel`).
pub(super) async fn cancel(
    peer: &Peer,
    task: &TaskHandle,
    limit: Duration,
) -> Result<(), RequestError> {
    send_request(peer, "tasks/cancel", task, Map::new(), limit, 0).await.map(drop)
}

/// Lists the tasks of a server (`tasks/list`, legacy only).
pub(super) async fn list(peer: &Peer) -> Result<Vec<TaskSnapshot>, RequestError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct TaskPage<'a> {
        #[serde(borrow)]
        tasks: Vec<&'a RawValue>,
        next_cursor: Option<String>,
    }
    let mut tasks = Vec::new();
    let mut params = String::from("{}");
    for _ in 0..MAX_PAGES {
        let answer = peer.request(Request::new("tasks/list", &params, REQUEST_TIMEOUT)).await?;
        let page: TaskPage<'_> = answer.read().map_err(|error| {
            RequestError::Protocol(format!("the list of tasks cannot be read: {error}"))
        })?;
        // An invalid entry does not hide the others.
        let readable =
            page.tasks.iter().map(|raw| TaskSnapshot::parse(&Json::from(*raw), Era::Legacy));
        tasks.extend(readable.filter_map(Result::ok));
        match page.next_cursor {
            Some(cursor) => params = json!({ "cursor": cursor }).to_string(),
            None => break,
        }
    }
    Ok(tasks)
}

async fn send_request(
    peer: &Peer,
    method: &str,
    task: &TaskHandle,
    mut members: Map<String, Value>,
    limit: Duration,
    tag: u64,
) -> Result<Json, RequestError> {
    members.insert("taskId".to_owned(), Value::from(task.id.as_str()));
    let params = Value::Object(members).to_string();
    let request = Request { name: Some(&task.id), tag, ..Request::new(method, &params, limit) };
    peer.request(request).await
}

fn classify_get_error(error: RequestError) -> TaskRequestError {
    match error {
        // Both eras reject an unknown task id as an invalid parameter.
        RequestError::Rpc(error)
            if matches!(
                error.code,
                RpcError::INVALID_PARAMS | RpcError::METHOD_NOT_FOUND | -32_002 | -32_001
            ) =>
        {
            TaskRequestError::Forgotten(error.to_string())
        }
        RequestError::Protocol(why) => TaskRequestError::Broken(why),
        error => TaskRequestError::Later(error.to_string()),
    }
}
