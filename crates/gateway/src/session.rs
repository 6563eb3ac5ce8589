//! What we remember about one HTTP client of the legacy era.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use switchboard_core::random;
use switchboard_wire::envelope::Answer;
use switchboard_wire::{Json, RpcError};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::client::{Client, answered_elsewhere};
use crate::envelope::{notification, request};

/// As many messages wait for a client that has no stream open.
const WAITING: usize = 64;
/// A session that is not used for so long is forgotten.
const IDLE: Duration = Duration::from_secs(60 * 60);
/// As many sessions are kept; beyond, new ones are refused.
const MOST: usize = 10_000;

/// Why there is no room for another session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoRoom {
    /// The caller has as many as it may.
    OfCaller,
    /// All callers together have.
    AtAll,
}

/// One HTTP client of the legacy era.
pub(crate) struct Session {
    pub(crate) id: String,
    /// Whose it is, whatever it says of itself later.
    identity: Arc<str>,
    client: Mutex<Arc<Client>>,
    /// Ends everything that belongs to the session.
    pub(crate) over: CancellationToken,
    /// Requests of the client that can be cancelled, by the text of their id.
    pub(crate) running: Mutex<HashMap<String, CancellationToken>>,
    next_ask: AtomicU64,
    asks: Mutex<HashMap<u64, oneshot::Sender<Result<Json, RpcError>>>>,
    voice: Mutex<Voice>,
    used: Mutex<Instant>,
}

/// How a client is reached outside of its requests.
#[derive(Default)]
struct Voice {
    stream: Option<mpsc::Sender<String>>,
    waiting: VecDeque<String>,
    /// Requests whose answers come on the stream.
    answering: usize,
    /// The stream ends with the last of them.
    ending: bool,
}

impl Voice {
    fn end_if_done(&mut self) {
        if self.ending && self.answering == 0 {
            self.stream = None;
        }
    }
}

impl Session {
    /// Who it is.
    pub(crate) fn client(&self) -> Arc<Client> {
        Arc::clone(&locked(&self.client))
    }

    /// From here on it is somebody who said more about itself.
    pub(crate) fn introduce(&self, client: Arc<Client>) {
        *locked(&self.client) = client;
    }

    /// Asks the client in the middle of one of its requests, until that is `needless`.
    pub(crate) async fn ask(
        &self,
        messages: &mpsc::Sender<String>,
        (method, params): (&str, &str),
        needless: impl Future<Output = ()>,
    ) -> Result<Json, RpcError> {
        let gone = || RpcError::new(RpcError::INTERNAL_ERROR, "the client is gone");
        let id = self.next_ask.fetch_add(1, Ordering::Relaxed);
        let (settle, answer) = oneshot::channel();
        locked(&self.asks).insert(id, settle);
        let _forget = Forget { session: self, id };
        messages.send(request(id, method, params)).await.map_err(|_| gone())?;
        tokio::select! {
            answer = answer => answer.unwrap_or_else(|_| Err(gone())),
            () = messages.closed() => Err(gone()),
            () = self.over.cancelled() => Err(gone()),
            () = needless => {
                let params = format!(r#"{{"requestId":{id},"reason":"not needed any more"}}"#);
                // A client that is gone needs no news.
                messages.send(notification("notifications/cancelled", &params)).await.ok();
                Err(answered_elsewhere())
            }
        }
    }

    /// Takes the client's answer to something that it was asked.
    pub(crate) fn answered(&self, id: Option<u64>, answer: Answer) {
        let waiting = id.and_then(|id| locked(&self.asks).remove(&id));
        let Some(waiting) = waiting else { return };
        let answer = match answer {
            Answer::Result(result) => Ok(result),
            Answer::Error(error) => Err(error),
            Answer::Broken(why) => Err(RpcError::new(RpcError::INTERNAL_ERROR, why)),
        };
        // Whoever asked may have given up.
        waiting.send(answer).ok();
    }

    /// Says something outside of any request: at once, or when the client listens.
    pub(crate) fn say(&self, message: String) {
        let mut voice = locked(&self.voice);
        let message = match &voice.stream {
            Some(stream) => match stream.try_send(message) {
                Ok(()) => return,
                Err(mpsc::error::TrySendError::Full(_)) => return,
                Err(mpsc::error::TrySendError::Closed(message)) => message,
            },
            None => message,
        };
        voice.stream = None;
        keep(&mut voice.waiting, message);
    }

    /// Says something that must not be lost, however slowly the client reads.
    pub(crate) async fn say_surely(&self, message: String) {
        let stream = locked(&self.voice).stream.clone();
        match stream {
            // A client that is gone needs no news.
            Some(stream) => {
                stream.send(message).await.ok();
            }
            None => self.say(message),
        }
    }

    /// Ends the stream of what is said outside of any request, after the answers that come on it.
    pub(crate) fn end_stream(&self) {
        let mut voice = locked(&self.voice);
        voice.ending = true;
        voice.end_if_done();
    }

    /// Ends the stream unless an answer is to come on it; the client may open another one.
    fn hang_up(&self) {
        let mut voice = locked(&self.voice);
        if voice.answering == 0 {
            voice.stream = None;
        }
    }

    /// Keeps the stream open for an answer until the result is dropped.
    pub(crate) fn answering(self: &Arc<Self>) -> Answering {
        locked(&self.voice).answering += 1;
        Answering { session: Arc::clone(self) }
    }

    /// From here on the client listens; what waited comes first.
    pub(crate) fn listen(&self) -> mpsc::Receiver<String> {
        let (stream, messages) = mpsc::channel(WAITING * 2);
        let mut voice = locked(&self.voice);
        for message in voice.waiting.drain(..) {
            stream.try_send(message).ok();
        }
        voice.stream = Some(stream);
        messages
    }
}

/// What a message of a server begins with.
const LOG: &str = r#"{"jsonrpc":"2.0","method":"notifications/message""#;

/// Lets a message wait, if there is room. What servers say makes room for everything else: a client
/// that misses a change of a list goes on with the old one.
fn keep(waiting: &mut VecDeque<String>, message: String) {
    let is_log = |message: &String| message.starts_with(LOG);
    if !is_log(&message) && waiting.contains(&message) {
        return;
    }
    if waiting.len() >= WAITING {
        let oldest = waiting.iter().position(is_log).filter(|_| !is_log(&message));
        let Some(oldest) = oldest else { return };
        waiting.remove(oldest);
    }
    waiting.push_back(message);
}

/// A request whose answer comes on the stream.
pub(crate) struct Answering {
    session: Arc<Session>,
}

impl Drop for Answering {
    fn drop(&mut self) {
        let mut voice = locked(&self.session.voice);
        voice.answering -= 1;
        voice.end_if_done();
    }
}

/// Takes an ask off the list when nobody waits for it any more.
struct Forget<'a> {
    session: &'a Session,
    id: u64,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        locked(&self.session.asks).remove(&self.id);
    }
}

