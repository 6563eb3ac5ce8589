//! One side of a connection: sends and receives requests, and enforces every deadline.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_json::Json;
use tokio::sync::{Semaphore, mpsc};
use tokio::time::sleep_until;
use tokio_util::sync::CancellationToken;

use crate::envelope;
use crate::error::{CloseReason, RequestError, RpcError};
use crate::http::HttpLink;
use crate::in_flight::{PendingRequests, RequestResult};
use crate::limits::WireLimits;
use crate::outbox::Outbox;
use crate::request::into_line;
use crate::revision::{Era, Revision};

/// How long a message waits for room. A peer that reads nothing for longer is stuck.
const SEND_TIMEOUT: Duration = Duration::from_secs(30);
/// How long queued messages may still be written during a graceful shutdown.
const CLOSE_GRACE: Duration = Duration::from_millis(500);
/// Maximum refusals in the queue. Further requests of a peer that does not read get no answer.
const MAX_PENDING_REFUSALS: usize = 64;

/// One side of a connection. Clones share the connection.
#[derive(Clone)]
pub struct Peer {
    pub(crate) shared: Arc<PeerShared>,
}

impl std::fmt::Debug for Peer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Peer({} in flight)", self.in_flight())
    }
}

pub(crate) struct PeerShared {
    pub(crate) in_flight: PendingRequests,
    pub(crate) link: PeerLink,
    pub(crate) limits: WireLimits,
    pub(crate) over: CancellationToken,
    pub(crate) counts: PeerCounts,
    next_id: AtomicU64,
    protocol: Mutex<Arc<ProtocolState>>,
    pub(crate) inbound: mpsc::Sender<Inbound>,
    pub(crate) refusals: Arc<Semaphore>,
    pub(crate) observer: OnceLock<Box<NotificationObserver>>,
}

/// Observer of the notifications of tagged requests: tag, method and parameters.
type NotificationObserver = dyn Fn(u64, &str, &Json) + Send + Sync;

pub(crate) enum PeerLink {
    /// Lines, written by one task.
    Stream(Outbox),
    Http(Box<HttpLink>),
}

/// The protocol revision in use, and the metadata that it adds to every request.
#[derive(Clone, Debug)]
pub struct ProtocolState {
    pub revision: Revision,
    /// Members for the `_meta` of every request, as JSON text without braces.
    pub meta: String,
}

/// A message that the other side sends on its own initiative, or too late.
#[derive(Debug)]
pub enum Inbound {
    /// A request; answer it with [`Peer::reply`].
    Request {
        id: Json,
        method: String,
        params: Option<Json>,
        /// The tag of our request that it belongs to, if the transport says so.
        belongs_to: Option<u64>,
    },
    Notification {
        method: String,
        params: Option<Json>,
        /// The tags of our requests that the message may belong to: one if the transport says so,
        /// otherwise all in flight.
        during: Vec<u64>,
    },
    /// The address or certificate of the server has changed.
    IdentityChanged,
    /// An answer to an abandoned request, with the tag that its caller chose.
    Late { tag: u64, answer: RequestResult },
}

/// Counters of messages that settled no request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Lines that are not messages.
    pub noise: u64,
    /// Answers whose id was never issued or has the wrong type.
    pub unknown_answers: u64,
    /// Answers to abandoned requests.
    pub late_answers: u64,
    /// Requests and notifications dropped because the queue was full.
    pub dropped: u64,
}

#[derive(Default)]
pub(crate) struct PeerCounts {
    pub(crate) noise: AtomicU64,
    pub(crate) unknown_answers: AtomicU64,
    pub(crate) late_answers: AtomicU64,
    pub(crate) dropped: AtomicU64,
}

impl Peer {
    pub(crate) fn new(link: PeerLink, limits: WireLimits) -> (Self, mpsc::Receiver<Inbound>) {
        let (inbound, queue) = mpsc::channel(limits.inbound_messages);
        let stance = ProtocolState { revision: Revision::NEWEST_LEGACY, meta: String::new() };
        let shared = PeerShared {
            in_flight: PendingRequests::default(),
            link,
            limits,
            over: CancellationToken::new(),
            counts: PeerCounts::default(),
            next_id: AtomicU64::new(1),
            protocol: Mutex::new(Arc::new(stance)),
            inbound,
            refusals: Arc::new(Semaphore::new(MAX_PENDING_REFUSALS)),
            observer: OnceLock::new(),
        };
        let shared = Arc::new(shared);
        // A weak handle: the watcher must not keep a peer alive that all others have dropped.
        tokio::spawn(watch_deadlines(Arc::downgrade(&shared)));
        (Self { shared }, queue)
    }

