//! OpenAI's errors.

use serde_json::{Value, json};

use crate::model::problem::{VendorProblem, VendorProblemKind};

pub(crate) fn refusal(problem: &VendorProblem) -> (u16, Value) {
    let (status, of_type, code) = match problem.kind {
        VendorProblemKind::Request => (400, "invalid_request_error", None),
        VendorProblemKind::NoKey => (401, "invalid_request_error", None),
        VendorProblemKind::WrongKey => (401, "invalid_request_error", Some("invalid_api_key")),
        VendorProblemKind::Model => (404, "invalid_request_error", Some("model_not_found")),
        VendorProblemKind::Route => (404, "invalid_request_error", Some("unknown_url")),
        VendorProblemKind::Scripted(status, _) => {
            let (of_type, code) = match status {
                429 => ("requests", Some("rate_limit_exceeded")),
                500.. => ("server_error", None),
                _ => ("invalid_request_error", None),
            };
            (status, of_type, code)
        }
    };
    let error = json!({
        "message": problem.message, "type": of_type, "param": null, "code": code,
    });
    (status, json!({ "error": error }))
}
