//! One request: delivered, followed, answered or given up, and never waited for beyond its time.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::value::RawValue;
use tokio::sync::{mpsc, oneshot};

use crate::envelope;
use crate::error::RequestError;
use crate::in_flight::{Clock, Settled, Waiting};
use crate::outbox::{NotTaken, Outgoing, Progress};
use crate::peer::{Link, Peer};
use crate::revision::Era;
use switchboard_json::Json;

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
    /// Further HTTP headers.
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
    pub async fn request(&self, request: Request<'_>) -> Settled {
        let shared = &*self.shared;
        let id = shared.next_id();
        let (settle, mut answer) = oneshot::channel();
        let waiting = Waiting {
            settle,
            progress: request.progress.clone(),
            clock: Clock::start(request.idle, request.total),
            tag: request.tag,
        };
        shared.in_flight.enter(id, waiting).map_err(|reason| RequestError::NotSent(reason.0))?;
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
                Ok(Ok(Delivered::Elsewhere)) => (&mut answer).await.ok().map(By::Table),
                Ok(Ok(Delivered::Answered(result))) => Some(By::Delivery(Ok(result))),
                Ok(Err(error)) => Some(By::Delivery(Err(error))),
                Err(answered) => answered.map(By::Table),
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
pub(crate) enum Delivered {
    /// It came back with the delivery.
    Answered(Json),
    /// It will come through the table of open requests.
    Elsewhere,
}

/// What ended the wait.
enum By {
    /// An answer through the table of open requests.
    Table(Settled),
    /// The delivery itself brought the answer, or failed.
    Delivery(Settled),
}

impl<'p> OpenRequest<'p> {
    fn new(peer: &'p Peer, id: u64, request: &Request<'_>) -> Self {
        // A handshake cannot be cancelled by the protocol's rules.
        let tells_when_dropped = !matches!(request.method, "initialize" | "server/discover");
        let number = AtomicU64::new(NOT_QUEUED);
        Self { peer, id, number, tells_when_dropped, done: false }
    }

    async fn deliver(&self, request: &Request<'_>) -> Result<Delivered, RequestError> {
        let shared = &self.peer.shared;
        let turn = match &shared.link {
            Link::Stream(outbox) => {
                outbox.turn(request.params.len()).await.map_err(|_| self.lost())?
            }
            Link::Http(_) => None,
        };
        let stance = shared.stance();
        let meta = with_further(replaced(&stance.meta, request.meta), request.further_meta);
        let text = if request.progress.is_some() {
            let comma = if meta.is_empty() { "" } else { "," };
            let meta = format!(r#""progressToken":{}{comma}{meta}"#, self.id);
            envelope::request(self.id, request.method, request.params, &meta)
        } else {
            envelope::request(self.id, request.method, request.params, &meta)
        };
        match &shared.link {
            Link::Stream(outbox) => {
                let pushed = match outbox.push(Outgoing::new(as_line(text), turn)) {
                    Err(NotTaken::Full(line)) => outbox.push_soon(line).await,
                    pushed => pushed,
                };
                let number = pushed.map_err(|_| self.lost())?;
                self.number.store(number, Ordering::Relaxed);
                Ok(Delivered::Elsewhere)
            }
            // Boxed: the future is large, and most requests do not need it.
            Link::Http(link) => Box::pin(link.exchange(shared, self.id, text, request)).await,
        }
    }

    /// How far the request got on its way out.
    fn progress(&self) -> Progress {
        match &self.peer.shared.link {
            Link::Stream(outbox) => outbox.progress(self.number.load(Ordering::Relaxed)),
            Link::Http(_) => Progress::Written,
        }
    }

    /// What a closed connection means for this request.
    fn lost(&self) -> RequestError {
        let reason = self.peer.shared.in_flight.closed();
        let reason = reason.map_or_else(|| "the connection is closed".to_owned(), |why| why.0);
        match self.progress() {
            Progress::Queued => RequestError::NotSent(reason),
            Progress::Writing | Progress::Written => RequestError::Unknown(reason),
        }
    }

    fn finish(mut self, settled: Option<By>) -> Settled {
        match settled {
            None => {
                self.done = true;
                Err(self.lost())
            }
            Some(By::Table(Err(RequestError::TimedOut(waited)))) => Err(self.timed_out(waited)),
            Some(By::Table(settled)) => {
                self.done = true;
                settled
            }
            Some(By::Delivery(settled)) => {
                self.done = true;
                self.peer.shared.in_flight.forget(self.id);
                settled
            }
        }
    }

    fn timed_out(&mut self, waited: Duration) -> RequestError {
        let Link::Stream(outbox) = &self.peer.shared.link else {
            return RequestError::TimedOut(waited);
        };
        let number = self.number.load(Ordering::Relaxed);
        // Taking it back is the proof: the writer can not have it as well.
        if number == NOT_QUEUED || outbox.take_back(number) {
            self.done = true;
            return RequestError::NotSent("the server did not read what came before".to_owned());
        }
        match outbox.progress(number) {
            Progress::Queued | Progress::Writing => {
                // Half a message is in the pipe: nothing after it would be understood.
                self.peer.close("the server stopped reading in the middle of a message");
                RequestError::Unknown("the server stopped reading in the middle of it".to_owned())
            }
            Progress::Written => RequestError::TimedOut(waited),
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
            Link::Stream(outbox) if number == NOT_QUEUED || outbox.take_back(number) => {
                shared.in_flight.forget(self.id);
                return;
            }
            Link::Stream(_) | Link::Http(_) => shared.in_flight.abandon(self.id),
        }
        if !self.tells_when_dropped || self.peer.is_closed() {
            return;
        }
        let params = format!(r#"{{"requestId":{},"reason":"cancelled"}}"#, self.id);
        match &shared.link {
            Link::Stream(outbox) => {
                let text = envelope::notification("notifications/cancelled", &params, "");
                // With the queue full the server does not read; it would not read this either.
                outbox.push(as_line(text)).ok();
            }
            // A modern HTTP server learns it from the closed stream.
            Link::Http(_) if shared.stance().revision.era() == Era::Modern => {}
            Link::Http(_) => {
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
fn replaced<'m>(meta: &'m str, others: &[(&'static str, String)]) -> Cow<'m, str> {
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
fn with_further<'m>(meta: Cow<'m, str>, further: &'m str) -> Cow<'m, str> {
    match (meta.is_empty(), further.is_empty()) {
        (_, true) => meta,
        (true, false) => Cow::Borrowed(further),
        (false, false) => Cow::Owned(format!("{meta},{further}")),
    }
}

/// A message as one line: line breaks between its tokens are as good as spaces.
pub(crate) fn as_line(text: String) -> Vec<u8> {
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
