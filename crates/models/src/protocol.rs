//! What differs between vendors: how they are asked, how they answer and how they refuse.

use std::time::Duration;

use reqwest::Url;
use serde_json::Value;
use switchboard_prompting::{ModelAnswer, ModelDelta, ModelInfo, ModelRequest};
use switchboard_wire::SseEvent;

use crate::access::VendorAccess;

/// A vendor's way of talking. Nothing here does I/O.
pub(crate) trait VendorProtocol: Send + Sync {
    /// Where an answer is asked for.
    fn address(&self, access: &VendorAccess, model: &str) -> Url;

    /// Headers that the vendor wants with every request.
    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// How requests are written until a server refuses that.
    fn default_form(&self) -> RequestForm;

    /// The body of the request, before the profile adds to it.
    fn body(&self, request: &ModelRequest, about: &ModelInfo, form: RequestForm) -> Value;

    /// A machine that reads one answer.
    fn reader(&self) -> Box<dyn AnswerReader>;

    /// What a refusal means, if the vendor says more than the status does.
    fn refusal_meaning(&self, refusal: &VendorRefusal) -> Option<RefusalMeaning>;

    /// The questions that tell whether the model is there.
    fn checks(&self, access: &VendorAccess, model: &str) -> ModelChecks;
}

/// How much a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestForm {
    /// Everything that is useful.
    Full,
    /// Nothing that a server may not know.
    Plain,
}

/// Reads one answer, event by event.
pub(crate) trait AnswerReader: Send {
    /// Takes an event and gives what can be told of it.
    fn push(&mut self, event: &SseEvent) -> Result<Vec<ModelDelta>, BrokenAnswer>;

    /// Whether the vendor said that nothing more comes.
    fn is_over(&self) -> bool;

    fn finish(self: Box<Self>) -> Result<ModelAnswer, BrokenAnswer>;
}

/// Why an answer cannot be read to its end.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum BrokenAnswer {
    /// It ended in the middle.
    Cut,
    /// An event is not what the vendor promises.
    Malformed(String),
    /// The vendor gave up and said why.
    Refused(VendorRefusal),
}

/// A refusal in the vendor's words.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct VendorRefusal {
    /// The HTTP status; nothing for a refusal in the middle of an answer that names none.
    pub(crate) status: Option<u16>,
    /// The vendor's words for the kind of error, in lower case.
    pub(crate) codes: Vec<String>,
    pub(crate) message: String,
    /// How long the vendor wants us to wait.
    pub(crate) wait: Option<Duration>,
}

/// What a refusal means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RefusalMeaning {
    /// The key is wrong or may not do this.
    BadKey,
    /// There is no such model.
    UnknownModel,
    /// The conversation is too long.
    TooLong,
    /// The quota or the credit is used up; waiting does not help.
    UsedUp,
    Busy,
    /// The request is not taken.
    BadRequest,
    /// Nothing of the kind is at this address.
    WrongAddress,
}

/// How to find out whether a model is there.
pub(crate) struct ModelChecks {
    /// Must be answered well before anything else, where the list is open to everybody.
    pub(crate) key: Option<Url>,
    /// The model itself, where the vendor has an address for each.
    pub(crate) model: Option<Url>,
    pub(crate) list: Url,
}

impl VendorRefusal {
    /// Reads the error that a body or an event holds. What is not understood is quoted.
    pub(crate) fn read(status: Option<u16>, text: &str) -> Self {
        let value: Value = serde_json::from_str(text).unwrap_or(Value::Null);
        match Self::from_value(&value) {
            Some(refusal) => Self { status: status.or(refusal.status), ..refusal },
            None => Self { status, message: text.trim().to_owned(), ..Self::default() },
        }
    }

    /// What the first of these codes means that the vendor gave.
    pub(crate) fn code_meaning(&self, known: &[(&str, RefusalMeaning)]) -> Option<RefusalMeaning> {
        known.iter().find(|(code, _)| self.has_code(code)).map(|(_, meaning)| *meaning)
    }

    /// The error in a value, in any of the shapes that vendors use.
    pub(crate) fn from_value(value: &Value) -> Option<Self> {
        // Google wraps the whole in a list where it streams.
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

    /// Whether one of the vendor's words is this.
    pub(crate) fn has_code(&self, code: &str) -> bool {
        self.codes.iter().any(|known| known == code)
    }

    /// Whether the vendor's sentence holds one of these, in any case.
    pub(crate) fn says(&self, parts: &[&str]) -> bool {
        let message = self.message.to_lowercase();
        parts.iter().any(|part| message.contains(part))
    }

    /// What the status alone means.
    pub(crate) fn status_meaning(&self) -> RefusalMeaning {
        match self.status {
            Some(401 | 403) => RefusalMeaning::BadKey,
            Some(402) => RefusalMeaning::UsedUp,
            Some(404) => RefusalMeaning::UnknownModel,
            Some(413) => RefusalMeaning::TooLong,
            Some(408 | 409 | 425 | 429 | 500..) | None => RefusalMeaning::Busy,
            Some(300..=399 | 405) => RefusalMeaning::WrongAddress,
            Some(_) => RefusalMeaning::BadRequest,
        }
    }
}

/// The words in one entry of Google's `details`.
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
