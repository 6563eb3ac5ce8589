//! Tasks of earlier calls, possibly of another process: finished, cancelled, inspected, listed.

use std::time::Duration;

use switchboard_catalog::Fleet;
use switchboard_core::{Outcome, Published, Target, TaskHandle, TaskPlace, TaskState};
use switchboard_wire::{Era, RequestError, RpcError};
use tokio::time::Instant;

use crate::call::execute::follow_task::TaskFollower;
use crate::call::execute::outcome_mapping::outcome_from_task_end;
use crate::call::execute::run::{ExecContext, MAX_CALL_DURATION, TaskObserver};
use crate::call::execute::task::TaskSnapshot;
use crate::call::execute::task_connection::{TaskConnectionError, task_connection};
use crate::call::execute::task_requests;
use crate::call::execute::task_requests::TaskRequestError;

/// How long a server may take to cancel a task, while the caller waits.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(5);

/// A task to resume.
#[derive(Clone, Debug)]
pub(crate) struct LaterTask {
    pub target: Target,
    pub place: TaskPlace,
    pub task: TaskHandle,
}

/// Follows a resumed task to its end.
pub(crate) async fn finish_task(
    later: &LaterTask,
    reach: &ExecContext<'_>,
    record: &impl TaskObserver,
) -> Outcome {
    let LaterTask { target, place, task } = later;
    let course = TaskFollower {
        place: place.clone(),
        name: &target.name,
        task,
        context: reach,
        observer: record,
    };
    let ended = course.follow(Duration::ZERO, Instant::now() + MAX_CALL_DURATION).await;
    outcome_from_task_end(ended, target, task, reach.result_limit_bytes)
}

/// Cancels a task at its server; the error says why it may still be running.
pub(crate) async fn cancel_task(
    fleet: &Published<Fleet>,
    place: &TaskPlace,
    task: &TaskHandle,
) -> Result<(), String> {
    let peer = task_connection(fleet, place, task.era, CANCEL_TIMEOUT)
        .await
        .map_err(connection_message)?;
    let cancelling = task_requests::cancel(&peer, task, CANCEL_TIMEOUT).await;
    cancelling.map_err(|error| error.to_string())
}

/// Returns the current state of a task; the error says why it is not available.
pub(crate) async fn get_task_state(
    fleet: &Published<Fleet>,
    place: &TaskPlace,
    task: &TaskHandle,
    limit: Duration,
) -> Result<TaskState, String> {
    let peer = task_connection(fleet, place, task.era, limit).await.map_err(connection_message)?;
    match task_requests::get(&peer, task).await {
        Ok(seen) => Ok(seen.state),
        Err(
            TaskRequestError::Forgotten(why)
            | TaskRequestError::Broken(why)
            | TaskRequestError::Later(why),
        ) => Err(why),
        Err(TaskRequestError::Error(error)) => Err(error.to_string()),
    }
}

/// Lists the tasks of a server; empty for servers without such a list.
pub(crate) async fn list_tasks(
    fleet: &Published<Fleet>,
    server: &str,
    limit: Duration,
) -> Result<Vec<(TaskHandle, TaskState)>, String> {
    let place = TaskPlace { server: server.to_owned(), instance: 0 };
    let peer = task_connection(fleet, &place, Era::Legacy, limit).await;
    let peer = match peer {
        Ok(peer) => peer,
        // `tasks/list` does not exist in the modern era.
        Err(TaskConnectionError::Removed(_)) => return Ok(Vec::new()),
        Err(error) => return Err(connection_message(error)),
    };
    match task_requests::list(&peer).await {
        Ok(seen) => {
            Ok(seen.into_iter().map(|TaskSnapshot { handle, state, .. }| (handle, state)).collect())
        }
        // The list is an optional capability.
        Err(RequestError::Rpc(error)) if error.code == RpcError::METHOD_NOT_FOUND => Ok(Vec::new()),
        Err(error) => Err(error.to_string()),
    }
}

fn connection_message(error: TaskConnectionError) -> String {
    match error {
        TaskConnectionError::Removed(why) | TaskConnectionError::Away(why) => why,
    }
}