    /// Sets the protocol revision for all further messages.
    pub fn set_protocol(&self, stance: ProtocolState) {
        *self.shared.protocol.lock() = Arc::new(stance);
    }

    /// Registers an observer of the notifications of tagged requests: progress, and log messages
    /// that belong to one request. The observer sees every notification, before the answer of the
    /// request. It runs while messages are dispatched and must return quickly.
    ///
    /// Only the first observer is registered.
    pub fn observe_notifications(&self, hear: impl Fn(u64, &str, &Json) + Send + Sync + 'static) {
        // A second observer is ignored, as documented.
        _ = self.shared.observer.set(Box::new(hear));
    }

    /// Returns the protocol revision in use.
    #[must_use]
    pub fn protocol(&self) -> Arc<ProtocolState> {
        self.shared.protocol()
    }

    /// Sends a notification, or waits for room in the queue first.
    pub async fn notify(&self, method: &str, params: &str) -> Result<(), RequestError> {
        let meta = match self.shared.protocol() {
            stance if stance.revision.era() == Era::Modern => stance.meta.clone(),
            _ => String::new(),
        };
        self.send_text(envelope::notification_text(method, params, &meta), method).await
    }

    /// Answers a request of the other side.
    pub async fn reply(
        &self,
        id: &Json,
        answer: Result<&str, RpcError>,
    ) -> Result<(), RequestError> {
        let text = envelope::response_text(id, answer.as_ref().copied());
        self.send_text(text, "").await
    }

    /// Refuses a request of the other side without waiting for the answer to be written.
    pub fn refuse(&self, id: Json, why: RpcError) {
        self.shared.spawn_reply(id, Err(why));
    }

    async fn send_text(&self, text: String, method: &str) -> Result<(), RequestError> {
        match &self.shared.link {
            PeerLink::Stream(outbox) => {
                let pushing = outbox.push_when_room(into_line(text));
                match tokio::time::timeout(SEND_TIMEOUT, pushing).await {
                    Ok(Ok(_)) => Ok(()),
                    _ => {
                        Err(RequestError::NotSent("the server does not read its input".to_owned()))
                    }
                }
            }
            PeerLink::Http(link) => {
                // Boxed, since the future is large and would make all callers' futures as large.
                let telling = Box::pin(link.send_message(&self.shared, text, method));
                tokio::time::timeout(SEND_TIMEOUT, telling).await.unwrap_or_else(|_| {
                    Err(RequestError::Unknown("the server does not accept messages".to_owned()))
                })
            }
        }
    }

    /// Closes the connection gracefully: writes queued messages or ends the HTTP session first.
    pub async fn shutdown(&self, reason: &str) {
        if !self.is_closed() {
            match &self.shared.link {
                PeerLink::Stream(outbox) => outbox.flush(CLOSE_GRACE).await,
                PeerLink::Http(link) => link.end_session(&self.shared).await,
            }
        }
        self.close(reason);
    }

    /// Closes the connection at once; requests in flight fail with `reason`.
    pub fn close(&self, reason: &str) {
        self.shared.close(reason);
    }

    /// Returns whether the connection has ended.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.shared.over.is_cancelled()
    }

    /// Waits until the connection has ended, and returns the reason.
    pub async fn wait_until_closed(&self) -> CloseReason {
        self.shared.over.cancelled().await;
        self.shared.in_flight.close_reason().unwrap_or_else(|| CloseReason("closed".to_owned()))
    }

    /// Returns the number of requests in flight.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.shared.in_flight.len()
    }

    /// Returns the tags of the requests in flight that have one.
    #[must_use]
    pub fn tags(&self) -> Vec<u64> {
        self.shared.in_flight.tags()
    }

    /// Restarts the idle deadline of every request, as progress does, for example while the server
    /// waits for our answer to an elicitation. Returns the number of requests in flight.
    #[expect(clippy::must_use_candidate, reason = "the number is a by-product")]
    pub fn renew_waits(&self) -> usize {
        self.shared.in_flight.renew_deadlines()
    }

    /// Returns the counters of messages that settled no request.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let counts = &self.shared.counts;
        Stats {
            noise: counts.noise.load(Ordering::Relaxed),
            unknown_answers: counts.unknown_answers.load(Ordering::Relaxed),
            late_answers: counts.late_answers.load(Ordering::Relaxed),
            dropped: counts.dropped.load(Ordering::Relaxed),
        }
    }
}

