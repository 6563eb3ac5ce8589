//! What the end of a task means for the call that became it.

use switchboard_core::{Outcome, OutcomeKind, Target, TaskHandle};

use crate::call::execute::follow_task::TaskEnd;
use crate::call::execute::outcome_mapping::outcome_from_result;

/// How a call ended whose task was left so.
pub(super) fn from_end(
    end: TaskEnd,
    target: &Target,
    task: &TaskHandle,
    limit_bytes: usize,
) -> Outcome {
    let server = &target.server;
    let id = &task.id;
    match end {
        TaskEnd::Result(result) => match result.bytes().len() {
            length if length > limit_bytes => result_too_long(length, limit_bytes),
            _ => outcome_from_result(target, result),
        },
        TaskEnd::Failed(error) => Outcome::failed(
            "task_failed",
            format!("server `{server}` says that its task `{id}` failed: {error}"),
        ),
        TaskEnd::Cancelled(said) => {
            let said = said.map(|said| format!(": {said}")).unwrap_or_default();
            let message = format!("server `{server}` says that its task `{id}` was given up{said}");
            Outcome::cancelled("by_server", message)
        }
        TaskEnd::Lost(why) => Outcome::unknown(
            "task_lost",
            format!("server `{server}` does not know the task `{id}` any more: {why}"),
        ),
        TaskEnd::Broken(why) => {
            let message = format!("server `{server}`, task `{id}`: {why}");
            Outcome::unknown("protocol_error", message)
        }
        TaskEnd::Away(why) => {
            let message = format!("its task `{id}` may still run: {why}");
            Outcome::unknown(Outcome::TASK_AWAY, message)
        }
        TaskEnd::Running => still_running(server, task),
    }
}

/// The call has become a task, and nobody waits for it any more.
pub(super) fn still_running(server: &str, task: &TaskHandle) -> Outcome {
    let message = format!("server `{server}` goes on with it as task `{}`", task.id);
    Outcome::unknown(Outcome::TASK_RUNNING, message)
}

/// The result is longer than the settings allow.
pub(super) fn result_too_long(length: usize, limit: usize) -> Outcome {
    Outcome::new(OutcomeKind::InvalidOutput)
        .with_reason("too_long")
        .with_message(format!("it ran, but its result has {length} bytes, more than {limit}"))
        .with_hint("raise `settings.resultLimitBytes`, or ask for less")
}
