//! Google's errors.

use serde_json::{Value, json};

use crate::model::problem::{VendorProblem, VendorProblemKind};

pub(crate) fn refusal(problem: &VendorProblem) -> (u16, Value) {
    let (status, details) = match problem.kind {
        VendorProblemKind::Request => (400, None),
        VendorProblemKind::NoKey => (403, None),
        VendorProblemKind::WrongKey => (400, Some(wrong_key())),
        VendorProblemKind::Model | VendorProblemKind::Route => (404, None),
        VendorProblemKind::Scripted(status, seconds) => (status, seconds.map(retry)),
    };
    let name = match status {
        400 => "INVALID_ARGUMENT",
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        429 => "RESOURCE_EXHAUSTED",
        499 => "CANCELLED",
        500 => "INTERNAL",
        503 => "UNAVAILABLE",
        504 => "DEADLINE_EXCEEDED",
        _ => "UNKNOWN",
    };
    let mut error = json!({"code": status, "message": problem.message, "status": name});
    if let Some(details) = details {
        error["details"] = json!([details]);
    }
    (status, json!({ "error": error }))
}

fn wrong_key() -> Value {
    json!({
        "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID",
        "domain": "googleapis.com",
        "metadata": {"service": "generativelanguage.googleapis.com"},
    })
}

fn retry(seconds: u64) -> Value {
    json!({
        "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": format!("{seconds}s"),
    })
}
