//! The differences between vendors: requests, answers and refusals.

use std::time::Duration;

use reqwest::Url;
use serde_json::Value;
use switchboard_prompting::{ModelAnswer, ModelDelta, ModelInfo, ModelRequest};
use switchboard_wire::SseEvent;

use crate::access::VendorAccess;

/// A vendor's protocol. Implementations do no I/O.
pub(crate) trait VendorProtocol: Send + Sync {
    fn address(&self, access: &VendorAccess, model: &str) -> Url;

    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// Returns the form that requests have until a server rejects it.
    fn default_form(&self) -> RequestForm;

    /// Builds the body of a request, before the profile's extra members are merged.
    fn body(&self, request: &ModelRequest, about: &ModelInfo, form: RequestForm) -> Value;

    fn reader(&self) -> Box<dyn AnswerReader>;

    /// Classifies a refusal if the vendor's error is more specific than the status.
    fn refusal_meaning(&self, refusal: &VendorRefusal) -> Option<RefusalMeaning>;

    fn checks(&self, access: &VendorAccess, model: &str) -> ModelChecks;
}

/// Whether a request has members that some compatible servers reject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestForm {
    Full,
    Plain,
}

/// Parses one answer, event by event.
pub(crate) trait AnswerReader: Send {
    fn push(&mut self, event: &SseEvent) -> Result<Vec<ModelDelta>, BrokenAnswer>;

    /// Returns whether the vendor has marked the end of the answer.
    fn is_over(&self) -> bool;

    fn finish(self: Box<Self>) -> Result<ModelAnswer, BrokenAnswer>;
}

/// The reason why an answer is incomplete.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum BrokenAnswer {
    Cut,
    Malformed(String),
    Refused(VendorRefusal),
}

/// A refusal, as reported by the vendor.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct VendorRefusal {
    /// `None` for an error within a stream that has no code.
    pub(crate) status: Option<u16>,
    /// Error codes and types, in lower case.
    pub(crate) codes: Vec<String>,
    pub(crate) message: String,
    pub(crate) wait: Option<Duration>,
}

/// The classification of a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RefusalMeaning {
    // The key is invalid or lacks permission.
    BadKey,
    UnknownModel,
    TooLong,
    // The quota or credit is exhausted, so waiting does not help.
    UsedUp,
    Busy,
    BadRequest,
    // The address is not an endpoint of this protocol.
    WrongAddress,
}

/// URLs for checking that a model exists.
pub(crate) struct ModelChecks {
    /// Requested first, because a public list of models does not validate the key.
    pub(crate) key: Option<Url>,
    /// The URL of the model itself, if the vendor has one.
    pub(crate) model: Option<Url>,
    pub(crate) list: Url,
}

impl VendorRefusal {
    /// Parses an error. A text of unknown format becomes the message.
    pub(crate) fn read(status: Option<u16>, text: &str) -> Self {
        let value: Value = serde_json::from_str(text).unwrap_or(Value::Null);
        match Self::from_value(&value) {
            Some(refusal) => Self { status: status.or(refusal.status), ..refusal },
            None => Self { status, message: text.trim().to_owned(), ..Self::default() },
        }
    }

    /// Returns the meaning of the first entry of `known` whose code the vendor sent.
    pub(crate) fn code_meaning(&self, known: &[(&str, RefusalMeaning)]) -> Option<RefusalMeaning> {
        known.iter().find(|(code, _)| self.has_code(code)).map(|(_, meaning)| *meaning)
    }

    /// Extracts an error in the format of any vendor.
    pub(crate) fn from_value(value: &Value) -> Option<Self> {
        // Google wraps the error in an array when streaming.
        let value = value.get(0).unwrap_or(value);
        let error = value.get("error").filter(|error| !error.is_null());
        let inner = match error {
            Some(error) => error,
            None if ["message", "detail"].iter().any(|name| value.get(name).is_some()) => value,
            None => return None,
        };
        let word = |name: &str| inner.get(name).and_then(Value::as_str);
        let message = inner
            .as_str()
            .or_else(|| word("message"))
            .or_else(|| word("detail"))
            .map_or_else(|| inner.to_string(), str::to_owned);
        let status = inner.get("code").and_then(Value::as_u64);
        let status = status.and_then(|code| u16::try_from(code).ok());
        let mut codes: Vec<String> = ["code", "type", "status"]
            .iter()
            .filter_map(|name| word(name))
            .map(str::to_lowercase)
            .collect();
        let mut wait = None;
        for detail in inner.get("details").and_then(Value::as_array).into_iter().flatten() {
            codes.extend(detail_codes(detail));
            wait = wait.or_else(|| parse_seconds(detail.get("retryDelay")?.as_str()?));
        }
        Some(Self { status: status.filter(|code| *code >= 400), codes, message, wait })
    }

