//! One side of one connection: asks, is asked, and keeps every deadline.

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

/// How long a notification or an answer waits for room: whoever reads nothing for longer is stuck.
const SEND_TIMEOUT: Duration = Duration::from_secs(30);
/// How long messages that wait may still leave when a connection ends politely.
const CLOSE_GRACE: Duration = Duration::from_millis(500);
/// Maximum refusals on their way; a side that asks for more and does not read gets no answer.
const MAX_PENDING_REFUSALS: usize = 64;

/// One side of a connection. Clones share it.
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

/// Hears what is told of a request: its tag, the method of the notification, and its parameters.
type NotificationObserver = dyn Fn(u64, &str, &Json) + Send + Sync;

/// How messages leave us.
pub(crate) enum PeerLink {
    /// As lines, written by one task.
    Stream(Outbox),
    Http(Box<HttpLink>),
}

/// Which revision we speak on this connection, and what it adds to every request.
#[derive(Clone, Debug)]
pub struct ProtocolState {
    pub revision: Revision,
    /// Members for the `_meta` of every request, as JSON text without braces.
    pub meta: String,
}

/// What the other side sends without being asked.
#[derive(Debug)]
pub enum Inbound {
    /// A request; answer it with [`Peer::reply`].
    Request {
        id: Json,
        /// What they ask for.
        method: String,
        params: Option<Json>,
        /// The tag of the request of ours that it belongs to, where the transport tells.
        belongs_to: Option<u64>,
    },
    Notification {
        method: String,
        params: Option<Json>,
        /// The tags of the requests of ours that a message may belong to: of one where the
        /// transport tells, else of all that are under way.
        during: Vec<u64>,
    },
    /// Somebody else answers at the server's address than before.
    IdentityChanged,
    /// An answer to a request that was given up, with that request's tag.
    Late {
        /// The tag of the request.
        tag: u64,
        /// The result, or why there is none.
        answer: RequestResult,
    },
}

