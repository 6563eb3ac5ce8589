//! The tasks of clients: their owners, states and results.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use parking_lot::Mutex;
use switchboard_core::{TaskState, random_token};
use switchboard_wire::{Json, RpcError};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::client::McpClient;
use crate::relay::KeyedAsk;

/// Maximum tasks of all callers together.
const MAX_TASKS: usize = 1_000;
/// Lifetime of a task from its creation if neither client nor server requests one.
const DEFAULT_TTL: Duration = Duration::from_secs(10 * 60);
/// Maximum lifetime that is granted to a task, from its creation.
const MAX_TTL: Duration = Duration::from_secs(60 * 60);
/// Minimum time that a result is kept after the task has ended.
const MIN_RESULT_TTL: Duration = Duration::from_secs(60);
/// Poll interval for the client if the server suggests none.
const DEFAULT_POLL_INTERVAL: Duration = Duration::from_secs(1);

pub(crate) struct ClientTask {
    pub(super) id: String,
    identity: Arc<str>,
    client: u64,
    pub(super) created: SystemTime,
    started_at: Instant,
    pub(super) ttl: Duration,
    pub(super) cancel: CancellationToken,
    state: Mutex<ClientTaskState>,
    changed: watch::Sender<()>,
}

pub(super) struct ClientTaskState {
    pub(super) message: Option<String>,
    pub(super) poll: Duration,
    /// The server's questions, by the keys that the client gets.
    pub(super) asks: Vec<KeyedAsk>,
    pub(super) ask_count: usize,
    /// Number of questions being delivered to the client.
    asks_in_delivery: usize,
    pub(super) updated: SystemTime,
    pub(super) end: Option<ClientTaskEnd>,
    ended_at: Option<Instant>,
}

impl ClientTaskState {
    pub(super) fn needs_input(&self) -> bool {
        self.asks_in_delivery > 0 || !self.asks.is_empty()
    }
}

#[derive(Clone)]
pub(super) enum ClientTaskEnd {
    /// A result, which may be an error result.
    Result {
        text: String,
        failed: bool,
    },
    Error(RpcError),
    Cancelled,
}

pub(crate) struct ClientTasks {
    by_id: Mutex<HashMap<String, Arc<ClientTask>>>,
    max_per_caller: usize,
}

impl ClientTasks {
    pub(crate) fn new(max_per_caller: usize) -> Self {
        Self { by_id: Mutex::default(), max_per_caller }
    }

    /// Creates a task for a client. `None` if a limit is reached.
    pub(super) fn create(
        &self,
        client: &McpClient,
        ttl_ms: Option<u64>,
        cancel: CancellationToken,
    ) -> Option<Arc<ClientTask>> {
        let mut tasks = self.by_id.lock();
        // The sweep may be some seconds away, and expired tasks must not use up the limit.
        tasks.retain(|_, task| task.is_retained());
        let own = tasks.values().filter(|task| task.identity == client.identity).count();
        if tasks.len() >= MAX_TASKS || own >= self.max_per_caller {
            return None;
        }
        let ttl = ttl_ms.map_or(DEFAULT_TTL, Duration::from_millis).clamp(MIN_RESULT_TTL, MAX_TTL);
        let now = SystemTime::now();
        let state = ClientTaskState {
            message: None,
            poll: DEFAULT_POLL_INTERVAL,
            asks: Vec::new(),
            ask_count: 0,
            asks_in_delivery: 0,
            updated: now,
            end: None,
            ended_at: None,
        };
        let task = Arc::new(ClientTask {
            id: random_token()?,
            identity: Arc::clone(&client.identity),
            client: client.number,
            created: now,
            started_at: Instant::now(),
            ttl,
            cancel,
            state: Mutex::new(state),
            changed: watch::Sender::new(()),
        });
        tasks.insert(task.id.clone(), Arc::clone(&task));
        Some(task)
    }

    pub(super) fn get(&self, id: &str, client: &McpClient) -> Option<Arc<ClientTask>> {
        let task = self.by_id.lock().get(id).cloned()?;
        (task.identity == client.identity).then_some(task)
    }

    /// Returns the tasks of one client, oldest first, without those of the same identity's others.
    pub(super) fn list(&self, client: &McpClient) -> Vec<Arc<ClientTask>> {
        let is_own = |task: &&Arc<ClientTask>| {
            task.identity == client.identity && task.client == client.number
        };
        let mut own: Vec<Arc<ClientTask>> =
            self.by_id.lock().values().filter(is_own).cloned().collect();
        own.sort_by_key(|task| task.started_at);
        own
    }

    /// Cancels the tasks of the callers that `of` selects.
    pub(crate) fn cancel_where(&self, of: impl Fn(&str) -> bool) {
        self.by_id.lock().retain(|_, task| {
            let ends = of(&task.identity);
            if ends {
                task.cancel.cancel();
            }
            !ends
        });
    }

    /// Removes tasks that ended and have been kept long enough.
    pub(crate) fn sweep(&self) {
        self.by_id.lock().retain(|_, task| task.is_retained());
    }
}

impl ClientTask {
    pub(super) fn read<T>(&self, look: impl FnOnce(&ClientTaskState) -> T) -> T {
        look(&self.state.lock())
    }

    /// Changes the state and notifies waiters.
    pub(super) fn update<T>(&self, change: impl FnOnce(&mut ClientTaskState) -> T) -> T {
        let mut state = self.state.lock();
        state.updated = SystemTime::now();
        let changed = change(&mut state);
        if state.end.is_some() && state.ended_at.is_none() {
            state.ended_at = Some(Instant::now());
            // Dropped questions fail at their server, which would otherwise keep waiting.
            state.asks.clear();
        }
        // Released first: waiters lock the state as soon as they wake.
        drop(state);
        self.changed.send_replace(());
        changed
    }

    /// Takes a question of the server for delivery to the client.
    pub(super) fn take_ask(&self) -> Option<KeyedAsk> {
        let mut state = self.state.lock();
        let ask = state.asks.pop()?;
        state.asks_in_delivery += 1;
        Some(ask)
    }

    /// Marks a taken question as delivered.
    pub(super) fn ask_delivered(&self) {
        self.update(|state| state.asks_in_delivery -= 1);
    }

    /// Returns a question that could not be delivered, for the next request.
    pub(super) fn return_ask(&self, ask: KeyedAsk) {
        self.update(|state| {
            state.asks_in_delivery -= 1;
            if state.end.is_none() {
                state.asks.push(ask);
            }
        });
    }

    pub(super) fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// Copies the state of the server's task.
    pub(super) fn record_server_state(&self, said: &TaskState) {
        self.update(|state| {
            state.message.clone_from(&said.message);
            state.poll = said.poll.unwrap_or(state.poll);
        });
    }

    /// Replies to the questions that `given` has answers for; the others stay.
    pub(super) fn answer(&self, mut given: impl FnMut(&str) -> Option<Json>) {
        self.update(|state| {
            let asks = std::mem::take(&mut state.asks);
            for keyed in asks {
                match given(&keyed.key) {
                    Some(answer) => keyed.ask.reply(Ok(answer)),
                    None => state.asks.push(keyed),
                }
            }
        });
    }

    fn is_retained(&self) -> bool {
        self.read(|state| {
            // A task that outlived its lifetime leaves its result long enough for one more poll.
            let fresh = state.ended_at.is_none_or(|ended| ended.elapsed() < MIN_RESULT_TTL);
            fresh || self.started_at.elapsed() < self.ttl
        })
    }
}
