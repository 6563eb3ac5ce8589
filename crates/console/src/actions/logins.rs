//! Logs in to servers and out of them. The person is shown where to go; nothing opens by itself.

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

/// So many logins wait for their person at once.
const MAX_PENDING_LOGINS: usize = 16;

/// Logins that wait for their person.
#[derive(Default)]
pub(crate) struct PendingLogins {
    waiting: Mutex<Vec<(ServerId, PendingLogin)>>,
}

impl PendingLogins {
    /// Keeps a login until its answer comes; an earlier one of the same server is given up.
    fn insert(&self, server: ServerId, pending: PendingLogin) {
        let mut waiting = self.waiting.lock();
        waiting.retain(|(other, old)| *other != server && old.deadline() > Instant::now());
        if waiting.len() >= MAX_PENDING_LOGINS {
            waiting.remove(0);
        }
        waiting.push((server, pending));
    }

    /// The login that an answer belongs to; only we and who answers can know the word in it.
    fn take(&self, answer: &str) -> Option<(ServerId, PendingLogin)> {
        let mut waiting = self.waiting.lock();
        let at = waiting.iter().position(|(_, pending)| pending.accepts(answer))?;
        Some(waiting.swap_remove(at))
    }
}

/// Begins a login, and says where the person has to go for it.
pub(crate) async fn log_in(
    State(console): ConsoleState,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> ApiResult {
    let config = console.host.config().load();
    let server = config.servers.get(name.as_str()).ok_or_else(|| no_server(&name))?;
    if server.oauth.callback_port.is_some_and(|port| port != console.names.port()) {
        let why = format!("the answer to a login of `{name}` has to come to a port of its own");
        return Err(
            ApiError::unprocessable(why).with_hint(format!("run `switchboard login {name}`"))
        );
    }
    let redirect_uri = format!("{}/callback", console.names.base());
    let wish = LoginOptions { redirect_uri, scopes: Vec::new(), on_step: &|_| {} };
    let pending = console.host.logins().begin(server, wish).await.map_err(|e| login_error(&e))?;
    let url = pending.authorization_url().to_owned();
    console.logins.insert(server.id.clone(), pending);
    let begun = LoginBegun { server: name, url };
    Ok(fragment_or_json(&headers, || pages::login_address(&begun.url), &begun))
}

/// Takes the answer that a browser brings back.
///
/// It comes from another site, so without a cookie: what proves it is the word in it.
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

/// Ends the login of a server.
pub(crate) async fn log_out(State(console): ConsoleState, Path(name): Path<String>) -> ApiResult {
    let ended = console.host.logins().logout(&name).await.map_err(|error| login_error(&error))?;
    if ended.is_empty() {
        return Err(ApiError::unprocessable(format!("there is no login for `{name}`")));
    }
    Ok(reply::json(&LoggedOut { ended }))
}

fn login_error(error: &LoginError) -> ApiError {
    ApiError::unprocessable(error.to_string()).maybe_hint(error.hint())
}
