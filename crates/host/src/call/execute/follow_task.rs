//! Follows a task to its end: polls it, answers its requests for input, fetches its result.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::pin::Pin;
use std::time::Duration;

use serde_json::json;
use serde_json::value::RawValue;
use switchboard_core::{Event, EventKind, TaskHandle, TaskPlace, TaskState, TaskStatus};
use switchboard_wire::{Era, Json, Peer, Request, RpcError};
use tokio::sync::broadcast;
use tokio::time::{Instant, sleep, timeout_at};

use crate::call::execute::exchange::{MAX_ROUNDS, answer_all};
use crate::call::execute::run::{ExecContext, TaskObserver};
use crate::call::execute::task::TaskSnapshot;
use crate::call::execute::task_connection::{TaskConnectionError, task_connection};
use crate::call::execute::task_requests;
use crate::call::execute::task_requests::TaskRequestError;

/// Minimum and maximum interval between polls.
const POLL_INTERVAL_RANGE: (Duration, Duration) =
    (Duration::from_millis(250), Duration::from_secs(30));
const DEFAULT_POLL_INTERVAL: Duration = Duration::from_secs(2);
/// How long to keep polling a server that does not respond.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(60);
/// Timeout of requests that stay open while the task is followed; `follow` has its own deadline.
const MAX_WAIT: Duration = Duration::from_secs(24 * 3_600);
/// How long fetching the result of a finished task may take.
const FETCH_TIMEOUT: Duration = Duration::from_secs(60);

/// How following a task ended.
#[derive(Debug)]
pub(super) enum TaskEnd {
    Result(Json),
    Failed(RpcError),
    /// Cancelled by the server, not by us.
    Cancelled(Option<String>),
    /// The server no longer knows the task.
    Lost(String),
    /// The server violated the protocol.
    Broken(String),
    /// The server cannot be reached.
    Away(String),
    Running,
}

/// A task to follow, and its context.
pub(super) struct TaskFollower<'a, A> {
    pub(super) place: TaskPlace,
    pub(super) name: &'a str,
    pub(super) task: &'a TaskHandle,
    pub(super) context: &'a ExecContext<'a>,
    pub(super) observer: &'a A,
}

/// Work that runs concurrently with polling.
type SideWork<'a> = Pin<Box<dyn Future<Output = SideResult> + Send + 'a>>;

enum SideResult {
    Result(Result<Json, TaskRequestError>),
    /// The task's requests for input were answered, or failed.
    Answered(Result<(), String>),
}

struct FollowState<'a> {
    side_work: Option<SideWork<'a>>,
    answered: BTreeSet<String>,
    rounds: usize,
    reported: Option<TaskState>,
    reports: u64,
    last_heard: Instant,
}

