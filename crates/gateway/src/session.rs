//! Sessions of legacy HTTP clients.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use switchboard_core::random_token;
use switchboard_wire::{Json, ResponseBody, RpcError};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::client::{McpClient, answered_elsewhere_error};
use crate::reply::{internal_error, notification, request};

/// Maximum messages queued for a client without an open stream.
const MAX_QUEUED_MESSAGES: usize = 64;
/// How long an unused session is kept.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60 * 60);
/// Maximum number of sessions; further ones are rejected.
const MAX_SESSIONS: usize = 10_000;
/// How long a new session may be unused before it has to make room for others.
const UNUSED_GRACE: Duration = Duration::from_secs(5);
/// Number of messages by which a session counts as used: `notifications/initialized` is the first.
const USED: u64 = 2;

/// The limit that prevents another session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionLimit {
    PerCaller,
    Total,
}

/// A session of a legacy HTTP client.
pub(crate) struct LegacySession {
    pub(crate) id: String,
    /// The authenticated identity that opened the session. `client` changes, this does not.
    identity: Arc<str>,
    client: Mutex<Arc<McpClient>>,
    /// Cancels everything that belongs to the session.
    pub(crate) ended: CancellationToken,
    /// The client's requests in flight, by the JSON text of their id.
    pub(crate) running: Mutex<HashMap<String, CancellationToken>>,
    next_ask: AtomicU64,
    asks: Mutex<HashMap<u64, oneshot::Sender<Result<Json, RpcError>>>>,
    stream: Mutex<SessionStream>,
    opened: Instant,
    last_used: Mutex<Instant>,
    /// Number of messages that named the session.
    uses: AtomicU64,
}

/// The stream for messages that belong to no request.
#[derive(Default)]
struct SessionStream {
    sender: Option<mpsc::Sender<String>>,
    queued: VecDeque<String>,
    /// Number of requests whose answers are sent on the stream.
    answering: usize,
    /// Whether the stream closes after the last of those answers.
    ending: bool,
}

impl SessionStream {
    fn end_if_done(&mut self) {
        if self.ending && self.answering == 0 {
            self.sender = None;
        }
    }
}

impl LegacySession {
    pub(crate) fn client(&self) -> Arc<McpClient> {
        Arc::clone(&self.client.lock())
    }

    /// Replaces the client after `initialize`, which declares its name and capabilities.
    pub(crate) fn set_client(&self, client: Arc<McpClient>) {
        *self.client.lock() = client;
    }

