//! One request: delivered, followed, answered or given up, and never waited for beyond its time.

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

/// A request to make.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// What to ask for.
    pub method: &'a str,
    /// With what: the text of a JSON object, or nothing.
    pub params: &'a str,
    /// How long to wait without hearing anything of it.
    pub idle: Duration,
    /// How long to wait in all.
    pub total: Duration,
    /// Where progress goes; with it, progress makes the wait start again.
    pub progress: Option<mpsc::Sender<Json>>,
    /// A number of the caller's choice, given back with a late answer.
    pub tag: u64,
    /// What the request is about, for the `Mcp-Name` header.
    pub name: Option<&'a str>,
    pub headers: &'a [(String, String)],
    /// Members of `_meta` in place of those that every request of a modern connection has.
    pub meta: &'a [(&'static str, String)],
    /// Further members of `_meta`, as JSON text without braces; none of them may be among ours.
    pub further_meta: &'a str,
}

impl<'a> Request<'a> {
    /// A request that waits for `timeout`.
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
    /// Asks, and waits for the answer within the request's time, whatever the other side does.
    ///
    /// Dropping the future gives the request up and tells the other side.
    ///
    /// # Errors
    /// When there is no result; the error says whether the request may have run.
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
            // Whichever comes first: the delivery may bring the answer itself.
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
        // Before the table lets go of its end: that would wake us for nothing.
        drop(answer);
        open.finish(settled)
    }
}

/// The number of a request that has no place in the queue.
const NOT_QUEUED: u64 = u64::MAX;

/// A request that has been entered and must be settled, or given up when it is dropped.
struct OpenRequest<'p> {
    peer: &'p Peer,
    id: u64,
    number: AtomicU64,
    tells_when_dropped: bool,
    done: bool,
}

/// Where the answer comes from once a request was delivered.
pub(crate) enum DeliveryResult {
    /// It came back with the delivery.
    Answered(Json),
    /// It will come through the table of open requests.
    Elsewhere,
}

/// What ended the wait.
enum WaitEnd {
    /// An answer through the table of open requests.
    Table(RequestResult),
    /// The delivery itself brought the answer, or failed.
    Delivery(RequestResult),
}

impl<'p> OpenRequest<'p> {
    fn new(peer: &'p Peer, id: u64, request: &Request<'_>) -> Self {
        // A handshake cannot be cancelled by the protocol's rules.
        let tells_when_dropped = !matches!(request.method, "initialize" | "server/discover");
        Self { peer, id, number: AtomicU64::new(NOT_QUEUED), tells_when_dropped, done: false }
    }

    async fn deliver(&self, request: &Request<'_>) -> Result<DeliveryResult, RequestError> {
        let shared = &self.peer.shared;
        let turn = match &shared.link {
            PeerLink::Stream(outbox) => outbox
                .acquire_turn(request.params.len())
                .await
                .map_err(|_| self.connection_lost())?,
            PeerLink::Http(_) => None,
        };
        let stance = shared.protocol();
        let meta =
            with_further_meta(replace_meta(&stance.meta, request.meta), request.further_meta);
        let text = if request.progress.is_some() {
            let comma = if meta.is_empty() { "" } else { "," };
            let meta = format!(r#""progressToken":{}{comma}{meta}"#, self.id);
            envelope::request_text(self.id, request.method, request.params, &meta)
        } else {
            envelope::request_text(self.id, request.method, request.params, &meta)
        };
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
            // Boxed: the future is large, and most requests do not need it.
            PeerLink::Http(link) => Box::pin(link.exchange(shared, self.id, text, request)).await,
        }
    }

    /// How far the request got on its way out.
    fn progress(&self) -> WriteProgress {
        match &self.peer.shared.link {
            PeerLink::Stream(outbox) => outbox.progress(self.number.load(Ordering::Relaxed)),
            PeerLink::Http(_) => WriteProgress::Written,
        }
    }

    /// What a closed connection means for this request.
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
        // Taking it back is the proof: the writer can not have it as well.
        if number == NOT_QUEUED || outbox.cancel(number) {
            self.done = true;
            return RequestError::NotSent("the server did not read what came before".to_owned());
        }
        match outbox.progress(number) {
            WriteProgress::Queued | WriteProgress::Writing => {
                // Half a message is in the pipe: nothing after it would be understood.
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
                // With the queue full the server does not read; it would not read this either.
                _ = outbox.push(into_line(text));
            }
            // A modern HTTP server learns it from the closed stream.
            PeerLink::Http(_) if shared.protocol().revision.era() == Era::Modern => {}
            PeerLink::Http(_) => {
                let peer = self.peer.clone();
                if let Ok(runtime) = tokio::runtime::Handle::try_current() {
                    runtime.spawn(async move {
                        peer.notify("notifications/cancelled", &params).await.ok()
                    });
                }
            }
        }
    }
}

/// The members of a `_meta`, with others in their place; a legacy connection has none to replace.
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

/// The same with further members behind it.
fn with_further_meta<'m>(meta: Cow<'m, str>, further: &'m str) -> Cow<'m, str> {
    match (meta.is_empty(), further.is_empty()) {
        (_, true) => meta,
        (true, false) => Cow::Borrowed(further),
        (false, false) => Cow::Owned(format!("{meta},{further}")),
    }
}

/// A message as one line: line breaks between its tokens are as good as spaces.
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
