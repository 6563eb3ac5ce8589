//! Helpers that the actions share: parsing bodies, blocking work, and fragment or JSON responses.

use axum::http::HeaderMap;
use axum::http::header::ACCEPT;
use axum::response::Response;
use maud::Markup;
use serde::{Deserialize, Serialize};
use switchboard_document::ConfigError;

use crate::reply::{self, ApiError};

pub(super) type ApiResult = Result<Response, ApiError>;

/// Parses the body of a request. An empty body is an empty object.
pub(super) fn parse_body<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, ApiError> {
    let body = if body.is_empty() { b"{}" } else { body.trim_ascii_start() };
    // Serde would also accept an array, as the struct's fields in order.
    if !body.starts_with(b"{") {
        return Err(ApiError::unprocessable("the body must be a JSON object"));
    }
    serde_json::from_slice(body)
        .map_err(|error| ApiError::unprocessable(format!("invalid body: {error}")))
}

/// Responds with an HTML fragment if the page's script asks for one, or else with JSON.
pub(super) fn fragment_or_json(
    headers: &HeaderMap,
    fragment: impl FnOnce() -> Markup,
    value: &impl Serialize,
) -> Response {
    let accepts = headers.get(ACCEPT).and_then(|value| value.to_str().ok());
    // A page's script asks for `text/html` first; programs send `*/*` or JSON.
    match accepts.is_some_and(|accepts| accepts.starts_with("text/html")) {
        true => reply::html(fragment()),
        false => reply::json(value),
    }
}

/// Runs blocking work, such as a file change, on the blocking thread pool.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ConfigError> + Send + 'static,
) -> Result<T, ApiError> {
    let done = tokio::task::spawn_blocking(work).await.map_err(ApiError::internal)?;
    done.map_err(|error| config_error(&error))
}

pub(super) fn config_error(error: &ConfigError) -> ApiError {
    ApiError::unprocessable(error.to_string()).maybe_hint(error.hint.as_deref())
}

pub(super) fn no_server(name: &str) -> ApiError {
    ApiError::not_found(format!("unknown server `{name}`"))
}
