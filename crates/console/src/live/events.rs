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
use crate::console::ConsoleState;

/// How often a keep-alive is sent. Proxies close streams that are idle for about a minute.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(15);

pub(crate) fn events(State(console): ConsoleState, headers: HeaderMap) -> Ready<Response> {
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
    let keep_alive = KeepAlive::new().interval(KEEP_ALIVE_INTERVAL);
    ready(Sse::new(all).keep_alive(keep_alive).into_response())
}

fn event(notice: &Arc<FeedNotice>) -> Event {
    Event::default().id(&notice.id).event(notice.part).data(&notice.text)
}

fn hello() -> Event {
    Aside::Hello.to_event().event("hello")
}

/// Returns the event for lost notices, after which the page reloads all parts.
fn reset() -> Event {
    Aside::Missed { count: None }.to_event().event("all")
}

/// A notice about the stream itself, or from the console.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(crate) enum Aside {
    /// The stream is connected.
    Hello,
    /// Events were lost: any part of a page may be stale.
    Missed {
        /// Number of lost events, if known.
        #[serde(skip_serializing_if = "Option::is_none")]
        count: Option<u64>,
    },
    /// The review queue has changed.
    Reviews {
        /// Number of entries in the queue.
        waiting: usize,
    },
    /// Progress of a call that was made with `watch`.
    Progress {
        /// Value of `watch` in the call's request.
        watch: String,
        /// Progress so far, in the server's units.
        progress: Option<Number>,
        /// Total in the same units, if known.
        total: Option<Number>,
        /// Progress message of the server.
        message: Option<String>,
    },
}

impl Aside {
    pub(crate) fn to_event(&self) -> Event {
        // Without an id, so that `Last-Event-ID` keeps naming the last real event.
        Event::default().data(serde_json::to_string(self).unwrap_or_default())
    }
}

pub(crate) fn event_schema(generator: &mut SchemaGenerator) -> Schema {
    let what = generator.subschema_for::<EventKind>();
    let aside = generator.subschema_for::<Aside>();
    json_schema!({"oneOf": [what, aside]})
}

pub(crate) fn session_event_schema(generator: &mut SchemaGenerator) -> Schema {
    let said = generator.subschema_for::<switchboard_agent::Event>();
    json_schema!({"oneOf": [said, generator.subschema_for::<Aside>()]})
}