impl<A: TaskObserver> TaskFollower<'_, A> {
    /// Follows the task until it ends or `end` passes; the first poll happens after `first`.
    pub(super) async fn follow(&self, first: Duration, end: Instant) -> TaskEnd {
        timeout_at(end, self.run(first)).await.unwrap_or(TaskEnd::Running)
    }

    async fn run(&self, first: Duration) -> TaskEnd {
        // Subscribed before the first poll, so that no change is missed in between.
        let mut news = self.context.events.watch_without_calls();
        let mut memory = FollowState {
            side_work: None,
            answered: BTreeSet::new(),
            rounds: 0,
            reported: None,
            reports: 0,
            last_heard: Instant::now(),
        };
        let mut pause = first;
        let listening = self.listen();
        tokio::pin!(listening);
        for look in 0_u64.. {
            tokio::select! {
                aside = await_side_work(&mut memory.side_work) => {
                    memory.side_work = None;
                    if let Some(end) = self.handle_side_result(aside).await {
                        return end;
                    }
                }
                () = self.wait_for_notification(&mut news) => {}
                // Never completes; it only causes the notifications awaited above.
                () = &mut listening => {}
                () = sleep(pause) => {}
            }
            match self.poll(&mut memory).await {
                Ok(poll) => pause = poll_delay(poll.or(self.task.poll), &self.task.id, look),
                Err(end) => return end,
            }
        }
        TaskEnd::Running
    }

    async fn listen(&self) {
        if self.task.era == Era::Modern
            && let Ok(peer) = self.peer().await
        {
            let wanted = json!({"notifications": {"taskIds": [self.task.id]}}).to_string();
            // A server that rejects the subscription is only polled.
            _ = peer.request(Request::new("subscriptions/listen", &wanted, MAX_WAIT)).await;
        }
        std::future::pending::<()>().await;
    }

    /// Polls the task once; returns the poll interval that the server asks for.
    async fn poll<'s>(&'s self, memory: &mut FollowState<'s>) -> Result<Option<Duration>, TaskEnd> {
        let peer = self.peer().await?;
        let seen = match task_requests::get(&peer, self.task).await {
            Ok(seen) => seen,
            Err(TaskRequestError::Forgotten(why)) => return Err(TaskEnd::Lost(why)),
            Err(TaskRequestError::Broken(why)) => return Err(TaskEnd::Broken(why)),
            Err(TaskRequestError::Later(why)) if memory.last_heard.elapsed() > SILENCE_TIMEOUT => {
                return Err(TaskEnd::Away(why));
            }
            // A restarting server may still have the task, so keep polling for a while.
            Err(TaskRequestError::Later(_) | TaskRequestError::Error(_)) => return Ok(None),
        };
        memory.last_heard = Instant::now();
        self.report_state(&seen.state, memory).await;
        let poll = seen.state.poll;
        match seen.state.status {
            TaskStatus::Working => Ok(poll),
            TaskStatus::InputRequired => self.answer_input(&peer, &seen, memory).map(|()| poll),
            TaskStatus::Cancelled => Err(TaskEnd::Cancelled(seen.state.message)),
            TaskStatus::Completed | TaskStatus::Failed => {
                Err(self.fetch_end(&peer, seen, memory).await)
            }
        }
    }

    async fn peer(&self) -> Result<Peer, TaskEnd> {
        let ExecContext { fleet, start_limit, .. } = self.context;
        let found = task_connection(fleet, &self.place, self.task.era, *start_limit).await;
        found.map_err(|error| match error {
            TaskConnectionError::Removed(why) => TaskEnd::Lost(why),
            TaskConnectionError::Away(why) => TaskEnd::Away(why),
        })
    }

    /// Reports a changed state to the caller's progress channel and to the observer.
    async fn report_state(&self, state: &TaskState, memory: &mut FollowState<'_>) {
        if memory
            .reported
            .as_ref()
            .is_some_and(|shown| (shown.status, &shown.message) == (state.status, &state.message))
        {
            return;
        }
        memory.reported = Some(state.clone());
        memory.reports += 1;
        if let (Some(progress), Some(message)) = (&self.context.progress, &state.message) {
            let report = json!({"progress": memory.reports, "message": message});
            // A slow watcher misses progress reports, never the result.
            _ = progress.try_send(Json::from(&report));
        }
        self.observer.task_updated(self.task, state).await;
    }

    /// Starts answering the task's requests for input while polling continues.
    fn answer_input<'s>(
        &'s self,
        peer: &Peer,
        seen: &TaskSnapshot,
        memory: &mut FollowState<'s>,
    ) -> Result<(), TaskEnd> {
        if memory.side_work.is_some() {
            return Ok(());
        }
        let peer = peer.clone();
        let work: SideWork<'s> = match (self.task.era, &seen.input_requests) {
            // A legacy server sends its questions as requests while `tasks/result` is pending.
            (Era::Legacy, _) => Box::pin(async move {
                SideResult::Result(
                    task_requests::result(&peer, self.task, MAX_WAIT, self.context.tag).await,
                )
            }),
            (Era::Modern, None) => return Ok(()),
            (Era::Modern, Some(asked)) => {
                let asked =
                    unanswered_requests(asked, &memory.answered).map_err(TaskEnd::Broken)?;
                let Some((asked, keys)) = asked else { return Ok(()) };
                // The server lists a request until it has processed the answer to it.
                memory.answered.extend(keys);
                Box::pin(async move { SideResult::Answered(self.update(&peer, &asked).await) })
            }
        };
        memory.rounds += 1;
        if memory.rounds > MAX_ROUNDS {
            let why = format!("the server asked for input more than {MAX_ROUNDS} times");
            return Err(TaskEnd::Broken(why));
        }
        memory.side_work = Some(work);
        Ok(())
    }

    async fn update(&self, peer: &Peer, asked: &Json) -> Result<(), String> {
        let answers = answer_all(asked.as_str(), &self.place.server, self.name, self.context).await;
        let answers = answers.map_err(|error| error.to_string())?;
        let update = task_requests::update(peer, self.task, answers).await;
        update.map_err(|error| format!("the server rejected our answers: {error}"))
    }

    /// Handles finished side work; returns the end of the task, if this is it.
    async fn handle_side_result(&self, aside: SideResult) -> Option<TaskEnd> {
        match aside {
            SideResult::Result(Ok(result)) => Some(TaskEnd::Result(result)),
            // The next poll shows the state of the task.
            SideResult::Result(Err(_)) | SideResult::Answered(Ok(())) => None,
            SideResult::Answered(Err(why)) => {
                // Without an answer the task would wait forever. If it cannot be cancelled either,
                // the outcome still reports the reason.
                if let Ok(peer) = self.peer().await {
                    _ = task_requests::cancel(&peer, self.task, FETCH_TIMEOUT).await;
                }
                Some(TaskEnd::Broken(why))
            }
        }
    }

    /// Returns the end of a finished task, which only a modern snapshot contains.
    async fn fetch_end(
        &self,
        peer: &Peer,
        seen: TaskSnapshot,
        memory: &mut FollowState<'_>,
    ) -> TaskEnd {
        let failed = seen.state.status == TaskStatus::Failed;
        let said = seen.state.message.unwrap_or_else(|| "the task failed".to_owned());
        if self.task.era == Era::Modern {
            return match (seen.result, seen.error) {
                (_, Some(error)) if failed => TaskEnd::Failed(error),
                (None, None) if failed => TaskEnd::Failed(RpcError::new(0, said)),
                (Some(result), _) => TaskEnd::Result(result),
                (None, _) => TaskEnd::Broken("the task completed without a result".to_owned()),
            };
        }
        // A pending `tasks/result` already has the answer; a second request would be redundant.
        if let Some(work) = memory.side_work.take()
            && let Ok(SideResult::Result(Ok(result))) =
                tokio::time::timeout(FETCH_TIMEOUT, work).await
        {
            return TaskEnd::Result(result);
        }
        match task_requests::result(peer, self.task, FETCH_TIMEOUT, self.context.tag).await {
            Ok(result) => TaskEnd::Result(result),
            Err(TaskRequestError::Error(error)) => TaskEnd::Failed(error),
            Err(_) if failed => TaskEnd::Failed(RpcError::new(0, said)),
            Err(TaskRequestError::Forgotten(why)) => TaskEnd::Lost(why),
            Err(TaskRequestError::Broken(why)) => TaskEnd::Broken(why),
            Err(TaskRequestError::Later(why)) => TaskEnd::Away(why),
        }
    }

    /// Waits until the server notifies that the task has changed.
    async fn wait_for_notification(&self, news: &mut broadcast::Receiver<Event>) {
        loop {
            match news.recv().await {
                Ok(Event { what: EventKind::TaskChanged { server, task }, .. })
                    if server == self.place.server && task == self.task.id =>
                {
                    return;
                }
                Ok(_) => {}
                // A missed event may have been about this task.
                Err(broadcast::error::RecvError::Lagged(_)) => return,
                Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
            }
        }
    }
}

