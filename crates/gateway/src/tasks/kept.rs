//! The tasks that were handed out: whose they are, how far they are, and how they ended.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use switchboard_core::{TaskState, random};
use switchboard_wire::{Json, RpcError};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::client::Client;
use crate::relay::Ask;
use crate::session::locked;

/// As many tasks are kept at once, of all callers together.
const MOST: usize = 1_000;
/// How long a task is kept from its beginning, if nobody says.
const USUAL: Duration = Duration::from_secs(10 * 60);
/// The longest that is promised.
const LONGEST: Duration = Duration::from_secs(60 * 60);
/// An end can be fetched for at least so long.
const SHORTEST: Duration = Duration::from_secs(60);
/// How often a client is to ask if the server does not say.
const POLL: Duration = Duration::from_secs(1);

/// One task.
pub(crate) struct Task {
    pub(super) id: String,
    identity: Arc<str>,
    client: u64,
    pub(super) created: SystemTime,
    began: Instant,
    pub(super) ttl: Duration,
    /// Gives the call up.
    pub(super) cancel: CancellationToken,
    state: Mutex<State>,
    changed: watch::Sender<()>,
}

/// How far a task is.
pub(super) struct State {
    pub(super) message: Option<String>,
    pub(super) poll: Duration,
    /// What its server asks, by the keys that the client is given.
    pub(super) asks: Vec<(String, Ask)>,
    pub(super) asked: usize,
    /// How much of it is being put to the client.
    putting: usize,
    pub(super) updated: SystemTime,
    pub(super) end: Option<End>,
    ended: Option<Instant>,
}

impl State {
    /// Whether its server waits for an answer.
    pub(super) fn waits(&self) -> bool {
        self.putting > 0 || !self.asks.is_empty()
    }
}

/// How a task ended.
#[derive(Clone)]
pub(super) enum End {
    /// With a result, which may report a failure.
    Result { text: String, failed: bool },
    /// With an error.
    Error(RpcError),
    /// It was given up.
    Cancelled,
}

/// All tasks.
pub(crate) struct Tasks {
    by_id: Mutex<HashMap<String, Arc<Task>>>,
    most_per_caller: usize,
}

impl Tasks {
    pub(crate) fn new(most_per_caller: usize) -> Self {
        Self { by_id: Mutex::default(), most_per_caller }
    }

    /// Makes a task for a client, if there is room.
    pub(super) fn make(
        &self,
        client: &Client,
        ttl_ms: Option<u64>,
        cancel: CancellationToken,
    ) -> Option<Arc<Task>> {
        let mut tasks = locked(&self.by_id);
        tasks.retain(|_, task| task.is_wanted());
        let own = tasks.values().filter(|task| task.identity == client.identity).count();
        if tasks.len() >= MOST || own >= self.most_per_caller {
            return None;
        }
        let ttl = ttl_ms.map_or(USUAL, Duration::from_millis).clamp(SHORTEST, LONGEST);
        let now = SystemTime::now();
        let state = State {
            message: None,
            poll: POLL,
            asks: Vec::new(),
            asked: 0,
            putting: 0,
            updated: now,
            end: None,
            ended: None,
        };
        let task = Arc::new(Task {
            id: random::word()?,
            identity: Arc::clone(&client.identity),
            client: client.number,
            created: now,
            began: Instant::now(),
            ttl,
            cancel,
            state: Mutex::new(state),
            changed: watch::Sender::new(()),
        });
        tasks.insert(task.id.clone(), Arc::clone(&task));
        Some(task)
    }

    /// The task of that name, if it belongs to that caller.
    pub(super) fn get(&self, id: &str, client: &Client) -> Option<Arc<Task>> {
        let task = locked(&self.by_id).get(id).cloned()?;
        (task.identity == client.identity).then_some(task)
    }

    /// Those of one client, the oldest first: others of the same machine have their own.
    pub(super) fn of(&self, client: &Client) -> Vec<Arc<Task>> {
        let is_own =
            |task: &&Arc<Task>| task.identity == client.identity && task.client == client.number;
        let mut own: Vec<Arc<Task>> =
            locked(&self.by_id).values().filter(is_own).cloned().collect();
        own.sort_by_key(|task| task.began);
        own
    }

    /// Gives up the tasks of some callers.
    pub(crate) fn give_up(&self, of: impl Fn(&str) -> bool) {
        locked(&self.by_id).retain(|_, task| {
            let ends = of(&task.identity);
            if ends {
                task.cancel.cancel();
            }
            !ends
        });
    }

    /// Forgets what ended and was kept for long enough.
    pub(crate) fn sweep(&self) {
        locked(&self.by_id).retain(|_, task| task.is_wanted());
    }
}

impl Task {
    /// Looks at how far it is.
    pub(super) fn look<T>(&self, look: impl FnOnce(&State) -> T) -> T {
        look(&locked(&self.state))
    }

    /// Changes how far it is, and tells those who wait for that.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let mut state = locked(&self.state);
        state.updated = SystemTime::now();
        let changed = change(&mut state);
        if state.end.is_some() && state.ended.is_none() {
            state.ended = Some(Instant::now());
            state.asks.clear();
        }
        drop(state);
        self.changed.send_replace(());
        changed
    }

    /// Takes something that its server asks, to be put to the client.
    pub(super) fn take_ask(&self) -> Option<(String, Ask)> {
        let mut state = locked(&self.state);
        let ask = state.asks.pop()?;
        state.putting += 1;
        Some(ask)
    }

    /// What was taken has been put to the client.
    pub(super) fn was_put(&self) {
        self.change(|state| state.putting -= 1);
    }

    /// What was taken could not be put to the client: it waits for the next one who comes.
    pub(super) fn give_back(&self, ask: (String, Ask)) {
        self.change(|state| {
            state.putting -= 1;
            if state.end.is_none() {
                state.asks.push(ask);
            }
        });
    }

    /// Waits for changes from here on.
    pub(super) fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// What the server says of its own task.
    pub(super) fn says(&self, said: &TaskState) {
        self.change(|state| {
            state.message.clone_from(&said.message);
            state.poll = said.poll.unwrap_or(state.poll);
        });
    }

    /// Gives the answers that its server waits for; others are left alone.
    pub(super) fn answer(&self, mut given: impl FnMut(&str) -> Option<Json>) {
        self.change(|state| {
            let asks = std::mem::take(&mut state.asks);
            for (key, ask) in asks {
                match given(&key) {
                    // The server may have lost its patience.
                    Some(answer) => {
                        ask.answer.send(Ok(answer)).ok();
                    }
                    None => state.asks.push((key, ask)),
                }
            }
        });
    }

    fn is_wanted(&self) -> bool {
        self.look(|state| {
            let fresh = state.ended.is_none_or(|ended| ended.elapsed() < SHORTEST);
            fresh || self.began.elapsed() < self.ttl
        })
    }
}
