//! Anthropic's errors.

use serde_json::{Value, json};

use crate::model::problem::{VendorProblem, VendorProblemKind};

pub(crate) fn refusal(problem: &VendorProblem) -> (u16, Value) {
    let status = match problem.kind {
        VendorProblemKind::Request => 400,
        VendorProblemKind::NoKey | VendorProblemKind::WrongKey => 401,
        VendorProblemKind::Model | VendorProblemKind::Route => 404,
        VendorProblemKind::Scripted(status, _) => status,
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
