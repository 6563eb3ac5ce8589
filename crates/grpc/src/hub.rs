//! Publishes events to open streams, and keeps the pending questions of this service's calls.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use tokio::sync::{broadcast, watch};

use crate::access::AuthorizedCaller;
use crate::generated::v1::host_event::Event;
use crate::generated::v1::{HostEvent, Resolved};

/// Maximum events buffered for a slow stream; older ones are missed.
const MAX_BUFFERED_EVENTS: usize = 1_024;

/// The streams that receive an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EventAudience {
    /// The streams of this caller and those of the owner of the host.
    Visitor(Arc<str>),
    Stream(u64),
}

#[derive(Clone, Debug)]
pub(crate) struct HubMessage {
    pub(crate) audience: EventAudience,
    pub(crate) event: HostEvent,
}

pub(crate) struct EventHub {
    state: Mutex<HubState>,
    sender: broadcast::Sender<Arc<HubMessage>>,
    next: AtomicU64,
}

#[derive(Default)]
struct HubState {
    waiting: BTreeMap<String, Arc<HubMessage>>,
    streams: BTreeMap<u64, StreamState>,
    /// Number of calls in flight by reference, which callers may use twice.
    calls: HashMap<String, usize>,
}

struct StreamState {
    identity: Arc<str>,
    /// Dropped with the stream, which wakes the receivers.
    open: watch::Sender<()>,
}

/// An open stream, registered until this is dropped.
pub(crate) struct OpenStream {
    pub(crate) number: u64,
    hub: Arc<EventHub>,
}

/// A call in flight, registered until this is dropped.
pub(crate) struct HubCall {
    reference: String,
    hub: Arc<EventHub>,
}

impl Default for EventHub {
    fn default() -> Self {
        let sender = broadcast::Sender::new(MAX_BUFFERED_EVENTS);
        Self { state: Mutex::default(), sender, next: AtomicU64::new(1) }
    }
}

impl EventHub {
    /// Opens a stream. Also returns the receiver of new events and the questions already pending.
    pub(crate) fn open(
        self: &Arc<Self>,
        visitor: &AuthorizedCaller,
    ) -> (OpenStream, broadcast::Receiver<Arc<HubMessage>>, Vec<Arc<HubMessage>>) {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let mut state = self.state.lock();
        // Under the lock, so that no event is lost between the subscription and the pending ones.
        let receiver = self.sender.subscribe();
        let waiting = state.waiting.values().filter(|told| told.audience.includes(visitor, number));
        let waiting = waiting.cloned().collect();
        let identity = Arc::clone(&visitor.identity);
        state.streams.insert(number, StreamState { identity, open: watch::Sender::new(()) });
        (OpenStream { number, hub: Arc::clone(self) }, receiver, waiting)
    }

    /// Finds a caller's stream by its id; without an id, the most recent one.
    pub(crate) fn find_stream(&self, visitor: &AuthorizedCaller, name: &str) -> Option<u64> {
        let state = self.state.lock();
        let own = |listening: &StreamState| listening.identity == visitor.identity;
        if name.is_empty() {
            let mut streams = state.streams.iter().rev();
            return streams.find(|(_, listening)| own(listening)).map(|(number, _)| *number);
        }
        // A foreign stream is as unknown as one that does not exist.
        let number = name.parse().ok()?;
        state.streams.get(&number).filter(|listening| own(listening)).map(|_| number)
    }

    /// Waits until a stream is closed. Returns at once if it is not open.
    pub(crate) async fn wait_closed(&self, stream: u64) {
        let listening = self.state.lock().streams.get(&stream).map(|one| one.open.subscribe());
        if let Some(mut listening) = listening {
            while listening.changed().await.is_ok() {}
        }
    }

    /// Registers a call. Its questions are published here and not by the watcher of the queue.
    pub(crate) fn register_call(self: &Arc<Self>, reference: &str) -> HubCall {
        *self.state.lock().calls.entry(reference.to_owned()).or_default() += 1;
        HubCall { reference: reference.to_owned(), hub: Arc::clone(self) }
    }

    /// Returns whether a pending entry belongs to a call of this service.
    pub(crate) fn is_from_here(&self, id: &str, reference: Option<&str>) -> bool {
        let state = self.state.lock();
        state.waiting.contains_key(id)
            || reference.is_some_and(|reference| state.calls.contains_key(reference))
    }

    /// Publishes an event that is not kept.
    pub(crate) fn publish(&self, audience: EventAudience, event: Event) {
        let told = HubMessage { audience, event: with_timestamp(event) };
        // Without subscribers the event is dropped.
        _ = self.sender.send(Arc::new(told));
    }

    /// Publishes a question and keeps it until it is resolved.
    pub(crate) fn publish_waiting(&self, id: &str, audience: EventAudience, event: Event) {
        let told = Arc::new(HubMessage { audience, event: with_timestamp(event) });
        // Both under the lock: a stream that opens meanwhile gets the question exactly once.
        let mut state = self.state.lock();
        state.waiting.insert(id.to_owned(), Arc::clone(&told));
        // Without subscribers the send fails; later streams find the question in `waiting`.
        _ = self.sender.send(told);
    }

    /// Publishes that a question was resolved, once.
    pub(crate) fn publish_resolved(&self, id: &str, how: &str, by: &str) {
        let Some(told) = self.state.lock().waiting.remove(id) else { return };
        self.publish(told.audience.clone(), resolved_event(id, how, by));
    }

    /// Returns whether a caller may answer a question: only if it was sent to that caller.
    pub(crate) fn may_answer(&self, id: &str, visitor: &AuthorizedCaller) -> bool {
        let state = self.state.lock();
        match state.waiting.get(id).map(|told| &told.audience) {
            Some(EventAudience::Visitor(identity)) => *identity == visitor.identity,
            Some(EventAudience::Stream(number)) => {
                let listening = state.streams.get(number);
                listening.is_some_and(|listening| listening.identity == visitor.identity)
            }
            None => false,
        }
    }
}

impl EventAudience {
    pub(crate) fn includes(&self, visitor: &AuthorizedCaller, stream: u64) -> bool {
        match self {
            Self::Visitor(identity) => visitor.is_owner() || *identity == visitor.identity,
            Self::Stream(number) => *number == stream,
        }
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.hub.state.lock().streams.remove(&self.number);
    }
}

impl Drop for HubCall {
    fn drop(&mut self) {
        let mut state = self.hub.state.lock();
        if let Some(count) = state.calls.get_mut(&self.reference) {
            *count -= 1;
            if *count == 0 {
                state.calls.remove(&self.reference);
            }
        }
    }
}

pub(crate) fn with_timestamp(event: Event) -> HostEvent {
    HostEvent { at_ms: jiff::Timestamp::now().as_millisecond(), event: Some(event) }
}

pub(crate) fn resolved_event(id: &str, how: &str, by: &str) -> Event {
    let [id, how, by] = [id, how, by].map(str::to_owned);
    Event::Resolved(Resolved { id, how, by })
}
