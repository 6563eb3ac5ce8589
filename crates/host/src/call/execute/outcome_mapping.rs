//! What an answer, or its absence, means for a call.

use switchboard_core::{Outcome, Target, TargetKind};
use switchboard_fleet::untrusted_hint;
use switchboard_oauth::Challenge;
use switchboard_wire::{Json, RequestError};

use crate::call::execute::call_message::ResultMembers;

/// The outcome of a call that was answered with a result.
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

/// The outcome of a call without a result.
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
        .with_hint(format!("a longer `timeout` (in seconds) for `{server}` gives it more time")),
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
                // These are said at the door; others come from the code behind it.
                400 | 404..=406 | 411 | 413..=415 | 417 | 421 | 426 | 428 | 431 => {
                    Outcome::refused("http_error", said)
                }
                _ => Outcome::failed("may_have_executed", said),
            }
        }
    }
}

/// Whether the failure says something about the server's health.
pub(super) const fn is_server_failure(error: &RequestError) -> bool {
    match error {
        RequestError::Unknown(_)
        | RequestError::TimedOut(_)
        | RequestError::NotSent(_)
        | RequestError::Untrusted(_) => true,
        RequestError::Http { status, .. } => *status >= 500,
        RequestError::Rpc(_) | RequestError::Protocol(_) => false,
    }
}
