//! What every answer tells the browser about what may be done with it.

use axum::extract::{Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, X_FRAME_OPTIONS};
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;

use crate::apps::OwnContentPolicy;
use crate::console::{Console, SharedConsole};

/// Nothing inline, nothing from elsewhere, no frame around it.
const CONTENT_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
                      img-src 'self' data:; media-src data:; connect-src 'self'; form-action 'self'; \
                      frame-ancestors 'none'; base-uri 'none'";

const SECURITY_HEADERS: [(HeaderName, &str); 4] = [
    (HeaderName::from_static("x-content-type-options"), "nosniff"),
    (HeaderName::from_static("referrer-policy"), "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// Puts the headers on every answer. What does not say how it may be kept is not kept.
pub(crate) async fn add_security_headers(
    State(console): State<SharedConsole>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = next.run(request).await;
    set_security_headers(&console, &mut response);
    response
}

/// Puts the headers on an answer.
pub(crate) fn set_security_headers(console: &Console, response: &mut Response) {
    let has_own_rules = response.extensions().get::<OwnContentPolicy>().is_some();
    let headers = response.headers_mut();
    for (name, value) in SECURITY_HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if !has_own_rules {
        // Frames of apps are the only ones: of this machine, under its other name.
        let frames = match console.names.is_secure() {
            true => "'none'".to_owned(),
            false => {
                let port = console.names.port();
                format!("http://localhost:{port} http://127.0.0.1:{port}")
            }
        };
        let policy = HeaderValue::from_str(&format!("{CONTENT_POLICY}; frame-src {frames}"));
        headers.insert(
            CONTENT_SECURITY_POLICY,
            policy.unwrap_or_else(|_| HeaderValue::from_static(CONTENT_POLICY)),
        );
        headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    }
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}
