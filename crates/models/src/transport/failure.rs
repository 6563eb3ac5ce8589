//! Failures of an attempt: messages, hints and remedies.

use std::time::Duration;

use switchboard_prompting::{ModelError, ModelErrorKind};
use switchboard_text::excerpt_text;

use super::remote::RemoteParts;
use crate::protocol::{BrokenAnswer, RefusalMeaning, VendorRefusal};

/// Maximum number of characters of a quotation.
const MAX_QUOTE_CHARS: usize = 300;

/// A failed attempt.
#[derive(Debug)]
pub(super) struct AttemptFailure {
    pub(super) error: ModelError,
    pub(super) remedy: Remedy,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Remedy {
    Nothing,
    /// Wait, for the time that the vendor gave if any.
    Wait(Option<Duration>),
    Reconnect,
    /// Retry, because the answer was truncated.
    AskAgain,
    /// Retry, because the answer could not be parsed.
    ReadAgain,
    /// Retry in the plain form, because the server may not support all members.
    AskLess,
}

impl AttemptFailure {
    fn new(trouble: ModelErrorKind, message: String, remedy: Remedy) -> Self {
        Self { error: ModelError::new(trouble, message), remedy }
    }

    fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.error = self.error.with_hint(hint);
        self
    }
}

/// Describes a refusal by the vendor.
pub(super) fn refusal_failure(parts: &RemoteParts, refusal: &VendorRefusal) -> AttemptFailure {
    let meaning =
        parts.spec.protocol.refusal_meaning(refusal).unwrap_or_else(|| refusal.status_meaning());
    let vendor = &parts.about.provider;
    let model = &parts.about.model;
    let said = refusal_text(parts, refusal);
    match meaning {
        RefusalMeaning::BadKey => AttemptFailure::new(
            ModelErrorKind::BadKey,
            format!("`{vendor}` does not accept the key{said}"),
            Remedy::Nothing,
        )
        .with_hint(key_hint(parts)),
        RefusalMeaning::UnknownModel => AttemptFailure::new(
            ModelErrorKind::UnknownModel,
            format!("`{vendor}` has no model `{model}`{said}"),
            Remedy::Nothing,
        )
        .with_hint((parts.spec.missing_model_hint)(model)),
        RefusalMeaning::TooLong => AttemptFailure::new(
            ModelErrorKind::TooLong,
            format!("the conversation is too long for the model `{model}`{said}"),
            Remedy::Nothing,
        ),
        RefusalMeaning::UsedUp => AttemptFailure::new(
            ModelErrorKind::Busy,
            format!("the quota or the credit at `{vendor}` is used up{said}"),
            Remedy::Nothing,
        )
        .with_hint("look at the plan and the billing of the account"),
        RefusalMeaning::Busy => AttemptFailure::new(
            ModelErrorKind::Busy,
            format!("`{vendor}` cannot answer at the moment{said}"),
            Remedy::Wait(refusal.wait),
        )
        .with_hint("try again later"),
        RefusalMeaning::BadRequest => AttemptFailure::new(
            ModelErrorKind::BadRequest,
            format!("`{vendor}` does not take the request{said}"),
            Remedy::AskLess,
        ),
        RefusalMeaning::WrongAddress => AttemptFailure::new(
            ModelErrorKind::Profile,
            format!("no model answers at the address of `{}`{said}", parts.about.profile),
            Remedy::Nothing,
        )
        .with_hint(ADDRESS_HINT),
    }
}

/// Describes an answer that could not be read to its end.
pub(super) fn broken_answer(parts: &RemoteParts, broken: &BrokenAnswer) -> AttemptFailure {
    let vendor = &parts.about.provider;
    match broken {
        BrokenAnswer::Cut => truncated_answer(parts, "it ended in the middle"),
        BrokenAnswer::Malformed(what) => {
            let what = quote(&parts.access.without_secrets(what));
            let message = format!("the answer of `{vendor}` cannot be read: {what}");
            AttemptFailure::new(ModelErrorKind::Malformed, message, Remedy::ReadAgain)
        }
        BrokenAnswer::Refused(refusal) => refusal_failure(parts, refusal),
    }
}

/// Describes a truncated answer.
pub(super) fn truncated_answer(parts: &RemoteParts, why: &str) -> AttemptFailure {
    let message = format!("the answer of `{}` broke off: {why}", parts.about.provider);
    AttemptFailure::new(ModelErrorKind::CutOff, message, Remedy::AskAgain)
}

