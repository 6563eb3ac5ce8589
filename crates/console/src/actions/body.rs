//! What actions have in common: how a body is read, how a file is changed, how an answer is given.

use axum::http::HeaderMap;
use axum::http::header::ACCEPT;
use axum::response::Response;
use maud::Markup;
use serde::{Deserialize, Serialize};
use switchboard_document::ConfigError;

use crate::reply::{self, ApiError};

pub(super) type ApiResult = Result<Response, ApiError>;

/// The body of a request.
pub(super) fn parse_body<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, ApiError> {
    let body = if body.is_empty() { b"{}" } else { body.trim_ascii_start() };
    // A list would be taken for the members in their order.
    if !body.starts_with(b"{") {
        return Err(ApiError::unprocessable("the body has to be a JSON object"));
    }
    serde_json::from_slice(body)
        .map_err(|error| ApiError::unprocessable(format!("the body cannot be read: {error}")))
}

/// A piece of a page if the page's script wants one to put in place, or else JSON.
pub(super) fn fragment_or_json(
    headers: &HeaderMap,
    fragment: impl FnOnce() -> Markup,
    value: &impl Serialize,
) -> Response {
    let accepts = headers.get(ACCEPT).and_then(|value| value.to_str().ok());
    match accepts.is_some_and(|accepts| accepts.starts_with("text/html")) {
        true => reply::html(fragment()),
        false => reply::json(value),
    }
}

/// Does what blocks, such as a change of a file, where that disturbs nobody.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ConfigError> + Send + 'static,
) -> Result<T, ApiError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| ApiError::internal(error.to_string()))?
        .map_err(|error| config_error(&error))
}

/// What is wrong with a configuration, with the next step.
pub(super) fn config_error(error: &ConfigError) -> ApiError {
    ApiError::unprocessable(error.to_string()).maybe_hint(error.hint.as_deref())
}

pub(super) fn no_server(name: &str) -> ApiError {
    ApiError::not_found(format!("there is no server `{name}`"))
}
