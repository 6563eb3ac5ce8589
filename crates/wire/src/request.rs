//! The life of one request: delivery, progress, answer, cancellation and deadlines.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::value::RawValue;
use switchboard_json::Json;
use tokio::sync::{mpsc, oneshot};

use crate::envelope;
use crate::error::RequestError;
use crate::in_flight::{PendingRequest, RequestDeadlines, RequestResult};
use crate::outbox::{OutgoingMessage, PushError, WriteProgress};
use crate::peer::{Peer, PeerLink};
use crate::revision::Era;

/// A request to send.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    pub method: &'a str,
    /// The parameters: the text of a JSON object, or empty.
    pub params: &'a str,
    /// Maximum time without progress.
    pub idle: Duration,
    /// Maximum time in total.
    pub total: Duration,
    /// Receiver of progress reports. If set, each report restarts the idle deadline.
    pub progress: Option<mpsc::Sender<Json>>,
    /// A number chosen by the caller, returned with a late answer.
    pub tag: u64,
    /// The name of the target, for the `Mcp-Name` header.
    pub name: Option<&'a str>,
    pub headers: &'a [(String, String)],
    /// Members of `_meta` that override those of the connection. Ignored on legacy connections.
    pub meta: &'a [(&'static str, String)],
    /// Additional members of `_meta`, as JSON text without braces. They must not duplicate others.
    pub further_meta: &'a str,
}

impl<'a> Request<'a> {
    /// Creates a request whose idle and total deadlines are `timeout`.
    #[must_use]
    pub const fn new(method: &'a str, params: &'a str, timeout: Duration) -> Self {
        Self {
            method,
            params,
            idle: timeout,
            total: timeout,
            progress: None,
            tag: 0,
            name: None,
            headers: &[],
            meta: &[],
            further_meta: "",
        }
    }
}

impl Peer {
    /// Sends a request and waits for its answer. Deadlines fire whatever the other side does.
    ///
    /// Dropping the future abandons the request and notifies the other side. An error says whether
    /// the request may have run.
    pub async fn request(&self, request: Request<'_>) -> RequestResult {
        let shared = &*self.shared;
        let id = shared.next_id();
        let (settle, mut answer) = oneshot::channel();
        let waiting = PendingRequest {
            settle,
            progress: request.progress.clone(),
            deadlines: RequestDeadlines::start(request.idle, request.total),
            tag: request.tag,
        };
        shared.in_flight.insert(id, waiting).map_err(|reason| RequestError::NotSent(reason.0))?;
        let open = OpenRequest::new(self, id, &request);
        let settled = {
            let deliver = open.deliver(&request);
            tokio::pin!(deliver);
            // Over HTTP, the delivery may return the answer.
            let delivered = tokio::select! {
                biased;
                answered = &mut answer => Err(answered.ok()),
                delivered = &mut deliver => Ok(delivered),
            };
            match delivered {
                Ok(Ok(DeliveryResult::Elsewhere)) => (&mut answer).await.ok().map(WaitEnd::Table),
                Ok(Ok(DeliveryResult::Answered(result))) => Some(WaitEnd::Delivery(Ok(result))),
                Ok(Err(error)) => Some(WaitEnd::Delivery(Err(error))),
                Err(answered) => answered.map(WaitEnd::Table),
            }
        };
        // Drop the receiver before the table drops the sender, to avoid a spurious wake-up.
        drop(answer);
        open.finish(settled)
    }
}

/// Placeholder for the queue number of a request that is not queued.
const NOT_QUEUED: u64 = u64::MAX;

/// A request in the table. Dropping it unsettled abandons the request.
struct OpenRequest<'p> {
    peer: &'p Peer,
    id: u64,
    number: AtomicU64,
    tells_when_dropped: bool,
    done: bool,
}

pub(crate) enum DeliveryResult {
    /// The delivery returned it.
    Answered(Json),
    /// It will arrive through the table of requests in flight.
    Elsewhere,
}

enum WaitEnd {
    /// An answer or a timeout through the table of requests in flight.
    Table(RequestResult),
    /// The delivery, with an answer or an error.
    Delivery(RequestResult),
}

impl<'p> OpenRequest<'p> {
    fn new(peer: &'p Peer, id: u64, request: &Request<'_>) -> Self {
        // The protocol does not allow a handshake to be cancelled.
        let tells_when_dropped = !matches!(request.method, "initialize" | "server/discover");
        Self { peer, id, number: AtomicU64::new(NOT_QUEUED), tells_when_dropped, done: false }
    }

