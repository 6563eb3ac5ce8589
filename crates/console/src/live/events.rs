//! The stream of events as a browser gets it.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use futures_util::{StreamExt as _, stream};
use tokio::sync::broadcast::error::RecvError;

use super::feed::{FeedNotice, FeedSubscription};
use super::stream_notice::Aside;
use crate::console::SharedConsole;

/// A stream that has nothing to say says so this often.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(15);

/// Tells what happens, from here on or after `Last-Event-ID`.
pub(crate) fn events(State(console): State<SharedConsole>, headers: HeaderMap) -> Ready<Response> {
    ready(event_stream(&console, &headers))
}

fn event_stream(console: &SharedConsole, headers: &HeaderMap) -> Response {
    let last = headers.get("last-event-id").and_then(|value| value.to_str().ok());
    let FeedSubscription { missed, receiver } = console.feed.subscribe(last);
    let first: Vec<Event> = match missed {
        Some(missed) => missed.iter().map(event).collect(),
        None => vec![reset()],
    };
    // It is a page that listens, or a program: both show questions to somebody.
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

/// So that a page knows at once that it is heard.
fn hello() -> Event {
    Aside::Hello.to_event().event("hello")
}

/// Something was missed that is not kept: everything may be different.
fn reset() -> Event {
    Aside::Missed { count: None }.to_event().event("all")
}
