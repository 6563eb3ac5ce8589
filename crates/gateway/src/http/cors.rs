//! Pages of other origins that may talk to us: what their browsers want to hear before and after.

use axum::extract::{Request, State};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, ORIGIN, VARY,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::AccessControl;

/// What a page may do here.
const ALLOWED_METHODS: HeaderValue = HeaderValue::from_static("POST, GET, DELETE");
/// What a page may read of an answer beside its body.
const EXPOSED_HEADERS: HeaderValue =
    HeaderValue::from_static("mcp-session-id, www-authenticate, retry-after");
/// How many seconds a browser need not ask again.
const PREFLIGHT_MAX_AGE: HeaderValue = HeaderValue::from_static("600");
/// A browser asks also whether a page of the network may talk to this machine.
const REQUEST_PRIVATE_NETWORK: HeaderName =
    HeaderName::from_static("access-control-request-private-network");
const ALLOW_PRIVATE_NETWORK: HeaderName =
    HeaderName::from_static("access-control-allow-private-network");

/// Tells the browser of a page whose origin was allowed that it may go on. Whoever else asks is told
/// nothing, so that its browser keeps the answer to itself.
pub(super) async fn cors_middleware(
    State(door): State<AccessControl>,
    request: Request,
    next: Next,
) -> Response {
    let Some(origin) = allowed_origin(&door, &request) else { return next.run(request).await };
    let asks_first = request.method() == Method::OPTIONS
        && request.headers().contains_key(ACCESS_CONTROL_REQUEST_METHOD);
    let mut response =
        if asks_first { preflight_response(request.headers()) } else { next.run(request).await };
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED_HEADERS);
    headers.append(VARY, HeaderValue::from_static("origin"));
    response
}

/// The origin of a page that may talk to us; nothing for all other requests.
fn allowed_origin(door: &AccessControl, request: &Request) -> Option<HeaderValue> {
    let origin = request.headers().get(ORIGIN)?;
    let is_allowed = origin.to_str().is_ok_and(|origin| door.policy.lists_origin(origin));
    let is_let_in = is_allowed && door.check(request.uri(), request.headers()).is_ok();
    is_let_in.then(|| origin.clone())
}

/// The answer to a browser that asks before it sends.
fn preflight_response(asked: &HeaderMap) -> Response {
    let mut response = StatusCode::NO_CONTENT.into_response();
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, ALLOWED_METHODS);
    headers.insert(ACCESS_CONTROL_MAX_AGE, PREFLIGHT_MAX_AGE);
    if let Some(wanted) = asked.get(ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, wanted.clone());
    }
    if asked.contains_key(REQUEST_PRIVATE_NETWORK) {
        headers.insert(ALLOW_PRIVATE_NETWORK, HeaderValue::from_static("true"));
    }
    response
}
