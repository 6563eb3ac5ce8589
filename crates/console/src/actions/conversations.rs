//! Actions on conversations: start, send a message, control, and stream the events.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::{StreamExt as _, stream};
use schemars::JsonSchema;
use serde::Deserialize;
use switchboard_agent::LimitDecision;
use tokio::sync::broadcast::error::RecvError;

use super::body::{ApiResult, parse_body};
use super::responses::InSession;
use crate::console::ConsoleState;
use crate::conversations::ConversationCommand;
use crate::live::Aside;
use crate::reply::{self, ApiError};

const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(15);

/// A conversation to start.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct NewSession {
    /// Profile of the model, or `provider:model`; the default model if empty.
    #[serde(default)]
    model: String,
    /// First message, if there is one.
    #[serde(default)]
    text: String,
}

/// Starts a conversation, with a first message if the request has one.
pub(crate) async fn begin_session(State(console): ConsoleState, body: Bytes) -> ApiResult {
    let NewSession { model, text } = parse_body(&body)?;
    let model = Some(model.trim()).filter(|model| !model.is_empty());
    let session = console.start_conversation(model).await?;
    if !text.trim().is_empty() {
        console.send_command(&session, ConversationCommand::Say(text)).await?;
    }
    Ok(reply::json(&InSession { session }))
}

/// A message to a conversation.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Said {
    /// Text of the message.
    text: String,
}

pub(crate) async fn say(
    State(console): ConsoleState,
    Path(session): Path<String>,
    body: Bytes,
) -> ApiResult {
    let Said { text } = parse_body(&body)?;
    if text.trim().is_empty() {
        return Err(ApiError::unprocessable("the message is empty"));
    }
    console.send_command(&session, ConversationCommand::Say(text)).await?;
    Ok(reply::json(&InSession { session }))
}

/// A command to a conversation.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Directed {
    /// Command in one word.
    #[schemars(extend("enum" = ["cancel", "retry", "go_on", "stop"]))]
    what: String,
}

/// Cancels the current turn, asks the model again, or decides at a limit.
pub(crate) async fn control_session(
    State(console): ConsoleState,
    Path(session): Path<String>,
    body: Bytes,
) -> ApiResult {
    let Directed { what } = parse_body(&body)?;
    let order = match what.as_str() {
        "cancel" => ConversationCommand::Cancel,
        "retry" => ConversationCommand::Retry,
        "go_on" => ConversationCommand::Decide(LimitDecision::GoOn),
        "stop" => ConversationCommand::Decide(LimitDecision::Stop),
        other => {
            let problem = ApiError::unprocessable(format!("unknown command `{other}`"));
            return Err(problem.with_hint("one of `cancel`, `retry`, `go_on` or `stop`"));
        }
    };
    console.send_command(&session, order).await?;
    Ok(reply::json(&InSession { session }))
}

pub(crate) fn stream_session(
    State(console): ConsoleState,
    Path(session): Path<String>,
) -> Ready<ApiResult> {
    let Some(told) = console.talks.subscribe(&session) else {
        let why = "too many conversations are being watched";
        return ready(Err(ApiError::new(StatusCode::TOO_MANY_REQUESTS, why)));
    };
    let coming = stream::unfold(told, |mut told| async move {
        match told.recv().await {
            Ok(text) => Some((Event::default().data(&*text), told)),
            // The page reloads the stored conversation instead.
            Err(RecvError::Lagged(_)) => Some((Aside::Missed { count: None }.to_event(), told)),
            Err(RecvError::Closed) => None,
        }
    });
    let stop = console.stop.clone();
    // Confirms the subscription: no event after this one is missed unnoticed.
    let first = stream::iter([Aside::Hello.to_event()]);
    let all = first.chain(coming).take_until(async move { stop.cancelled().await });
    let all = all.map(Ok::<Event, Infallible>);
    let keep_alive = KeepAlive::new().interval(KEEP_ALIVE_INTERVAL);
    ready(Ok(Sse::new(all).keep_alive(keep_alive).into_response()))
}
