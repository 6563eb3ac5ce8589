//! Middleware of the routes: host check, session check, CSRF check and security headers.

use std::future::{Ready, ready};
use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};
use axum::http::header::{
    AUTHORIZATION, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ORIGIN, SET_COOKIE,
    X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use serde_json::json;
use switchboard_net::{bearer, single_header};

use super::cookie;
use super::sign_ins::is_same;
use crate::actions::SignedOut;
use crate::apps::OwnContentPolicy;
use crate::console::{Console, ConsoleState};
use crate::pages::sign_in;
use crate::reply::{self, ApiError, html_with};

/// The header in which a page's script repeats the CSRF token of the page.
const TOKEN_HEADER: &str = "x-switchboard-token";

/// A signed-in browser, or a program with the API key.
#[derive(Clone)]
pub(crate) struct Principal {
    /// The CSRF token that a request must repeat to act.
    pub(crate) token: Arc<str>,
    cookie: String,
}

pub(crate) async fn check_host(
    State(console): ConsoleState,
    request: Request,
    next: Next,
) -> Response {
    match console.names.check(request.method(), request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(why) => ApiError::new(StatusCode::FORBIDDEN, why).into_response(),
    }
}

/// Requires a session. A sign-in link from the terminal creates one.
pub(crate) async fn require_session(
    State(console): ConsoleState,
    mut request: Request,
    next: Next,
) -> Response {
    if request.uri().path() == "/"
        && let Some(key) = key_parameter(request.uri().query().unwrap_or_default())
    {
        return sign_in_with_key(&console, request.headers(), key);
    }
    match session_principal(&console, request.headers()) {
        Some(signed) => {
            request.extensions_mut().insert(signed);
            next.run(request).await
        }
        None => not_signed_in(request.uri().path()),
    }
}

/// Requires a session, its CSRF token and a JSON body.
pub(crate) async fn require_action(
    State(console): ConsoleState,
    mut request: Request,
    next: Next,
) -> Response {
    let Some(signed) = session_principal(&console, request.headers()) else {
        return not_signed_in(request.uri().path());
    };
    // HTML forms can post across sites, but only with three media types that are not JSON.
    if request.method() != Method::GET && !is_json(request.headers()) {
        let why = "the body must be `application/json`";
        return ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, why).into_response();
    }
    let token = request.headers().get(TOKEN_HEADER).and_then(|value| value.to_str().ok());
    if !token.is_some_and(|token| is_same(token, &signed.token)) {
        let why = format!("missing or wrong CSRF token in `{TOKEN_HEADER}`");
        let problem = ApiError::new(StatusCode::FORBIDDEN, why);
        return problem.with_hint("reload the page").into_response();
    }
    request.extensions_mut().insert(signed);
    next.run(request).await
}

impl Principal {
    /// Returns whether this is a program of the same user, not a browser.
    pub(crate) const fn is_program(&self) -> bool {
        self.cookie.is_empty()
    }
}

fn session_principal(console: &Console, headers: &HeaderMap) -> Option<Principal> {
    if let Some(program) = program_principal(console, headers) {
        return Some(program);
    }
    let cookie = cookie::read(&console.names, headers)?;
    let token = console.sign_ins.token(&cookie)?;
    // Programs poll, so only browsers count as a person who would see a question.
    console.onlookers.touch();
    Some(Principal { token, cookie })
}

/// Authenticates a program of the same user by the API key.
fn program_principal(console: &Console, headers: &HeaderMap) -> Option<Principal> {
    let given = single_header(headers, AUTHORIZATION).ok().flatten().and_then(bearer)?;
    // A request with an `Origin` comes from a browser, which never has the key.
    let is_known = !headers.contains_key(ORIGIN) && is_same(given, console.key.as_deref()?);
    is_known.then(|| Principal { token: given.into(), cookie: String::new() })
}

