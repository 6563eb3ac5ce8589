//! Maps answers and errors to outcomes.

use switchboard_core::{Outcome, OutcomeKind, Target, TargetKind, TaskHandle};
use switchboard_fleet::untrusted_hint;
use switchboard_oauth::Challenge;
use switchboard_wire::{Json, RequestError};

use crate::call::execute::call_message::ResultMembers;
use crate::call::execute::follow_task::TaskEnd;

/// Returns the outcome of a call that the server answered with a result.
pub(super) fn outcome_from_result(target: &Target, result: Json) -> Outcome {
    let bytes = result.bytes().clone();
    let Some(shape) = ResultMembers::parse(&result) else {
        return Outcome::invalid_output("the result is not a JSON object", bytes);
    };
    let list = match target.kind {
        TargetKind::Tool => shape.content,
        TargetKind::Resource => shape.contents,
        TargetKind::Prompt => shape.messages,
    };
    match (target.kind, list) {
        (_, Some(list)) if !list.starts_with('[') => {
            Outcome::invalid_output("the result's content is not a list", bytes)
        }
        (TargetKind::Resource | TargetKind::Prompt, None) => {
            Outcome::invalid_output("the result has no content", bytes)
        }
        _ if shape.is_error == Some("true") => Outcome::tool_error(bytes),
        _ => Outcome::ok(bytes),
    }
}

/// Returns the outcome of a call that ended without a result.
pub(super) fn outcome_from_error(target: &Target, error: &RequestError) -> Outcome {
    let server = &target.server;
    match error {
        RequestError::NotSent(why) => {
            Outcome::not_sent("no_connection", format!("server `{server}`: {why}"))
        }
        RequestError::Untrusted(why) => {
            Outcome::not_sent("untrusted", format!("server `{server}`: {error}"))
                .with_hint(untrusted_hint(why))
        }
        RequestError::Unknown(why) => Outcome::unknown(
            "may_have_executed",
            format!("server `{server}` did not answer, and the call may have run: {why}"),
        ),
        RequestError::TimedOut(_) => Outcome::unknown(
            "timeout",
            format!("server `{server}`: {error}; the call may have run"),
        )
        .with_hint(format!("raise `timeout` (in seconds) of server `{server}`")),
        // An answer that cannot be understood may belong to a call that ran.
        RequestError::Protocol(_) => {
            Outcome::unknown("protocol_error", format!("server `{server}`: {error}"))
        }
        RequestError::Rpc(error) if error.proves_not_run() => {
            Outcome::refused("rpc_error", format!("server `{server}` refused it: {error}"))
                .with_error(error.clone())
        }
        RequestError::Rpc(error) => Outcome::failed(
            "rpc_error",
            format!("server `{server}` answered with an error: {error}"),
        )
        .with_error(error.clone()),
        RequestError::Http { status, retry_after, challenge, .. } => {
            let said = format!("server `{server}` answered with {error}");
            let challenge = Challenge::parse(challenge.as_deref().unwrap_or_default());
            match status {
                401 => Outcome::refused("needs_login", said).with_hint(format!(
                    "`switchboard login {server}` logs in, unless its `headers` have the wrong \
                     `Authorization`"
                )),
                403 if challenge.needs_more_scope() => {
                    Outcome::refused("forbidden", said).with_hint(challenge.login_hint(server))
                }
                403 => Outcome::refused("forbidden", said),
                408 | 425 | 429 => {
                    let outcome = Outcome::refused("rate_limited", said);
                    match retry_after {
                        Some(after) => outcome.with_hint(format!("try again after: {after}")),
                        None => outcome,
                    }
                }
                300..=399 => Outcome::refused("redirect", said),
                // Servers send these before they run a handler; others may come from the tool.
                400 | 404..=406 | 411 | 413..=415 | 417 | 421 | 426 | 428 | 431 => {
                    Outcome::refused("http_error", said)
                }
                _ => Outcome::failed("may_have_executed", said),
            }
        }
    }
}

/// Returns whether an error counts against the server's health.
pub(super) const fn is_server_failure(error: &RequestError) -> bool {
    match error {
        RequestError::Unknown(_)
        | RequestError::TimedOut(_)
        | RequestError::NotSent(_)
        | RequestError::Untrusted(_) => true,
        RequestError::Http { status, .. } => *status >= 500,
        // These are answers: the server is alive.
        RequestError::Rpc(_) | RequestError::Protocol(_) => false,
    }
}

/// Returns the outcome of a call that continued as a task.
pub(super) fn outcome_from_task_end(
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
            format!("server `{server}` reports that task `{id}` failed: {error}"),
        ),
        TaskEnd::Cancelled(said) => {
            let said = said.map(|said| format!(": {said}")).unwrap_or_default();
            let message = format!("server `{server}` cancelled task `{id}`{said}");
            Outcome::cancelled("by_server", message)
        }
        TaskEnd::Lost(why) => Outcome::unknown(
            "task_lost",
            format!("server `{server}` no longer knows the task `{id}`: {why}"),
        ),
        TaskEnd::Broken(why) => {
            let message = format!("server `{server}`, task `{id}`: {why}");
            Outcome::unknown("protocol_error", message)
        }
        TaskEnd::Away(why) => {
            let message = format!("its task `{id}` may still be running: {why}");
            Outcome::unknown(Outcome::TASK_AWAY, message)
        }
        TaskEnd::Running => still_running(server, task),
    }
}

/// Returns the outcome of a call that continues as a detached task.
pub(super) fn still_running(server: &str, task: &TaskHandle) -> Outcome {
    let message = format!("server `{server}` continues it as task `{}`", task.id);
    Outcome::unknown(Outcome::TASK_RUNNING, message)
}

/// Returns the outcome of a result that exceeds `settings.resultLimitBytes`.
pub(super) fn result_too_long(length: usize, limit: usize) -> Outcome {
    Outcome::new(OutcomeKind::InvalidOutput)
        .with_reason("too_long")
        .with_message(format!("the call ran, but its result has {length} bytes, more than {limit}"))
        .with_hint("raise `settings.resultLimitBytes`, or request less")
}
