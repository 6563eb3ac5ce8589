//! The `tasks/*` requests of both eras.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use switchboard_json::RawMembers;
use switchboard_wire::{Era, Json, Revision, RpcError};

use super::task_json;
use super::task_request::{TASKS_EXTENSION, declares_tasks};
use super::task_store::{ClientTask, ClientTaskEnd};
use crate::client_request::{ClientRequest, missing_param};
use crate::gateway::Gateway;
use crate::relay::KeyedAsk;
use crate::reply::{internal_error, invalid_json, invalid_params};

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct TaskParams<'a> {
    task_id: Option<String>,
    #[serde(borrow)]
    input_responses: Option<&'a RawValue>,
}

/// Returns the id of the requested task, which the headers of the request must repeat.
pub(crate) fn requested_task_id(method: &str, params: Option<&Json>) -> Option<String> {
    let about = params.filter(|_| method.starts_with("tasks/"))?;
    about.read::<TaskParams<'_>>().ok()?.task_id
}

impl Gateway {
    pub(crate) async fn handle_task_request(
        &self,
        asked: &ClientRequest,
    ) -> Result<String, RpcError> {
        let era = asked.client.era();
        let empty = Json::from_trusted("{}".to_owned());
        let params = asked.params.as_ref().unwrap_or(&empty);
        let unknown = || {
            let why = format!("unknown method `{}`", asked.method);
            Err(RpcError::new(RpcError::METHOD_NOT_FOUND, why))
        };
        match era {
            Era::Modern if !asked.params().is_ok_and(declares_tasks) => {
                return Err(undeclared_error());
            }
            Era::Legacy if asked.client.revision != Revision::NEWEST_LEGACY => return unknown(),
            Era::Modern | Era::Legacy => {}
        }
        if (asked.method.as_str(), era) == ("tasks/list", Era::Legacy) {
            let tasks = self.inner.tasks.list(&asked.client);
            let tasks: Vec<_> = tasks.iter().map(|task| task_json::legacy_task(task)).collect();
            return Ok(json!({ "tasks": tasks }).to_string());
        }
        let about: TaskParams<'_> = params.read().map_err(invalid_json)?;
        let id = about.task_id.ok_or_else(|| missing_param("taskId"))?;
        // Same error for a foreign task as for an unknown one, so ids cannot be probed.
        let task = self.inner.tasks.get(&id, &asked.client);
        let task = task.ok_or_else(|| invalid_params("unknown or expired task"))?;
        let done = || Ok(r#"{"resultType":"complete"}"#.to_owned());
        match (asked.method.as_str(), era) {
            ("tasks/get", Era::Modern) => Ok(task_json::modern_task(&task)),
            ("tasks/get", Era::Legacy) => Ok(task_json::legacy_task(&task).to_string()),
            ("tasks/result", Era::Legacy) => task_result(self, asked, &task).await,
            ("tasks/update", Era::Modern) => {
                answer_task(&task, about.input_responses);
                done()
            }
            ("tasks/cancel", Era::Modern) => {
                cancel_task(&task);
                done()
            }
            ("tasks/cancel", Era::Legacy) => {
                if cancel_task(&task) {
                    return Ok(task_json::legacy_task(&task).to_string());
                }
                Err(invalid_params("the task has already ended"))
            }
            _ => unknown(),
        }
    }
}

/// Waits for the result, and asks the client the server's questions in the meantime.
async fn task_result(
    gateway: &Gateway,
    asked: &ClientRequest,
    task: &Arc<ClientTask>,
) -> Result<String, RpcError> {
    // Before the first look at the state, so that no change in between is missed.
    let mut changes = task.changes();
    loop {
        match task.read(|state| state.end.clone()) {
            Some(ClientTaskEnd::Result { text, .. }) => {
                return Ok(task_json::with_related_task(&text, task));
            }
            Some(ClientTaskEnd::Error(error)) => return Err(error),
            Some(ClientTaskEnd::Cancelled) => {
                return Err(invalid_params("the task was cancelled"));
            }
            None => {}
        }
        // One at a time: a concurrent request for the result may take the next.
        if let Some(ask) = task.take_ask() {
            ask_client(gateway, asked, task, ask).await?;
            continue;
        }
        tokio::select! {
            changed = changes.changed() => if changed.is_err() {
                return Err(internal_error("the task has expired"));
            },
            () = asked.cancel.cancelled() => return Err(internal_error("the request was cancelled")),
        }
    }
}

/// Asks the client a question of its task. If the client disconnects or cancels this request, the
/// question is returned to the task for the next request.
async fn ask_client(
    gateway: &Gateway,
    asked: &ClientRequest,
    task: &ClientTask,
    mut keyed: KeyedAsk,
) -> Result<(), RpcError> {
    let ask = &mut keyed.ask;
    let params = task_json::with_related_task(ask.params.as_ref().map_or("{}", Json::as_str), task);
    let answer = tokio::select! {
        answer = asked.out.ask(&ask.method, &params, ask.answer.closed()) => answer,
        () = asked.cancel.cancelled() => Err(internal_error("the request was cancelled")),
        () = gateway.inner.abort.cancelled() => Err(internal_error("the gateway has stopped")),
    };
    if answer.is_err() && (asked.cancel.is_cancelled() || asked.out.is_gone()) {
        task.return_ask(keyed);
        return Err(internal_error("the request was cancelled"));
    }
    keyed.ask.reply(answer);
    task.ask_delivered();
    Ok(())
}

fn answer_task(task: &ClientTask, responses: Option<&RawValue>) {
    let given = responses.and_then(|raw| RawMembers::parse(raw.get())).unwrap_or_default();
    task.answer(|key| given.first(key).map(Json::from));
}

/// Cancels a task. Returns whether it was still running.
fn cancel_task(task: &ClientTask) -> bool {
    let was_running = task.update(|state| {
        let running = state.end.is_none();
        if running {
            state.end = Some(ClientTaskEnd::Cancelled);
        }
        running
    });
    // After the state: the end of the call must not be taken for a result.
    if was_running {
        task.cancel.cancel();
    }
    was_running
}

fn undeclared_error() -> RpcError {
    let needed = json!({"requiredCapabilities": {"extensions": {TASKS_EXTENSION: {}}}});
    let why = "the client does not declare the tasks extension";
    RpcError { data: Some(Json::from(&needed)), ..RpcError::new(RpcError::MISSING_CAPABILITY, why) }
}