/// Returns the requests that have not been answered yet, and their keys.
fn unanswered_requests(
    asked: &Json,
    answered: &BTreeSet<String>,
) -> Result<Option<(Json, Vec<String>)>, String> {
    let all: BTreeMap<String, &RawValue> = asked
        .read()
        .map_err(|error| format!("the server's input request cannot be read: {error}"))?;
    let new: BTreeMap<_, _> = all.into_iter().filter(|(key, _)| !answered.contains(key)).collect();
    if new.is_empty() {
        return Ok(None);
    }
    let text = serde_json::to_string(&new).map_err(|error| error.to_string())?;
    Ok(Some((Json::from_trusted(text), new.into_keys().collect())))
}

/// Returns the delay before the next poll: the server's interval, clamped and with jitter.
pub(super) fn poll_delay(wished: Option<Duration>, task: &str, look: u64) -> Duration {
    let wait =
        wished.unwrap_or(DEFAULT_POLL_INTERVAL).clamp(POLL_INTERVAL_RANGE.0, POLL_INTERVAL_RANGE.1);
    // The jitter spreads the polls of tasks that started together; a hash makes it reproducible.
    let mut hasher = DefaultHasher::new();
    (task, look).hash(&mut hasher);
    let step = u32::try_from(hasher.finish() % 1_000).unwrap_or(0);
    wait.mul_f64(1.0 + 0.1 * f64::from(step) / 1_000.0).min(POLL_INTERVAL_RANGE.1)
}

/// Waits for the side work; pends forever if there is none.
async fn await_side_work(work: &mut Option<SideWork<'_>>) -> SideResult {
    match work {
        Some(work) => work.as_mut().await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::poll_delay;

    #[test]
    fn a_server_is_asked_at_its_pace_but_not_without_rest_and_not_too_seldom() {
        for (wished, shortest) in [
            (None, 2_000),
            (Some(0), 250),
            (Some(1_000), 1_000),
            (Some(29_000), 29_000),
            (Some(3_600_000), 30_000),
        ] {
            for look in 0..50 {
                let wait = poll_delay(wished.map(Duration::from_millis), "t", look);
                let shortest = Duration::from_millis(shortest);
                let longest = shortest.mul_f64(1.1).min(Duration::from_secs(30));
                assert!((shortest..=longest).contains(&wait), "{wished:?}: {wait:?}");
            }
        }
        let second = Some(Duration::from_secs(1));
        assert_ne!(poll_delay(second, "a", 1), poll_delay(second, "b", 1));
    }
}