impl PeerShared {
    pub(crate) fn next_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn protocol(&self) -> Arc<ProtocolState> {
        Arc::clone(&self.protocol.lock())
    }

    pub(crate) fn close(&self, reason: &str) {
        // Close the queue first: a request reported as never sent must not be written afterwards.
        if let PeerLink::Stream(outbox) = &self.link {
            outbox.close();
        }
        if self.in_flight.close(&CloseReason(reason.to_owned())) {
            self.over.cancel();
        }
    }

    /// Answers on a separate task, since the reader must not wait for room in the queue.
    pub(crate) fn spawn_reply(self: &Arc<Self>, id: Json, answer: Result<&'static str, RpcError>) {
        // Bounded: a peer could otherwise make us queue refusals without end.
        let Ok(turn) = Arc::clone(&self.refusals).try_acquire_owned() else {
            self.counts.dropped.fetch_add(1, Ordering::Relaxed);
            return;
        };
        let peer = Peer { shared: Arc::clone(self) };
        tokio::spawn(async move {
            // A failure means that the connection has ended, and the request with it.
            _ = peer.reply(&id, answer).await;
            drop(turn);
        });
    }
}

/// A guard that closes its peer on drop unless kept, for code that may be cancelled.
#[derive(Debug)]
pub struct TentativePeer(Option<Peer>);

impl TentativePeer {
    /// Arms the guard for `peer`.
    #[must_use]
    pub const fn new(peer: Peer) -> Self {
        Self(Some(peer))
    }

    /// Disarms the guard; the peer stays open.
    pub fn keep(mut self) {
        self.0 = None;
    }
}

impl Drop for TentativePeer {
    fn drop(&mut self) {
        if let Some(peer) = &self.0 {
            peer.close("the connection was abandoned");
        }
    }
}

/// Enforces the deadlines of all requests until the peer is dropped.
///
/// A single watcher, since a timer per request would cost more than the rest of its bookkeeping;
/// nearly all requests are answered long before their deadline.
async fn watch_deadlines(peer: Weak<PeerShared>) {
    let Some(earlier) = peer.upgrade().map(|shared| shared.in_flight.deadline_notify()) else {
        return;
    };
    loop {
        let next = match peer.upgrade() {
            Some(shared) => shared.in_flight.expire(),
            None => return,
        };
        match next {
            None => earlier.notified().await,
            Some(next) => tokio::select! {
                () = sleep_until(next) => {}
                () = earlier.notified() => {}
            },
        }
    }
}

#[cfg(test)]
#[path = "peer_tests.rs"]
mod tests;

#[cfg(test)]
mod refusals_tests {
    use tokio::io::{AsyncReadExt as _, duplex, split};

    use super::*;

    /// The other side reads nothing, so every answer waits for room.
    #[tokio::test]
    async fn refusals_that_nobody_reads_are_bounded() {
        let (ours, mut theirs) = duplex(1_024);
        let (reader, writer) = split(ours);
        let limits = WireLimits { queued_bytes: 1_024, ..WireLimits::default() };
        let (peer, _inbound) = crate::stream::start_stream(reader, writer, limits);
        for id in 0..1_000 {
            peer.refuse(Json::from_trusted(id.to_string()), RpcError::new(-32_603, "busy"));
        }
        let dropped = peer.stats().dropped;
        assert_eq!(dropped, 1_000 - u64::try_from(MAX_PENDING_REFUSALS).unwrap());
        // Reading makes room again.
        let mut read = Vec::new();
        while read.iter().filter(|byte| **byte == b'\n').count() < MAX_PENDING_REFUSALS {
            let mut bytes = [0; 512];
            let count = theirs.read(&mut bytes).await.unwrap();
            read.extend_from_slice(&bytes[..count]);
        }
        while peer.shared.refusals.available_permits() < MAX_PENDING_REFUSALS {
            tokio::task::yield_now().await;
        }
        peer.refuse(Json::from_trusted("1000".to_owned()), RpcError::new(-32_603, "busy"));
        assert_eq!(peer.stats().dropped, dropped);
    }
}
