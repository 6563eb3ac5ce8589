//! Actions that log in to servers and out of them. The person gets a link; no browser is opened.

use std::time::Instant;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::Response;
use parking_lot::Mutex;
use switchboard_core::ServerId;
use switchboard_oauth::{LoginError, LoginOptions, PendingLogin};

use super::body::{ApiResult, fragment_or_json, no_server};
use super::responses::{LoggedOut, LoginBegun};
use crate::console::ConsoleState;
use crate::pages::sign_in;
use crate::reply::ApiError;
use crate::{pages, reply};

const MAX_PENDING_LOGINS: usize = 16;

/// Logins that wait for the person to return from the authorization server.
#[derive(Default)]
pub(crate) struct PendingLogins {
    waiting: Mutex<Vec<(ServerId, PendingLogin)>>,
}

impl PendingLogins {
    /// Keeps a login until its callback arrives. Replaces an earlier one for the same server.
    fn insert(&self, server: ServerId, pending: PendingLogin) {
        let mut waiting = self.waiting.lock();
        waiting.retain(|(other, old)| *other != server && old.deadline() > Instant::now());
        if waiting.len() >= MAX_PENDING_LOGINS {
            waiting.remove(0);
        }
        waiting.push((server, pending));
    }

    /// Removes and returns the login that a callback belongs to.
    fn take(&self, answer: &str) -> Option<(ServerId, PendingLogin)> {
        let mut waiting = self.waiting.lock();
        // By `state`, a random value that only this process and the authorization server know.
        let at = waiting.iter().position(|(_, pending)| pending.accepts(answer))?;
        Some(waiting.swap_remove(at))
    }
}

/// Starts a login and returns the authorization URL.
pub(crate) async fn log_in(
    State(console): ConsoleState,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> ApiResult {
    let config = console.host.config().load();
    let server = config.servers.get(name.as_str()).ok_or_else(|| no_server(&name))?;
    // Some authorization servers accept only a registered port, on which nothing listens here.
    if server.oauth.callback_port.is_some_and(|port| port != console.names.port()) {
        let why = format!("the login to `{name}` needs its own callback port");
        let hint = format!("run `switchboard login {name}`");
        return Err(ApiError::unprocessable(why).with_hint(hint));
    }
    let redirect_uri = format!("{}/callback", console.names.base());
    let wish = LoginOptions { redirect_uri, scopes: Vec::new(), on_step: &|_| {} };
    let pending = console.host.logins().begin(server, wish).await.map_err(|e| login_error(&e))?;
    let url = pending.authorization_url().to_owned();
    console.logins.insert(server.id.clone(), pending);
    let begun = LoginBegun { server: name, url };
    Ok(fragment_or_json(&headers, || pages::login_address(&begun.url), &begun))
}

/// Handles the redirect from the authorization server.
///
/// The request comes from another site and has no cookie; its `state` parameter authenticates it.
pub(crate) async fn login_callback(State(console): ConsoleState, uri: Uri) -> Response {
    let query = uri.query().unwrap_or_default();
    let answer = format!("{}/callback?{query}", console.names.base());
    let Some((server, pending)) = console.logins.take(&answer) else {
        return reply::html_with(StatusCode::BAD_REQUEST, sign_in::login_result(None));
    };
    match pending.finish(&answer).await {
        Ok(_) => reply::html(sign_in::login_result(Some(Ok(server.as_str())))),
        Err(error) => {
            let words = error.to_string();
            reply::html_with(StatusCode::BAD_REQUEST, sign_in::login_result(Some(Err(&words))))
        }
    }
}

pub(crate) async fn log_out(State(console): ConsoleState, Path(name): Path<String>) -> ApiResult {
    let ended = console.host.logins().logout(&name).await.map_err(|error| login_error(&error))?;
    if ended.is_empty() {
        return Err(ApiError::unprocessable(format!("no login is stored for `{name}`")));
    }
    Ok(reply::json(&LoggedOut { ended }))
}

fn login_error(error: &LoginError) -> ApiError {
    ApiError::unprocessable(error.to_string()).maybe_hint(error.hint())
}