    pub(crate) fn has_code(&self, code: &str) -> bool {
        self.codes.iter().any(|known| known == code)
    }

    /// Returns whether the vendor's message contains one of `parts`, ignoring case.
    pub(crate) fn says(&self, parts: &[&str]) -> bool {
        let message = self.message.to_lowercase();
        parts.iter().any(|part| message.contains(part))
    }

    /// Classifies a refusal by its status alone.
    pub(crate) fn status_meaning(&self) -> RefusalMeaning {
        match self.status {
            Some(401 | 403) => RefusalMeaning::BadKey,
            Some(402) => RefusalMeaning::UsedUp,
            Some(404) => RefusalMeaning::UnknownModel,
            Some(413) => RefusalMeaning::TooLong,
            // An error within a stream has no status: the vendor had accepted the request.
            Some(408 | 409 | 425 | 429 | 500..) | None => RefusalMeaning::Busy,
            // Redirects to another origin are not followed, because they would carry the key there.
            Some(300..=399 | 405) => RefusalMeaning::WrongAddress,
            Some(_) => RefusalMeaning::BadRequest,
        }
    }
}

/// Returns the codes in one entry of Google's `details`.
fn detail_codes(detail: &Value) -> Vec<String> {
    let violations = detail.get("violations").and_then(Value::as_array);
    let quotas = violations.into_iter().flatten().filter_map(|entry| entry.get("quotaId"));
    let words = detail.get("reason").into_iter().chain(quotas).filter_map(Value::as_str);
    words.map(str::to_lowercase).collect()
}

fn parse_seconds(text: &str) -> Option<Duration> {
    let seconds: f64 = text.strip_suffix('s')?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_read_in_every_vendors_shape() {
        let refusal = |status, codes: &[&str], message: &str, wait| VendorRefusal {
            status,
            codes: codes.iter().map(|code| (*code).to_owned()).collect(),
            message: message.to_owned(),
            wait,
        };
        for (text, expected) in [
            (
                r#"{"error":{"message":"no","type":"Bad","param":null,"code":"too_much"}}"#,
                refusal(Some(400), &["too_much", "bad"], "no", None),
            ),
            (
                r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
                refusal(Some(400), &["overloaded_error"], "Overloaded", None),
            ),
            (
                r#"[{"error":{"code":429,"message":"slow","status":"RESOURCE_EXHAUSTED","details":
                    [{"violations":[{"quotaId":"PerDay"}]},{"retryDelay":"34.5s"}]}}]"#,
                refusal(
                    Some(400),
                    &["resource_exhausted", "perday"],
                    "slow",
                    Some(Duration::from_millis(34_500)),
                ),
            ),
            (r#"{"error":"model not found"}"#, refusal(Some(400), &[], "model not found", None)),
            (r#"{"detail":"Not Found"}"#, refusal(Some(400), &[], "Not Found", None)),
            (
                r#"{"object":"error","message":"long","type":"BadRequestError","code":400}"#,
                refusal(Some(400), &["badrequesterror"], "long", None),
            ),
            (" gateway down ", refusal(Some(400), &[], "gateway down", None)),
        ] {
            assert_eq!(VendorRefusal::read(Some(400), text), expected, "{text}");
        }
    }

    #[test]
    fn an_error_inside_of_an_answer_may_bring_its_own_status() {
        let refusal = VendorRefusal::read(None, r#"{"error":{"code":502,"message":"upstream"}}"#);
        assert_eq!(refusal.status, Some(502));
        assert_eq!(VendorRefusal::from_value(&serde_json::json!({"choices": []})), None);
    }
}
