//! Signing in and out.

use std::future::{Ready, ready};

use axum::Extension;
use axum::extract::State;
use axum::http::header::ORIGIN;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde_json::json;

use super::body::ApiResult;
use crate::auth::Principal;
use crate::console::{Console, SharedConsole};
use crate::reply::{self, ApiError};

/// Has a new link shown in the terminal. Whoever asks learns nothing but that.
pub(crate) fn new_link(
    State(console): State<SharedConsole>,
    headers: HeaderMap,
) -> Ready<ApiResult> {
    ready(show_link(&console, &headers))
}

fn show_link(console: &Console, headers: &HeaderMap) -> ApiResult {
    // A page of ours always says where it comes from.
    if !headers.contains_key(ORIGIN) {
        return Err(ApiError::new(StatusCode::FORBIDDEN, "the `Origin` is missing"));
    }
    if console.announce_link() {
        return Ok(reply::json(&json!({"announced": true})));
    }
    let why = "too many links wait to be used";
    Err(ApiError::new(StatusCode::TOO_MANY_REQUESTS, why).with_hint("use one, or wait ten minutes"))
}

/// Signs this browser out.
pub(crate) fn sign_out(
    State(console): State<SharedConsole>,
    Extension(signed): Extension<Principal>,
) -> Ready<Response> {
    ready(console.sign_out(&signed))
}
