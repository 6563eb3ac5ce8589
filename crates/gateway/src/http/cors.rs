//! CORS for the web pages of allowed origins.

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

const ALLOWED_METHODS: HeaderValue = HeaderValue::from_static("POST, GET, DELETE");
/// Response headers that a page may read.
const EXPOSED_HEADERS: HeaderValue =
    HeaderValue::from_static("mcp-session-id, www-authenticate, retry-after");
/// How long a browser may cache a preflight response, in seconds.
const PREFLIGHT_MAX_AGE: HeaderValue = HeaderValue::from_static("600");
/// Set by a browser when a page on the network wants to reach this machine.
const REQUEST_PRIVATE_NETWORK: HeaderName =
    HeaderName::from_static("access-control-request-private-network");
const ALLOW_PRIVATE_NETWORK: HeaderName =
    HeaderName::from_static("access-control-allow-private-network");

/// Adds CORS headers for allowed origins and answers their preflight requests. Other origins get no
/// CORS headers, so the browser withholds the response from the page.
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
    // Shared caches must not serve this response to the page of another origin.
    headers.append(VARY, HeaderValue::from_static("origin"));
    response
}

/// Returns the origin of an allowed page that also passes the host check.
fn allowed_origin(door: &AccessControl, request: &Request) -> Option<HeaderValue> {
    let origin = request.headers().get(ORIGIN)?;
    let is_allowed = origin.to_str().is_ok_and(|origin| door.policy.lists_origin(origin));
    let is_let_in = is_allowed && door.check(request.uri(), request.headers()).is_ok();
    is_let_in.then(|| origin.clone())
}

fn preflight_response(asked: &HeaderMap) -> Response {
    let mut response = StatusCode::NO_CONTENT.into_response();
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, ALLOWED_METHODS);
    headers.insert(ACCESS_CONTROL_MAX_AGE, PREFLIGHT_MAX_AGE);
    // All headers of an allowed origin: `Mcp-Param-*` names come from the schemas of tools.
    if let Some(wanted) = asked.get(ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, wanted.clone());
    }
    if asked.contains_key(REQUEST_PRIVATE_NETWORK) {
        headers.insert(ALLOW_PRIVATE_NETWORK, HeaderValue::from_static("true"));
    }
    response
}