/// What went past that was no answer to anybody.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Lines that were not messages.
    pub noise: u64,
    /// Answers with an id that we never gave out, or of another type.
    pub unknown_answers: u64,
    /// Answers to requests that were given up.
    pub late_answers: u64,
    /// Requests and notifications that found their queue full.
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
        tokio::spawn(watch_deadlines(Arc::downgrade(&shared)));
        (Self { shared }, queue)
    }

    /// Sets the revision that is spoken from here on.
    pub fn set_protocol(&self, stance: ProtocolState) {
        *self.shared.protocol.lock() = Arc::new(stance);
    }

    /// Has what is told of requests that have a tag heard as it comes, before their answer and with
    /// nothing left out: reports of progress, and messages that belong to one request. Whoever hears
    /// it must not take long.
    ///
    /// Only the first to ask for it hears.
    pub fn observe_notifications(&self, hear: impl Fn(u64, &str, &Json) + Send + Sync + 'static) {
        // A second observer is ignored, as documented.
        _ = self.shared.observer.set(Box::new(hear));
    }

    /// The revision that is spoken.
    #[must_use]
    pub fn protocol(&self) -> Arc<ProtocolState> {
        self.shared.protocol()
    }

    /// Tells the other side something.
    ///
    /// # Errors
    /// When it could not be sent.
    pub async fn notify(&self, method: &str, params: &str) -> Result<(), RequestError> {
        let meta = match self.shared.protocol() {
            stance if stance.revision.era() == Era::Modern => stance.meta.clone(),
            _ => String::new(),
        };
        self.send_text(envelope::notification_text(method, params, &meta), method).await
    }

    /// Answers a request of the other side.
    ///
    /// # Errors
    /// When it could not be sent.
    pub async fn reply(
        &self,
        id: &Json,
        answer: Result<&str, RpcError>,
    ) -> Result<(), RequestError> {
        let text = envelope::response_text(id, answer.as_ref().copied());
        self.send_text(text, "").await
    }

    /// Refuses a request of the other side, without waiting for the answer to leave.
    pub fn refuse(&self, id: Json, why: RpcError) {
        self.shared.spawn_reply(id, Err(why));
    }

    async fn send_text(&self, text: String, method: &str) -> Result<(), RequestError> {
        match &self.shared.link {
            PeerLink::Stream(outbox) => {
                let pushing = outbox.push_when_room(into_line(text));
                match tokio::time::timeout(SEND_TIMEOUT, pushing).await {
                    Ok(Ok(_)) => Ok(()),
                    _ => Err(RequestError::NotSent("the server does not read".to_owned())),
                }
            }
            PeerLink::Http(link) => {
                // Boxed: the future is large, and all who tell something would be as large.
                let telling = Box::pin(link.send_message(&self.shared, text, method));
                tokio::time::timeout(SEND_TIMEOUT, telling).await.unwrap_or_else(|_| {
                    Err(RequestError::Unknown("the server does not take messages".to_owned()))
                })
            }
        }
    }

    /// Ends the connection politely, then for good.
    pub async fn shutdown(&self, reason: &str) {
        if !self.is_closed() {
            match &self.shared.link {
                PeerLink::Stream(outbox) => outbox.flush(CLOSE_GRACE).await,
                PeerLink::Http(link) => link.end_session(&self.shared).await,
            }
        }
        self.close(reason);
    }

    /// Ends the connection at once; everyone who waits is told `reason`.
    pub fn close(&self, reason: &str) {
        self.shared.close(reason);
    }

    /// Whether the connection is over.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.shared.over.is_cancelled()
    }

    /// Waits until the connection is over and says why it is.
    pub async fn wait_until_closed(&self) -> CloseReason {
        self.shared.over.cancelled().await;
        self.shared.in_flight.close_reason().unwrap_or_else(|| CloseReason("closed".to_owned()))
    }

    /// How many requests wait for an answer.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.shared.in_flight.len()
    }

    /// The tags of the requests that wait and have one.
    #[must_use]
    pub fn tags(&self) -> Vec<u64> {
        self.shared.in_flight.tags()
    }

    /// Makes the wait of every request start again, as progress does: for when the other side has
    /// to wait for us. Says how many requests wait.
    #[expect(clippy::must_use_candidate, reason = "the number is a by-product")]
    pub fn renew_waits(&self) -> usize {
        self.shared.in_flight.renew_deadlines()
    }

    /// What went past that was no answer to anybody.
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
        // First the queue: who is told that its request was still in it must be right for good.
        if let PeerLink::Stream(outbox) = &self.link {
            outbox.close();
        }
        if self.in_flight.close(&CloseReason(reason.to_owned())) {
            self.over.cancel();
        }
    }

    /// Answers on a task of its own: the reader must not wait for room to write.
    pub(crate) fn spawn_reply(self: &Arc<Self>, id: Json, answer: Result<&'static str, RpcError>) {
        let Ok(turn) = Arc::clone(&self.refusals).try_acquire_owned() else {
            self.counts.dropped.fetch_add(1, Ordering::Relaxed);
            return;
        };
        let peer = Peer { shared: Arc::clone(self) };
        tokio::spawn(async move {
            // If the connection has ended, so has the request.
            _ = peer.reply(&id, answer).await;
            drop(turn);
        });
    }
}

/// A peer that is closed when it is dropped, unless it is kept: for those who may be interrupted.
#[derive(Debug)]
pub struct TentativePeer(Option<Peer>);

impl TentativePeer {
    /// Holds a peer until it is clear whether it is wanted.
    #[must_use]
    pub const fn new(peer: Peer) -> Self {
        Self(Some(peer))
    }

    /// The peer is wanted.
    pub fn keep(mut self) {
        self.0 = None;
    }
}

impl Drop for TentativePeer {
    fn drop(&mut self) {
        if let Some(peer) = &self.0 {
            peer.close("the connection was not wanted");
        }
    }
}

/// Watches the deadlines of all requests until the peer is gone.
///
/// A timer per request would cost more than the rest of its bookkeeping; nearly all requests are
/// answered long before their deadline.
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

    /// The other side reads nothing, so that every answer waits for room.
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
        // Once somebody reads, there is room again.
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
