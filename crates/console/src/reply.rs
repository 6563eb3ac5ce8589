//! Responses: pages, JSON, downloads and errors.

use std::convert::Infallible;
use std::fmt::Display;

use axum::body::Body;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use futures_util::{Stream, StreamExt as _};
use maud::Markup;
use schemars::JsonSchema;
use serde::Serialize;
use switchboard_text::{is_ambiguous, is_hidden};
use switchboard_views::ViewError;

/// An error response for programs and for the page's script.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct ApiError {
    status: StatusCode,
    message: String,
    hint: Option<String>,
}

impl ApiError {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), hint: None }
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn maybe_hint(self, hint: Option<impl Into<String>>) -> Self {
        Self { hint: hint.map(Into::into), ..self }
    }

    pub(crate) fn not_found(what: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, what)
    }

    pub(crate) fn unprocessable(why: impl Display) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, why.to_string())
    }

    pub(crate) fn internal(why: impl Display) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, why.to_string())
    }

    pub(crate) const fn status(&self) -> StatusCode {
        self.status
    }

    pub(crate) fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

/// The body of every error response.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Problem")]
pub(crate) struct ErrorBody {
    /// Error with its remedy.
    error: Wrong,
}

/// An error message and its remedy.
#[derive(Serialize, JsonSchema)]
struct Wrong {
    /// Error message for a person.
    message: String,
    /// Remedy, if there is one.
    hint: Option<String>,
}

impl From<ViewError> for ApiError {
    fn from(error: ViewError) -> Self {
        let message = error.to_string();
        match error {
            ViewError::NotFound(_) => Self::not_found(message),
            ViewError::Query { hint, .. } => Self { hint, ..Self::unprocessable(message) },
            ViewError::Ledger(_) | ViewError::Queue(_) => Self::internal(message),
        }
    }
}

impl From<ApiError> for ErrorBody {
    fn from(problem: ApiError) -> Self {
        Self { error: Wrong { message: problem.message, hint: problem.hint } }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        json_with(self.status, &ErrorBody::from(self))
    }
}

pub(crate) fn json(value: &impl Serialize) -> Response {
    json_with(StatusCode::OK, value)
}

pub(crate) fn json_text(text: String) -> Response {
    with_content_type(StatusCode::OK, "application/json", text)
}

fn json_with(status: StatusCode, value: &impl Serialize) -> Response {
    // The types of responses always serialize, so the fallback is never sent.
    let text = serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned());
    with_content_type(status, "application/json", text)
}

pub(crate) fn json_lines(lines: impl Stream<Item = String> + Send + 'static) -> Response {
    let body = Body::from_stream(lines.map(Ok::<String, Infallible>));
    let kept = HeaderValue::from_static("attachment; filename=\"calls.jsonl\"");
    let kind = HeaderValue::from_static("application/jsonl");
    ([(CONTENT_TYPE, kind), (CONTENT_DISPOSITION, kept)], body).into_response()
}

pub(crate) struct DownloadFile {
    /// Consists only of characters that are safe in a header.
    pub(crate) name: String,
    pub(crate) kind: &'static str,
    pub(crate) bytes: Vec<u8>,
}

pub(crate) fn download(file: &DownloadFile) -> Response {
    let mut response = file.bytes.clone().into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(file.kind));
    // `attachment`: the browser saves the file and never renders it, because it is untrusted.
    let kept = HeaderValue::from_str(&format!("attachment; filename=\"{}\"", file.name));
    let kept = kept.unwrap_or_else(|_| HeaderValue::from_static("attachment"));
    headers.insert(CONTENT_DISPOSITION, kept);
    response
}

pub(crate) fn html(markup: Markup) -> Response {
    html_with(StatusCode::OK, markup)
}

/// Responds with a page. Invisible characters in untrusted text are escaped.
pub(crate) fn html_with(status: StatusCode, markup: Markup) -> Response {
    with_content_type(status, "text/html; charset=utf-8", escape_invisible(markup.into_string()))
}

fn with_content_type(status: StatusCode, kind: &'static str, text: String) -> Response {
    let mut response = (status, text).into_response();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// Replaces control and invisible characters with their code points.
fn escape_invisible(text: String) -> String {
    let mut before = '\0';
    let mut must_change = move |c: char| {
        let selector = |c: char| ('\u{fe00}'..='\u{fe0f}').contains(&c);
        // One variation selector chooses the style of an emoji; several can encode hidden bytes.
        let odd = match c {
            '\n' | '\t' => false,
            _ if selector(c) => selector(before),
            // After an ideograph, a wide space is not deceptive.
            '\u{3000}' => before < '\u{2e80}' || is_ambiguous(before),
            _ => c.is_control() || is_hidden(c) || is_ambiguous(c),
        };
        before = c;
        odd
    };
    // Most pages are plain ASCII and need no copy.
    if text.is_ascii() && !text.bytes().any(|byte| must_change(char::from(byte))) {
        return text;
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if must_change(c) {
            // These brackets have no meaning in HTML, and this text is HTML already.
            out.push_str(&format!("⟦U+{:04X}⟧", u32::from(c)));
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_invisible_reaches_the_browser() {
        for (text, expected) in [
            ("plain\n\ttext", "plain\n\ttext"),
            ("cod\u{202e}gpj.sh", "cod⟦U+202E⟧gpj.sh"),
            ("a\u{1b}[31m\r", "a⟦U+001B⟧[31m⟦U+000D⟧"),
            ("\u{2764}\u{fe0f}", "\u{2764}\u{fe0f}"),
            ("\u{2764}\u{fe0f}\u{fe01}", "\u{2764}\u{fe0f}⟦U+FE01⟧"),
            ("x\u{e0041}y", "x⟦U+E0041⟧y"),
            ("größe 日本語", "größe 日本語"),
            ("日本\u{3000}語\u{a0}x\u{2003}", "日本\u{3000}語⟦U+00A0⟧x⟦U+2003⟧"),
            ("\u{e0b0}\u{fffe}", "⟦U+E0B0⟧⟦U+FFFE⟧"),
        ] {
            assert_eq!(escape_invisible(text.to_owned()), expected, "{text:?}");
        }
    }
}