    async fn deliver(&self, request: &Request<'_>) -> Result<DeliveryResult, RequestError> {
        let shared = &self.peer.shared;
        let turn = match &shared.link {
            PeerLink::Stream(outbox) => {
                let turn = outbox.acquire_turn(request.params.len()).await;
                turn.map_err(|_| self.connection_lost())?
            }
            PeerLink::Http(_) => None,
        };
        let stance = shared.protocol();
        let meta =
            with_further_meta(replace_meta(&stance.meta, request.meta), request.further_meta);
        // The id doubles as the token: both are unique among the requests in flight.
        let meta = match request.progress {
            Some(_) => {
                let comma = if meta.is_empty() { "" } else { "," };
                Cow::Owned(format!(r#""progressToken":{}{comma}{meta}"#, self.id))
            }
            None => meta,
        };
        let text = envelope::request_text(self.id, request.method, request.params, &meta);
        match &shared.link {
            PeerLink::Stream(outbox) => {
                let pushed = match outbox.push(OutgoingMessage::new(into_line(text), turn)) {
                    Err(PushError::Full(line)) => outbox.push_when_room(line).await,
                    pushed => pushed,
                };
                let number = pushed.map_err(|_| self.connection_lost())?;
                self.number.store(number, Ordering::Relaxed);
                Ok(DeliveryResult::Elsewhere)
            }
            // Boxed, since the future is large and most requests do not need it.
            PeerLink::Http(link) => Box::pin(link.exchange(shared, self.id, text, request)).await,
        }
    }

    fn progress(&self) -> WriteProgress {
        match &self.peer.shared.link {
            PeerLink::Stream(outbox) => outbox.progress(self.number.load(Ordering::Relaxed)),
            PeerLink::Http(_) => WriteProgress::Written,
        }
    }

    /// Returns the error for a closed connection, by how much of the request was written.
    fn connection_lost(&self) -> RequestError {
        let reason = self.peer.shared.in_flight.close_reason();
        let reason = reason.map_or_else(|| "the connection is closed".to_owned(), |why| why.0);
        match self.progress() {
            WriteProgress::Queued => RequestError::NotSent(reason),
            WriteProgress::Writing | WriteProgress::Written => RequestError::Unknown(reason),
        }
    }

    fn finish(mut self, settled: Option<WaitEnd>) -> RequestResult {
        match settled {
            None => {
                self.done = true;
                Err(self.connection_lost())
            }
            Some(WaitEnd::Table(Err(RequestError::TimedOut(waited)))) => {
                Err(self.timed_out(waited))
            }
            Some(WaitEnd::Table(settled)) => {
                self.done = true;
                settled
            }
            Some(WaitEnd::Delivery(settled)) => {
                self.done = true;
                self.peer.shared.in_flight.forget(self.id);
                settled
            }
        }
    }

    fn timed_out(&mut self, waited: Duration) -> RequestError {
        let PeerLink::Stream(outbox) = &self.peer.shared.link else {
            return RequestError::TimedOut(waited);
        };
        let number = self.number.load(Ordering::Relaxed);
        // Removing it from the queue proves that the writer never had it.
        if number == NOT_QUEUED || outbox.cancel(number) {
            self.done = true;
            return RequestError::NotSent("the server has not read earlier messages".to_owned());
        }
        match outbox.progress(number) {
            WriteProgress::Queued | WriteProgress::Writing => {
                // The server could not parse anything after a partial message.
                self.peer.close("the server stopped reading in the middle of a message");
                RequestError::Unknown("the server stopped reading in the middle of it".to_owned())
            }
            WriteProgress::Written => RequestError::TimedOut(waited),
        }
    }
}

impl Drop for OpenRequest<'_> {
    fn drop(&mut self) {
        if self.done {
            return;
        }
        let shared = &self.peer.shared;
        let number = self.number.load(Ordering::Relaxed);
        match &shared.link {
            PeerLink::Stream(outbox) if number == NOT_QUEUED || outbox.cancel(number) => {
                shared.in_flight.forget(self.id);
                return;
            }
            PeerLink::Stream(_) | PeerLink::Http(_) => shared.in_flight.abandon(self.id),
        }
        if !self.tells_when_dropped || self.peer.is_closed() {
            return;
        }
        let params = format!(r#"{{"requestId":{},"reason":"cancelled"}}"#, self.id);
        match &shared.link {
            PeerLink::Stream(outbox) => {
                let text = envelope::notification_text("notifications/cancelled", &params, "");
                // With a full queue the server does not read, so it would not read this either.
                _ = outbox.push(into_line(text));
            }
            // A modern HTTP server detects the cancellation by the closed stream.
            PeerLink::Http(_) if shared.protocol().revision.era() == Era::Modern => {}
            PeerLink::Http(_) => {
                let peer = self.peer.clone();
                if let Ok(runtime) = tokio::runtime::Handle::try_current() {
                    // Best effort: the request has been given up whether or not this arrives.
                    runtime.spawn(async move {
                        peer.notify("notifications/cancelled", &params).await.ok()
                    });
                }
            }
        }
    }
}

/// Overrides members of `_meta`. Does nothing on a legacy connection, where `meta` is empty.
fn replace_meta<'m>(meta: &'m str, others: &[(&'static str, String)]) -> Cow<'m, str> {
    if others.is_empty() || meta.is_empty() {
        return Cow::Borrowed(meta);
    }
    let whole = format!("{{{meta}}}");
    let members: BTreeMap<String, &RawValue> = serde_json::from_str(&whole).unwrap_or_default();
    let kept = members.iter().filter(|(name, _)| others.iter().all(|(other, _)| other != name));
    let kept = kept.map(|(name, value)| format!(r#""{name}":{}"#, value.get()));
    let put = others.iter().map(|(name, value)| format!(r#""{name}":{value}"#));
    Cow::Owned(kept.chain(put).collect::<Vec<_>>().join(","))
}

fn with_further_meta<'m>(meta: Cow<'m, str>, further: &'m str) -> Cow<'m, str> {
    match (meta.is_empty(), further.is_empty()) {
        (_, true) => meta,
        (true, false) => Cow::Borrowed(further),
        (false, false) => Cow::Owned(format!("{meta},{further}")),
    }
}

/// Converts a message into one line. Line breaks occur only between tokens, so spaces are as good.
pub(crate) fn into_line(text: String) -> Vec<u8> {
    let mut line = text.into_bytes();
    if memchr::memchr2(b'\n', b'\r', &line).is_some() {
        for byte in &mut line {
            if matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
    }
    line.push(b'\n');
    line
}