/// Describes a timeout without data.
pub(super) fn silence_timeout(parts: &RemoteParts, limit: Duration) -> AttemptFailure {
    truncated_answer(parts, &format!("nothing came for {} s", limit.as_secs_f64()))
}

/// Describes an answer that exceeds the size limit.
pub(super) fn oversized_answer(parts: &RemoteParts, limit_bytes: usize) -> AttemptFailure {
    let vendor = &parts.about.provider;
    let message = format!("the answer of `{vendor}` is longer than {} MiB", limit_bytes >> 20);
    AttemptFailure::new(ModelErrorKind::Malformed, message, Remedy::Nothing)
}

/// Describes a response that is not an event stream.
pub(super) fn unexpected_body(parts: &RemoteParts, body: &str) -> AttemptFailure {
    let vendor = &parts.about.provider;
    let what = if is_page(body) {
        "a web page".to_owned()
    } else if body.trim().is_empty() {
        "nothing".to_owned()
    } else {
        format!("`{}`", quote(&parts.access.without_secrets(body)))
    };
    let message = format!("`{vendor}` answered with {what} instead of a stream of events");
    AttemptFailure::new(ModelErrorKind::Malformed, message, Remedy::Nothing).with_hint(ADDRESS_HINT)
}

/// Describes a request that could not be sent.
pub(super) fn send_failure(parts: &RemoteParts, error: &reqwest::Error) -> AttemptFailure {
    let vendor = &parts.about.provider;
    let why = quote(&parts.access.without_secrets(&causes(error)));
    if error.is_connect() {
        let message = format!("`{vendor}` cannot be reached: {why}");
        return AttemptFailure::new(ModelErrorKind::Unreachable, message, Remedy::Reconnect)
            .with_hint(parts.spec.connection_hint);
    }
    if error.is_builder() {
        let message = format!("the request to `{vendor}` cannot be made: {why}");
        return AttemptFailure::new(ModelErrorKind::Profile, message, Remedy::Nothing);
    }
    truncated_answer(parts, &why)
}

const ADDRESS_HINT: &str = "check `baseUrl`: it may lack `/v1`, or belong to something else";

fn refusal_text(parts: &RemoteParts, refusal: &VendorRefusal) -> String {
    let status = refusal.status.map(|status| format!(" (HTTP status {status})"));
    let status = status.unwrap_or_default();
    let message = parts.access.without_secrets(&refusal.message);
    let words = if is_page(&message) { String::new() } else { quote(&message) };
    if words.is_empty() { status } else { format!("{status}: {words}") }
}

fn key_hint(parts: &RemoteParts) -> String {
    match &parts.access.key_variable {
        Some(variable) => format!("check the key in the environment variable `{variable}`"),
        None => "name the environment variable of the key with `apiKeyEnv`".to_owned(),
    }
}

/// Formats an error with its causes but without the URL, which may contain secrets.
fn causes(error: &reqwest::Error) -> String {
    let mut causes: Vec<String> = Vec::new();
    let mut next = std::error::Error::source(error);
    while let Some(cause) = next {
        let text = cause.to_string();
        if !causes.contains(&text) {
            causes.push(text);
        }
        next = cause.source();
    }
    if causes.is_empty() {
        let kind = if error.is_timeout() { "the time ran out" } else { "the request failed" };
        return kind.to_owned();
    }
    causes.join(": ")
}

/// Returns the text as one short line: white space collapsed, hidden characters escaped.
fn quote(text: &str) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > 8 * MAX_QUOTE_CHARS {
            break;
        }
    }
    excerpt_text(&line, MAX_QUOTE_CHARS)
}

/// Returns whether a text is an HTML page.
fn is_page(text: &str) -> bool {
    let start: String = text.trim_start().chars().take(14).collect();
    let start = start.to_lowercase();
    ["<!doctype", "<html", "<head", "<body"].iter().any(|tag| start.starts_with(tag))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotations_are_short_lines_without_tricks() {
        assert_eq!(quote(" a\r\n  b\u{1b}[31m "), "a b\\u{1b}[31m");
        let long = quote(&"word ".repeat(10_000));
        assert_eq!((long.chars().count(), long.ends_with('…')), (300, true));
    }

    #[test]
    fn pages_are_known_by_their_beginning() {
        assert!(is_page("\n<!DOCTYPE html><p>"));
        assert!(is_page("<HTML lang=en>"));
        assert!(!is_page("{\"html\": 1}"));
    }
}