    /// Asks the client on the stream of one of its own requests, until `needless` completes.
    pub(crate) async fn ask(
        &self,
        messages: &mpsc::Sender<String>,
        method: &str,
        params: &str,
        needless: impl Future<Output = ()>,
    ) -> Result<Json, RpcError> {
        let gone = || internal_error("the client has disconnected");
        let id = self.next_ask.fetch_add(1, Ordering::Relaxed);
        let (settle, answer) = oneshot::channel();
        // Registered before it is sent: the answer may arrive before `send` returns.
        self.asks.lock().insert(id, settle);
        let _forget = AskGuard { session: self, id };
        messages.send(request(id, method, params)).await.map_err(|_| gone())?;
        tokio::select! {
            answer = answer => answer.unwrap_or_else(|_| Err(gone())),
            () = messages.closed() => Err(gone()),
            () = self.ended.cancelled() => Err(gone()),
            () = needless => {
                let params = format!(r#"{{"requestId":{id},"reason":"no longer needed"}}"#);
                // A failed send means that the client has disconnected.
                _ = messages.send(notification("notifications/cancelled", &params)).await;
                Err(answered_elsewhere_error())
            }
        }
    }

    /// Resolves a request to the client with its answer.
    pub(crate) fn resolve_ask(&self, id: Option<u64>, answer: ResponseBody) {
        let waiting = id.and_then(|id| self.asks.lock().remove(&id));
        let Some(waiting) = waiting else { return };
        let answer = match answer {
            ResponseBody::Result(result) => Ok(result),
            ResponseBody::Error(error) => Err(error),
            ResponseBody::Broken(why) => Err(internal_error(why)),
        };
        // The call that asked may have ended.
        _ = waiting.send(answer);
    }

    /// Sends a message outside of any request, or queues it until the client opens a stream.
    pub(crate) fn send(&self, message: String) {
        let mut voice = self.stream.lock();
        let message = match &voice.sender {
            Some(stream) => match stream.try_send(message) {
                Ok(()) => return,
                // Waiting would hold up all other clients; a slow reader loses notifications.
                Err(mpsc::error::TrySendError::Full(_)) => return,
                Err(mpsc::error::TrySendError::Closed(message)) => message,
            },
            None => message,
        };
        voice.sender = None;
        queue_message(&mut voice.queued, message);
    }

    /// Sends a message that must not be dropped, even if the client reads slowly.
    pub(crate) async fn send_reliably(&self, message: String) {
        let stream = self.stream.lock().sender.clone();
        match stream {
            // A failed send means that the client has disconnected.
            Some(stream) => _ = stream.send(message).await,
            None => self.send(message),
        }
    }

    /// Closes the stream after the pending answers.
    pub(crate) fn end_stream(&self) {
        let mut voice = self.stream.lock();
        voice.ending = true;
        voice.end_if_done();
    }

    /// Closes the stream unless an answer is pending. The client may open another one.
    fn end_idle_stream(&self) {
        let mut voice = self.stream.lock();
        if voice.answering == 0 {
            voice.sender = None;
        }
    }

    /// Keeps the stream open for an answer until the result is dropped.
    pub(crate) fn hold_stream(self: &Arc<Self>) -> StreamHold {
        self.stream.lock().answering += 1;
        StreamHold { session: Arc::clone(self) }
    }

    /// Opens the stream; queued messages come first.
    pub(crate) fn open_stream(&self) -> mpsc::Receiver<String> {
        let (stream, messages) = mpsc::channel(MAX_QUEUED_MESSAGES * 2);
        let mut voice = self.stream.lock();
        for message in voice.queued.drain(..) {
            // The channel has room for all queued messages.
            _ = stream.try_send(message);
        }
        voice.sender = Some(stream);
        messages
    }
}

const LOG_MESSAGE_PREFIX: &str = r#"{"jsonrpc":"2.0","method":"notifications/message""#;

/// Queues a message, if there is room. Log messages are dropped in favour of others: a client that
/// misses a list change continues with a stale list.
fn queue_message(waiting: &mut VecDeque<String>, message: String) {
    let is_log = |message: &String| message.starts_with(LOG_MESSAGE_PREFIX);
    // A second notification about the same list would only make the client list it twice.
    if !is_log(&message) && waiting.contains(&message) {
        return;
    }
    if waiting.len() >= MAX_QUEUED_MESSAGES {
        let oldest = waiting.iter().position(is_log).filter(|_| !is_log(&message));
        let Some(oldest) = oldest else { return };
        waiting.remove(oldest);
    }
    waiting.push_back(message);
}

pub(crate) struct StreamHold {
    session: Arc<LegacySession>,
}

impl Drop for StreamHold {
    fn drop(&mut self) {
        let mut voice = self.session.stream.lock();
        voice.answering -= 1;
        voice.end_if_done();
    }
}

struct AskGuard<'a> {
    session: &'a LegacySession,
    id: u64,
}

impl Drop for AskGuard<'_> {
    fn drop(&mut self) {
        self.session.asks.lock().remove(&self.id);
    }
}

pub(crate) struct LegacySessions {
    by_id: Mutex<HashMap<String, Arc<LegacySession>>>,
    max_per_caller: usize,
}

impl LegacySessions {
    pub(crate) fn new(max_per_caller: usize) -> Self {
        Self { by_id: Mutex::default(), max_per_caller }
    }

    pub(crate) fn open(&self, client: Arc<McpClient>) -> Result<Arc<LegacySession>, SessionLimit> {
        let mut sessions = self.by_id.lock();
        let identity = Arc::clone(&client.identity);
        let room = |sessions: &HashMap<String, Arc<LegacySession>>| {
            let own = sessions.values().filter(|session| session.identity == identity).count();
            match () {
                () if sessions.len() >= MAX_SESSIONS => Err(SessionLimit::Total),
                () if own >= self.max_per_caller => Err(SessionLimit::PerCaller),
                () => Ok(()),
            }
        };
        // Looking for idle sessions takes a pass over all of them, so it waits until one is needed.
        if room(&sessions).is_err() {
            sessions.retain(|_, session| session.is_in_use());
        }
        match room(&sessions) {
            Err(SessionLimit::PerCaller) => {
                evict_unused(&mut sessions, |session| session.identity == identity);
            }
            Err(SessionLimit::Total) => evict_unused(&mut sessions, |_| true),
            Ok(()) => {}
        }
        room(&sessions)?;
        let session = Arc::new(LegacySession {
            id: random_token().ok_or(SessionLimit::Total)?,
            identity,
            client: Mutex::new(client),
            ended: CancellationToken::new(),
            running: Mutex::default(),
            next_ask: AtomicU64::new(1),
            asks: Mutex::default(),
            stream: Mutex::default(),
            opened: Instant::now(),
            last_used: Mutex::new(Instant::now()),
            uses: AtomicU64::new(0),
        });
        sessions.insert(session.id.clone(), Arc::clone(&session));
        Ok(session)
    }

