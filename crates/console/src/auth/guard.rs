//! What stands before the routes: names for all, a session for most, a token for what acts.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, ORIGIN, SET_COOKIE};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use switchboard_net::{bearer, single_header};

use super::cookie;
use super::sign_ins::is_same;
use crate::actions::SignedOut;
use crate::console::{Console, SharedConsole};
use crate::pages::sign_in;
use crate::reply::{ApiError, html_with};

/// The header in which a page's script repeats the token of the page.
const TOKEN_HEADER: &str = "x-switchboard-token";

/// Whoever is signed in.
#[derive(Clone)]
pub(crate) struct Principal {
    /// What the page has to repeat to act.
    pub(crate) token: Arc<str>,
    cookie: String,
}

/// Refuses what is not meant for us.
pub(crate) async fn check_host(
    State(console): State<SharedConsole>,
    request: Request,
    next: Next,
) -> Response {
    match console.names.check(request.method(), request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(why) => ApiError::new(StatusCode::FORBIDDEN, why).into_response(),
    }
}

/// Lets whoever is signed in look. A link from the terminal signs in.
pub(crate) async fn require_session(
    State(console): State<SharedConsole>,
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

/// Lets whoever is signed in act, from a page of ours and with JSON, which no form can send.
pub(crate) async fn require_action(
    State(console): State<SharedConsole>,
    mut request: Request,
    next: Next,
) -> Response {
    let Some(signed) = session_principal(&console, request.headers()) else {
        return not_signed_in(request.uri().path());
    };
    if request.method() != Method::GET && !is_json(request.headers()) {
        let why = "the body has to be `application/json`";
        return ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, why).into_response();
    }
    let token = request.headers().get(TOKEN_HEADER).and_then(|value| value.to_str().ok());
    if !token.is_some_and(|token| is_same(token, &signed.token)) {
        let why = format!("the token of the page is missing: `{TOKEN_HEADER}`");
        let hint = "load the page again";
        return ApiError::new(StatusCode::FORBIDDEN, why).with_hint(hint).into_response();
    }
    request.extensions_mut().insert(signed);
    next.run(request).await
}

impl Principal {
    /// Whether it is a program of the same user, and no browser.
    pub(crate) const fn is_program(&self) -> bool {
        self.cookie.is_empty()
    }
}

impl Console {
    /// Signs a browser out.
    pub(crate) fn sign_out(&self, signed: &Principal) -> Response {
        self.sign_ins.sign_out(&signed.cookie);
        let mut response = crate::reply::json(&SignedOut { signed_out: true });
        if let Ok(value) = HeaderValue::from_str(&cookie::clear(&self.names)) {
            response.headers_mut().insert(SET_COOKIE, value);
        }
        response
    }
}

fn session_principal(console: &Console, headers: &HeaderMap) -> Option<Principal> {
    if let Some(program) = program_principal(console, headers) {
        return Some(program);
    }
    let cookie = cookie::read(&console.names, headers)?;
    let token = console.sign_ins.token(&cookie)?;
    console.onlookers.touch();
    Some(Principal { token, cookie })
}

/// A program of the same user, which was told the key. No page of a browser ever is.
fn program_principal(console: &Console, headers: &HeaderMap) -> Option<Principal> {
    let given = single_header(headers, AUTHORIZATION).ok().flatten().and_then(bearer)?;
    let is_known = !headers.contains_key(ORIGIN) && is_same(given, console.key.as_deref()?);
    is_known.then(|| Principal { token: given.into(), cookie: String::new() })
}

/// A browser that only fetches ahead must not use the link up.
fn sign_in_with_key(console: &Console, headers: &HeaderMap, key: &str) -> Response {
    if headers.contains_key("sec-purpose") || headers.contains_key("purpose") {
        return StatusCode::NO_CONTENT.into_response();
    }
    let session = console.sign_ins.exchange(key);
    let cookie = session.map(|session| cookie::set(&console.names, &session.word));
    let Some(value) = cookie.and_then(|cookie| HeaderValue::from_str(&cookie).ok()) else {
        return html_with(StatusCode::UNAUTHORIZED, sign_in::page(sign_in::SignInReason::UsedLink));
    };
    // Not a redirect: after a link from another site it would arrive without the cookie.
    let mut response = html_with(StatusCode::OK, sign_in::welcome());
    response.headers_mut().insert(SET_COOKIE, value);
    response
}

fn not_signed_in(path: &str) -> Response {
    if path.starts_with("/api/") {
        let hint = "open the link that `switchboard serve` printed";
        let problem = ApiError::new(StatusCode::UNAUTHORIZED, "nobody is signed in");
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
