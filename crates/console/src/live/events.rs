//! The live feed as server-sent events.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use futures_util::{StreamExt as _, stream};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::Number;
use switchboard_core::EventKind;
use tokio::sync::broadcast::error::RecvError;

use super::feed::{FeedNotice, FeedSubscription};
use crate::console::{ConsoleState, SharedConsole};

/// How often a keep-alive is sent on an idle stream.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(15);

/// Streams the live feed, from now on or after `Last-Event-ID`.
pub(crate) fn events(State(console): ConsoleState, headers: HeaderMap) -> Ready<Response> {
    ready(event_stream(&console, &headers))
}

fn event_stream(console: &SharedConsole, headers: &HeaderMap) -> Response {
    let last = headers.get("last-event-id").and_then(|value| value.to_str().ok());
    let FeedSubscription { missed, receiver } = console.feed.subscribe(last);
    let first: Vec<Event> = match missed {
        Some(missed) => missed.iter().map(event).collect(),
        None => vec![reset()],
    };
    // Every subscriber, whether a page or a program, shows questions to a person.
    let staying = console.onlookers.open_page();
    let coming = stream::unfold((receiver, staying), |(mut receiver, staying)| async move {
        match receiver.recv().await {
            Ok(notice) => Some((event(&notice), (receiver, staying))),
            Err(RecvError::Lagged(_)) => Some((reset(), (receiver, staying))),
            Err(RecvError::Closed) => None,
        }
    });
    let stop = console.stop.clone();
    let all = stream::iter(std::iter::once(hello()).chain(first)).chain(coming);
    let all = all.take_until(async move { stop.cancelled().await });
    let all = all.map(Ok::<Event, Infallible>);
    Sse::new(all).keep_alive(KeepAlive::new().interval(KEEP_ALIVE_INTERVAL)).into_response()
}

fn event(notice: &Arc<FeedNotice>) -> Event {
    Event::default().id(&notice.id).event(notice.part).data(&notice.text)
}

/// Returns the first event, which confirms the connection to the page.
fn hello() -> Event {
    Aside::Hello.to_event().event("hello")
}

/// Returns the event for missed notices that are no longer buffered: the page has to reload all
/// parts.
fn reset() -> Event {
    Aside::Missed { count: None }.to_event().event("all")
}

/// What a stream tells beside what happens.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(crate) enum Aside {
    /// Whoever listens is heard.
    Hello,
    /// Something was missed that is not kept: everything may be different.
    Missed {
        /// How many events, where that is known.
        #[serde(skip_serializing_if = "Option::is_none")]
        count: Option<u64>,
    },
    /// What waits for a person is not the same any more.
    Reviews {
        /// How much waits.
        waiting: usize,
    },
    /// How far a call is that somebody watches.
    Progress {
        /// The word that was given with the call.
        watch: String,
        /// How far it is.
        progress: Option<Number>,
        /// Of how much, if that is known.
        total: Option<Number>,
        /// In words.
        message: Option<String>,
    },
}

impl Aside {
    /// Converts to an event without an id.
    pub(crate) fn to_event(&self) -> Event {
        Event::default().data(serde_json::to_string(self).unwrap_or_default())
    }
}

/// Returns the schema of an event's data.
pub(crate) fn event_schema(generator: &mut SchemaGenerator) -> Schema {
    let what = generator.subschema_for::<EventKind>();
    let aside = generator.subschema_for::<Aside>();
    json_schema!({"oneOf": [what, aside]})
}

/// Returns the schema of a conversation event's data.
pub(crate) fn session_event_schema(generator: &mut SchemaGenerator) -> Schema {
    let said = generator.subschema_for::<switchboard_agent::Event>();
    json_schema!({"oneOf": [said, generator.subschema_for::<Aside>()]})
}