/// All sessions.
pub(crate) struct Sessions {
    by_id: Mutex<HashMap<String, Arc<Session>>>,
    most_per_caller: usize,
}

impl Sessions {
    pub(crate) fn new(most_per_caller: usize) -> Self {
        Self { by_id: Mutex::default(), most_per_caller }
    }

    /// Opens one, if there is room.
    pub(crate) fn open(&self, client: Arc<Client>) -> Result<Arc<Session>, NoRoom> {
        let mut sessions = locked(&self.by_id);
        let identity = Arc::clone(&client.identity);
        let room = |sessions: &HashMap<String, Arc<Session>>| {
            let own = sessions.values().filter(|session| session.identity == identity).count();
            match () {
                () if sessions.len() >= MOST => Err(NoRoom::AtAll),
                () if own >= self.most_per_caller => Err(NoRoom::OfCaller),
                () => Ok(()),
            }
        };
        if room(&sessions).is_err() {
            sessions.retain(|_, session| session.is_in_use());
            room(&sessions)?;
        }
        let session = Arc::new(Session {
            id: random::word().ok_or(NoRoom::AtAll)?,
            identity,
            client: Mutex::new(client),
            over: CancellationToken::new(),
            running: Mutex::default(),
            next_ask: AtomicU64::new(1),
            asks: Mutex::default(),
            voice: Mutex::default(),
            used: Mutex::new(Instant::now()),
        });
        sessions.insert(session.id.clone(), Arc::clone(&session));
        Ok(session)
    }

    /// The session of that id, if it belongs to that caller.
    pub(crate) fn get(&self, id: &str, caller: &str) -> Option<Arc<Session>> {
        let session = locked(&self.by_id).get(id).cloned()?;
        if *session.identity != *caller {
            return None;
        }
        *locked(&session.used) = Instant::now();
        Some(session)
    }

    /// Ends a session.
    pub(crate) fn close(&self, id: &str) {
        if let Some(session) = locked(&self.by_id).remove(id) {
            session.over.cancel();
        }
    }

    /// Ends all sessions of some callers.
    pub(crate) fn close_all(&self, of: impl Fn(&str) -> bool) {
        locked(&self.by_id).retain(|_, session| {
            let ends = of(&session.identity);
            if ends {
                session.over.cancel();
            }
            !ends
        });
    }

    /// Ends the streams of some callers; their sessions stay.
    pub(crate) fn hang_up(&self, of: impl Fn(&str) -> bool) {
        self.all().iter().filter(|session| of(&session.identity)).for_each(|one| one.hang_up());
    }

    /// Ends what has not been used for long.
    pub(crate) fn sweep(&self) {
        locked(&self.by_id).retain(|_, session| session.is_in_use());
    }

    /// All of them.
    pub(crate) fn all(&self) -> Vec<Arc<Session>> {
        locked(&self.by_id).values().cloned().collect()
    }
}

impl Session {
    fn is_in_use(&self) -> bool {
        let listens = locked(&self.voice).stream.as_ref().is_some_and(|stream| !stream.is_closed());
        let in_use = listens || locked(&self.used).elapsed() < IDLE;
        if !in_use {
            self.over.cancel();
        }
        in_use
    }
}

pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::{WAITING, keep};
    use crate::envelope::notification;

    #[test]
    fn what_servers_say_keeps_no_change_of_a_list_from_waiting() {
        let said =
            |number: usize| notification("notifications/message", &format!("{{\"n\":{number}}}"));
        let changed = notification("notifications/tools/list_changed", "");
        let mut waiting = VecDeque::new();
        for number in 0..WAITING + 10 {
            keep(&mut waiting, said(number));
        }
        for _ in 0..3 {
            keep(&mut waiting, changed.clone());
        }
        keep(&mut waiting, said(1_000));
        let expected: Vec<String> = (1..WAITING).map(said).chain([changed]).collect();
        assert_eq!(waiting, expected);
    }
}