    pub(crate) fn get(&self, id: &str, caller: &str) -> Option<Arc<LegacySession>> {
        let session = self.by_id.lock().get(id).cloned()?;
        // The id alone is no proof: it may have leaked through a log or a proxy.
        if *session.identity != *caller {
            return None;
        }
        *session.last_used.lock() = Instant::now();
        session.uses.fetch_add(1, Ordering::Relaxed);
        Some(session)
    }

    pub(crate) fn close(&self, id: &str) {
        if let Some(session) = self.by_id.lock().remove(id) {
            session.ended.cancel();
        }
    }

    /// Closes the sessions of the callers that `of` selects.
    pub(crate) fn close_where(&self, of: impl Fn(&str) -> bool) {
        self.by_id.lock().retain(|_, session| {
            let ends = of(&session.identity);
            if ends {
                session.ended.cancel();
            }
            !ends
        });
    }

    /// Closes the streams of the callers that `of` selects; their sessions stay.
    pub(crate) fn end_streams(&self, of: impl Fn(&str) -> bool) {
        let all = self.all();
        all.iter().filter(|one| of(&one.identity)).for_each(|one| one.end_idle_stream());
    }

    pub(crate) fn sweep(&self) {
        self.by_id.lock().retain(|_, session| session.is_in_use());
    }

    pub(crate) fn all(&self) -> Vec<Arc<LegacySession>> {
        self.by_id.lock().values().cloned().collect()
    }
}

/// Ends the oldest of the sessions that were opened and never used. A client that opens sessions
/// and leaves them would otherwise keep all others out until those expire.
fn evict_unused(
    sessions: &mut HashMap<String, Arc<LegacySession>>,
    is_candidate: impl Fn(&LegacySession) -> bool,
) {
    let unused = sessions.values().filter(|session| is_candidate(session) && session.is_unused());
    let mut unused: Vec<(Instant, String)> =
        unused.map(|session| (session.opened, session.id.clone())).collect();
    unused.sort_unstable();
    // Several at once, since every search is a pass over all sessions.
    unused.truncate((sessions.len() / 100).max(1));
    for (_, id) in unused {
        if let Some(session) = sessions.remove(&id) {
            session.ended.cancel();
        }
    }
}

impl LegacySession {
    fn listens(&self) -> bool {
        self.stream.lock().sender.as_ref().is_some_and(|stream| !stream.is_closed())
    }

    /// Returns whether the client has only opened the session, and not just now.
    fn is_unused(&self) -> bool {
        self.uses.load(Ordering::Relaxed) < USED
            && self.opened.elapsed() >= UNUSED_GRACE
            && !self.listens()
    }

    /// Returns whether the session is in use, and ends it if it is not.
    fn is_in_use(&self) -> bool {
        // A client that only listens sends nothing, but still expects notifications.
        let in_use = self.listens() || self.last_used.lock().elapsed() < IDLE_TIMEOUT;
        if !in_use {
            self.ended.cancel();
        }
        in_use
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::{MAX_QUEUED_MESSAGES, queue_message};
    use crate::reply::notification;

    #[test]
    fn what_servers_say_keeps_no_change_of_a_list_from_waiting() {
        let said =
            |number: usize| notification("notifications/message", &format!("{{\"n\":{number}}}"));
        let changed = notification("notifications/tools/list_changed", "");
        let mut waiting = VecDeque::new();
        for number in 0..MAX_QUEUED_MESSAGES + 10 {
            queue_message(&mut waiting, said(number));
        }
        for _ in 0..3 {
            queue_message(&mut waiting, changed.clone());
        }
        queue_message(&mut waiting, said(1_000));
        let expected: Vec<String> = (1..MAX_QUEUED_MESSAGES).map(said).chain([changed]).collect();
        assert_eq!(waiting, expected);
    }
}
