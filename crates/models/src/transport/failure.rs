//! Failures of an attempt: messages, hints and remedies.

use std::time::Duration;

use switchboard_prompting::{ModelError, ModelErrorKind};
use switchboard_text::excerpt_text;

use super::remote::RemoteParts;
use crate::protocol::{BrokenAnswer, RefusalMeaning, VendorRefusal};

const MAX_QUOTE_CHARS: usize = 300;

/// A failed attempt, and whether another one can help.
#[derive(Debug)]
pub(super) struct AttemptFailure {
    pub(super) error: ModelError,
    pub(super) remedy: Remedy,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Remedy {
    Nothing,
    // For the time that the vendor requested, if any.
    Wait(Option<Duration>),
    Reconnect,
    // The answer was truncated.
    AskAgain,
    // The answer could not be parsed.
    ReadAgain,
    // The server may not support all members, so retry in the plain form.
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

pub(super) fn refusal_failure(parts: &RemoteParts, refusal: &VendorRefusal) -> AttemptFailure {
    let meaning =
        parts.spec.protocol.refusal_meaning(refusal).unwrap_or_else(|| refusal.status_meaning());
    let vendor = &parts.about.provider;
    let model = &parts.about.model;
    let said = refusal_text(parts, refusal);
    let (kind, message) = match meaning {
        RefusalMeaning::BadKey => {
            (ModelErrorKind::BadKey, format!("`{vendor}` rejected the API key"))
        }
        RefusalMeaning::UnknownModel => {
            (ModelErrorKind::UnknownModel, format!("`{vendor}` has no model `{model}`"))
        }
        RefusalMeaning::TooLong => {
            let message = format!("the conversation is too long for the model `{model}`");
            (ModelErrorKind::TooLong, message)
        }
        RefusalMeaning::UsedUp => {
            (ModelErrorKind::Busy, format!("the quota or credit at `{vendor}` is used up"))
        }
        RefusalMeaning::Busy => {
            (ModelErrorKind::Busy, format!("`{vendor}` is busy or limits the rate of requests"))
        }
        RefusalMeaning::BadRequest => {
            (ModelErrorKind::BadRequest, format!("`{vendor}` rejected the request"))
        }
        RefusalMeaning::WrongAddress => {
            let profile = &parts.about.profile;
            (ModelErrorKind::Profile, format!("the address of `{profile}` is not a model API"))
        }
    };
    let hint = match meaning {
        RefusalMeaning::BadKey => Some(key_hint(parts)),
        RefusalMeaning::UnknownModel => Some((parts.spec.missing_model_hint)(model)),
        RefusalMeaning::UsedUp => Some("check the plan and the billing of the account".to_owned()),
        RefusalMeaning::Busy => Some("try again later".to_owned()),
        RefusalMeaning::WrongAddress => Some(ADDRESS_HINT.to_owned()),
        RefusalMeaning::TooLong | RefusalMeaning::BadRequest => None,
    };
    let remedy = match meaning {
        RefusalMeaning::Busy => Remedy::Wait(refusal.wait),
        RefusalMeaning::BadRequest => Remedy::AskLess,
        RefusalMeaning::BadKey
        | RefusalMeaning::UnknownModel
        | RefusalMeaning::TooLong
        | RefusalMeaning::UsedUp
        | RefusalMeaning::WrongAddress => Remedy::Nothing,
    };
    AttemptFailure { error: ModelError { kind, message: message + &said, hint }, remedy }
}

pub(super) fn broken_answer(parts: &RemoteParts, broken: &BrokenAnswer) -> AttemptFailure {
    let vendor = &parts.about.provider;
    match broken {
        BrokenAnswer::Cut => truncated_answer(parts, "it is incomplete"),
        BrokenAnswer::Malformed(what) => {
            let what = quote(&parts.access.without_secrets(what));
            let message = format!("the answer of `{vendor}` cannot be read: {what}");
            AttemptFailure::new(ModelErrorKind::Malformed, message, Remedy::ReadAgain)
        }
        BrokenAnswer::Refused(refusal) => refusal_failure(parts, refusal),
    }
}

pub(super) fn truncated_answer(parts: &RemoteParts, why: &str) -> AttemptFailure {
    let message = format!("the answer of `{}` broke off: {why}", parts.about.provider);
    AttemptFailure::new(ModelErrorKind::CutOff, message, Remedy::AskAgain)
}

pub(super) fn silence_timeout(parts: &RemoteParts, limit: Duration) -> AttemptFailure {
    truncated_answer(parts, &format!("no data for {} s", limit.as_secs_f64()))
}

pub(super) fn oversized_answer(parts: &RemoteParts, limit_bytes: usize) -> AttemptFailure {
    let vendor = &parts.about.provider;
    let message = format!("the answer of `{vendor}` is longer than {} MiB", limit_bytes >> 20);
    AttemptFailure::new(ModelErrorKind::Malformed, message, Remedy::Nothing)
}

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

const ADDRESS_HINT: &str = "check `baseUrl`: it may lack `/v1`, or belong to another service";

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
        None => "set `apiKeyEnv` to the name of the environment variable with the key".to_owned(),
    }
}

/// Formats the causes of an error.
fn causes(error: &reqwest::Error) -> String {
    // Not the error itself: its text contains the URL, which may contain secrets.
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
        let kind = if error.is_timeout() { "the request timed out" } else { "the request failed" };
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
        // The excerpt is shorter. There is no point in collapsing megabytes of white space.
        if line.len() > 8 * MAX_QUOTE_CHARS {
            break;
        }
    }
    excerpt_text(&line, MAX_QUOTE_CHARS)
}

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
