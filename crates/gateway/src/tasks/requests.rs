//! The requests about tasks.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use switchboard_wire::{Era, Json, Revision, RpcError};

use super::kept::{End, Task};
use super::shape;
use super::wanted::{EXTENSION, declares};
use crate::asked::{Asked, missing};
use crate::gateway::Gateway;
use crate::members::Members;
use crate::relay::Ask;

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct About<'a> {
    task_id: Option<String>,
    #[serde(borrow)]
    input_responses: Option<&'a RawValue>,
}

/// The name of the task that a request is about, which its headers repeat.
pub(crate) fn task_in(method: &str, params: Option<&Json>) -> Option<String> {
    let about = params.filter(|_| method.starts_with("tasks/"))?;
    about.read::<About<'_>>().ok()?.task_id
}

impl Gateway {
    /// Answers a request about tasks.
    pub(crate) async fn about_task(&self, asked: &Asked) -> Result<String, RpcError> {
        let era = asked.client.era();
        let empty = Json::trusted("{}".to_owned());
        let params = asked.params.as_ref().unwrap_or(&empty);
        let unknown = || {
            let why = format!("there is no method `{}`", asked.method);
            Err(RpcError::new(RpcError::METHOD_NOT_FOUND, why))
        };
        match era {
            Era::Modern if !asked.params().is_ok_and(declares) => return Err(undeclared()),
            Era::Legacy if asked.client.revision != Revision::NEWEST_LEGACY => return unknown(),
            Era::Modern | Era::Legacy => {}
        }
        if (asked.method.as_str(), era) == ("tasks/list", Era::Legacy) {
            let tasks: Vec<_> =
                self.tasks().of(&asked.client).iter().map(|task| shape::legacy(task)).collect();
            return Ok(json!({ "tasks": tasks }).to_string());
        }
        let about: About<'_> = params.read().map_err(|error| {
            let why = format!("the parameters cannot be read: {error}");
            RpcError::new(RpcError::INVALID_PARAMS, why)
        })?;
        let id = about.task_id.ok_or_else(|| missing("taskId"))?;
        // Whose it is, is nobody else's business: theirs and none look the same.
        let task = self.tasks().get(&id, &asked.client).ok_or_else(|| {
            RpcError::new(RpcError::INVALID_PARAMS, "there is no such task, or no longer")
        })?;
        let done = || Ok(r#"{"resultType":"complete"}"#.to_owned());
        match (asked.method.as_str(), era) {
            ("tasks/get", Era::Modern) => Ok(shape::modern(&task)),
            ("tasks/get", Era::Legacy) => Ok(shape::legacy(&task).to_string()),
            ("tasks/result", Era::Legacy) => result(self, asked, &task).await,
            ("tasks/update", Era::Modern) => {
                update(&task, about.input_responses);
                done()
            }
            ("tasks/cancel", Era::Modern) => {
                cancel(&task);
                done()
            }
            ("tasks/cancel", Era::Legacy) => {
                if cancel(&task) {
                    return Ok(shape::legacy(&task).to_string());
                }
                Err(RpcError::new(RpcError::INVALID_PARAMS, "the task has ended already"))
            }
            _ => unknown(),
        }
    }
}

/// The result, once there is one; what its server asks is put to the client meanwhile.
async fn result(gateway: &Gateway, asked: &Asked, task: &Arc<Task>) -> Result<String, RpcError> {
    let mut changes = task.changes();
    loop {
        match task.look(|state| state.end.clone()) {
            Some(End::Result { text, .. }) => return Ok(shape::related(&text, task)),
            Some(End::Error(error)) => return Err(error),
            Some(End::Cancelled) => {
                return Err(RpcError::new(RpcError::INVALID_PARAMS, "the task was given up"));
            }
            None => {}
        }
        // Taken one by one: another request for the result may take the next.
        if let Some(ask) = task.take_ask() {
            put(gateway, asked, task, ask).await?;
            continue;
        }
        tokio::select! {
            changed = changes.changed() => if changed.is_err() {
                return Err(RpcError::new(RpcError::INTERNAL_ERROR, "the task is gone"));
            },
            () = asked.cancel.cancelled() => {
                return Err(RpcError::new(RpcError::INTERNAL_ERROR, "the request was given up"));
            }
        }
    }
}

/// Puts to the client what its task asks. Where the client goes away, or gives this request up, the
/// question is there for the next one: the task goes on without either.
async fn put(
    gateway: &Gateway,
    asked: &Asked,
    task: &Task,
    (key, mut ask): (String, Ask),
) -> Result<(), RpcError> {
    let gone = |why: &str| RpcError::new(RpcError::INTERNAL_ERROR, why);
    let params = shape::related(ask.params.as_ref().map_or("{}", Json::as_str), task);
    let answer = tokio::select! {
        answer = asked.out.ask(&ask.method, &params, ask.answer.closed()) => answer,
        () = asked.cancel.cancelled() => Err(gone("the request was given up")),
        () = gateway.over().cancelled() => Err(gone("the gateway ended")),
    };
    if answer.is_err() && (asked.cancel.is_cancelled() || asked.out.is_gone()) {
        task.give_back((key, ask));
        return Err(gone("the request was given up"));
    }
    // Its server may have lost its patience.
    ask.answer.send(answer).ok();
    task.was_put();
    Ok(())
}

fn update(task: &Task, responses: Option<&RawValue>) {
    let given = responses.and_then(|raw| serde_json::from_str(raw.get()).ok());
    let Members(given) = given.unwrap_or(Members(Vec::new()));
    task.answer(|key| given.iter().find(|(name, _)| name == key).map(|(_, raw)| Json::from(*raw)));
}

/// Gives a task up; says whether there was something to give up.
fn cancel(task: &Task) -> bool {
    let was_running = task.change(|state| {
        let running = state.end.is_none();
        if running {
            state.end = Some(End::Cancelled);
        }
        running
    });
    if was_running {
        task.cancel.cancel();
    }
    was_running
}

fn undeclared() -> RpcError {
    let needed = json!({"requiredCapabilities": {"extensions": {EXTENSION: {}}}});
    RpcError {
        data: Some(Json::from(&needed)),
        ..RpcError::new(RpcError::MISSING_CAPABILITY, "the client does not declare tasks")
    }
}