/// Exchanges the key of a sign-in link for a session.
fn sign_in_with_key(console: &Console, headers: &HeaderMap, key: &str) -> Response {
    // A prefetch by the browser or a chat program must not use up the link.
    if headers.contains_key("sec-purpose") || headers.contains_key("purpose") {
        return StatusCode::NO_CONTENT.into_response();
    }
    let session = console.sign_ins.exchange(key);
    let cookie = session.map(|session| cookie::set(&console.names, &session.word));
    let Some(value) = cookie.and_then(|cookie| HeaderValue::from_str(&cookie).ok()) else {
        return html_with(StatusCode::UNAUTHORIZED, sign_in::page(sign_in::SignInReason::UsedLink));
    };
    // Not a redirect: after a link from another site, browsers follow it without the cookie.
    let mut response = html_with(StatusCode::OK, sign_in::welcome());
    response.headers_mut().insert(SET_COOKIE, value);
    response
}

fn not_signed_in(path: &str) -> Response {
    if path.starts_with("/api/") {
        let hint = "open the link that `switchboard serve` printed";
        let problem = ApiError::new(StatusCode::UNAUTHORIZED, "not signed in");
        return problem.with_hint(hint).into_response();
    }
    html_with(StatusCode::UNAUTHORIZED, sign_in::page(sign_in::SignInReason::Nobody))
}

fn key_parameter(query: &str) -> Option<&str> {
    query.split('&').find_map(|pair| pair.strip_prefix("key="))
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    kind.and_then(|kind| kind.split(';').next())
        .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

/// Shows a new sign-in link in the terminal. The response does not contain the link.
pub(crate) fn new_link(
    State(console): ConsoleState,
    headers: HeaderMap,
) -> Ready<Result<Response, ApiError>> {
    // Browsers always send `Origin` with a `POST`, and `check_host` rejects other sites.
    if !headers.contains_key(ORIGIN) {
        let why = "the `Origin` header is missing";
        return ready(Err(ApiError::new(StatusCode::FORBIDDEN, why)));
    }
    if console.announce_link() {
        return ready(Ok(reply::json(&json!({"announced": true}))));
    }
    let why = "too many unused sign-in links";
    let problem = ApiError::new(StatusCode::TOO_MANY_REQUESTS, why);
    ready(Err(problem.with_hint("use one, or wait ten minutes")))
}

pub(crate) fn sign_out(
    State(console): ConsoleState,
    Extension(signed): Extension<Principal>,
) -> Ready<Response> {
    console.sign_ins.sign_out(&signed.cookie);
    let mut response = reply::json(&SignedOut { signed_out: true });
    if let Ok(value) = HeaderValue::from_str(&cookie::clear(&console.names)) {
        response.headers_mut().insert(SET_COOKIE, value);
    }
    ready(response)
}

/// Allows no inline code, no resources of other origins and no embedding.
const CONTENT_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
                      img-src 'self' data:; media-src data:; connect-src 'self'; form-action 'self'; \
                      frame-ancestors 'none'; base-uri 'none'";

const SECURITY_HEADERS: [(HeaderName, &str); 4] = [
    (HeaderName::from_static("x-content-type-options"), "nosniff"),
    (HeaderName::from_static("referrer-policy"), "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// Adds the security headers to every response. Responses without `Cache-Control` are not cached.
pub(crate) async fn add_security_headers(
    State(console): ConsoleState,
    request: Request,
    next: Next,
) -> Response {
    let mut response = next.run(request).await;
    set_security_headers(&console, &mut response);
    response
}

pub(crate) fn set_security_headers(console: &Console, response: &mut Response) {
    let has_own_rules = response.extensions().get::<OwnContentPolicy>().is_some();
    let headers = response.headers_mut();
    for (name, value) in SECURITY_HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if !has_own_rules {
        // The only frames are those of apps, which are served under the other loopback name.
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
        // For browsers that do not know `frame-ancestors`.
        headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    }
    // Pages show arguments and results, which must not stay in the disk cache.
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}
