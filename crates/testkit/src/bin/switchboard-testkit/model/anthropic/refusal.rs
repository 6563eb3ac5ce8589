//! Anthropic's errors.

use serde_json::{Value, json};

use crate::model::problem::{Problem, ProblemKind};

pub(crate) fn refusal(problem: &Problem) -> (u16, Value) {
    let status = match problem.kind {
        ProblemKind::Request => 400,
        ProblemKind::NoKey | ProblemKind::WrongKey => 401,
        ProblemKind::Model | ProblemKind::Route => 404,
        ProblemKind::Scripted(status, _) => status,
    };
    let of_type = match status {
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        504 => "timeout_error",
        529 => "overloaded_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    };
    let error = json!({"type": of_type, "message": problem.message});
    (status, json!({"type": "error", "error": error, "request_id": "req_scripted"}))
}
