//! Follows a task to its end: asks at its pace, answers what it asks, fetches its result.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::pin::Pin;
use std::time::Duration;

use serde_json::json;
use switchboard_core::{Event, TaskHandle, TaskPlace, TaskState, TaskStatus, What};
use switchboard_wire::{Era, Json, Peer, Request, RpcError};
use tokio::sync::broadcast;
use tokio::time::{Instant, sleep, timeout_at};

use crate::call::execute::exchange::{ROUNDS, answer_all};
use crate::call::execute::run::{Reach, TaskNotes};
use crate::call::execute::task::Seen;
use crate::call::execute::task_connection::{NoConnection, connection};
use crate::call::execute::task_requests;
use crate::call::execute::task_requests::NoWord;

/// The shortest and the longest wait between two questions, and the usual one.
const PAUSES: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(30));
const USUAL_PAUSE: Duration = Duration::from_secs(2);
/// How long a server that does not answer is asked again.
const SILENCE: Duration = Duration::from_secs(60);
/// A request that lasts as long as the task is followed; that has a limit of its own.
const LONGEST: Duration = Duration::from_secs(24 * 3_600);
/// How long the result of a task that has one may take.
const FETCH: Duration = Duration::from_secs(60);

/// How a task was left.
#[derive(Debug)]
pub(super) enum TaskEnd {
    /// With a result.
    Result(Json),
    /// With an error.
    Failed(RpcError),
    /// It was given up, and not by us.
    Cancelled(Option<String>),
    /// The server does not know it any more.
    Lost(String),
    /// The server breaks the rules.
    Broken(String),
    /// Nobody can be asked about it now.
    Away(String),
    /// It still runs when our time is over.
    Running,
}

/// One task that is followed.
pub(super) struct Course<'a, A> {
    pub(super) place: TaskPlace,
    /// The tool's name, for questions to the person.
    pub(super) name: &'a str,
    pub(super) task: &'a TaskHandle,
    pub(super) reach: &'a Reach<'a>,
    pub(super) record: &'a A,
}

/// Something under way beside the questions about how far the task is.
type Beside<'a> = Pin<Box<dyn Future<Output = Aside> + Send + 'a>>;

enum Aside {
    /// The answer to the request for the result.
    Result(Result<Json, NoWord>),
    /// What the task asked has been answered, or not.
    Answered(Result<(), String>),
}

/// What is remembered from one look at the task to the next.
struct Memory<'a> {
    beside: Option<Beside<'a>>,
    answered: BTreeSet<String>,
    rounds: usize,
    shown: Option<TaskState>,
    reports: u64,
    heard: Instant,
}

impl<A: TaskNotes> Course<'_, A> {
    /// Follows the task until it ends, but not beyond `end`; the first look is after `first`.
    pub(super) async fn follow(&self, first: Duration, end: Instant) -> TaskEnd {
        timeout_at(end, self.to_its_end(first)).await.unwrap_or(TaskEnd::Running)
    }

    async fn to_its_end(&self, first: Duration) -> TaskEnd {
        let mut news = self.reach.events.watch_but_calls();
        let mut memory = Memory {
            beside: None,
            answered: BTreeSet::new(),
            rounds: 0,
            shown: None,
            reports: 0,
            heard: Instant::now(),
        };
        let mut pause = first;
        let listening = self.listen();
        tokio::pin!(listening);
        for look in 0_u64.. {
            tokio::select! {
                aside = under_way(&mut memory.beside) => {
                    memory.beside = None;
                    if let Some(end) = self.aside(aside).await {
                        return end;
                    }
                }
                () = self.told(&mut news) => {}
                // Only brings the news that are waited for above.
                () = &mut listening => {}
                () = sleep(pause) => {}
            }
            match self.look(&mut memory).await {
                Ok(poll) => pause = pace(poll.or(self.task.poll), &self.task.id, look),
                Err(end) => return end,
            }
        }
        TaskEnd::Running
    }

    /// Has a modern server tell of the task by itself, if it does such a thing.
    async fn listen(&self) {
        if self.task.era == Era::Modern
            && let Ok(peer) = self.peer().await
        {
            let wanted = json!({"notifications": {"taskIds": [self.task.id]}}).to_string();
            // Whatever comes of it: the task is looked at as before.
            peer.request(Request::new("subscriptions/listen", &wanted, LONGEST)).await.ok();
        }
        std::future::pending::<()>().await;
    }

    /// Looks at the task once; gives how often the server wants to be asked.
    async fn look<'s>(&'s self, memory: &mut Memory<'s>) -> Result<Option<Duration>, TaskEnd> {
        let peer = self.peer().await?;
        let seen = match task_requests::get(&peer, self.task).await {
            Ok(seen) => seen,
            Err(NoWord::Forgotten(why)) => return Err(TaskEnd::Lost(why)),
            Err(NoWord::Broken(why)) => return Err(TaskEnd::Broken(why)),
            Err(NoWord::Later(why)) if memory.heard.elapsed() > SILENCE => {
                return Err(TaskEnd::Away(why));
            }
            Err(NoWord::Later(_) | NoWord::Error(_)) => return Ok(None),
        };
        memory.heard = Instant::now();
        self.show(&seen.state, memory).await;
        let poll = seen.state.poll;
        match seen.state.status {
            TaskStatus::Working => Ok(poll),
            TaskStatus::InputRequired => self.answer(&peer, &seen, memory).map(|()| poll),
            TaskStatus::Cancelled => Err(TaskEnd::Cancelled(seen.state.message)),
            TaskStatus::Completed | TaskStatus::Failed => Err(self.end(&peer, seen, memory).await),
        }
    }

    async fn peer(&self) -> Result<Peer, TaskEnd> {
        let Reach { fleet, start_limit, .. } = self.reach;
        let found = connection(fleet, &self.place, self.task.era, *start_limit).await;
        found.map_err(|error| match error {
            NoConnection::Removed(why) => TaskEnd::Lost(why),
            NoConnection::Away(why) => TaskEnd::Away(why),
        })
    }

    /// Tells whoever watches what the server says, and the record.
    async fn show(&self, state: &TaskState, memory: &mut Memory<'_>) {
        if memory
            .shown
            .as_ref()
            .is_some_and(|shown| (shown.status, &shown.message) == (state.status, &state.message))
        {
            return;
        }
        memory.shown = Some(state.clone());
        memory.reports += 1;
        if let (Some(progress), Some(message)) = (&self.reach.progress, &state.message) {
            let report = json!({"progress": memory.reports, "message": message});
            // A watcher that does not keep up misses reports, never the result.
            progress.try_send(Json::from(&report)).ok();
        }
        self.record.task_says(self.task, state).await;
    }

    /// Sees to it that the task gets what it waits for, while it is looked at as before.
    fn answer<'s>(
        &'s self,
        peer: &Peer,
        seen: &Seen,
        memory: &mut Memory<'s>,
    ) -> Result<(), TaskEnd> {
        if memory.beside.is_some() {
            return Ok(());
        }
        let peer = peer.clone();
        let beside: Beside<'s> = match (self.task.era, &seen.asked) {
            // The questions come as requests of the server while its result is waited for.
            (Era::Legacy, _) => Box::pin(async move {
                Aside::Result(
                    task_requests::result(&peer, self.task, LONGEST, self.reach.tag).await,
                )
            }),
            (Era::Modern, None) => return Ok(()),
            (Era::Modern, Some(asked)) => {
                let asked = without(asked, &memory.answered).map_err(TaskEnd::Broken)?;
                let Some((asked, keys)) = asked else { return Ok(()) };
                memory.answered.extend(keys);
                Box::pin(async move { Aside::Answered(self.update(&peer, &asked).await) })
            }
        };
        memory.rounds += 1;
        if memory.rounds > ROUNDS {
            let why = format!("the server asked for input more than {ROUNDS} times");
            return Err(TaskEnd::Broken(why));
        }
        memory.beside = Some(beside);
        Ok(())
    }

    async fn update(&self, peer: &Peer, asked: &Json) -> Result<(), String> {
        let whom = (self.place.server.as_str(), self.name);
        let answers = answer_all(asked.as_str(), whom.0, whom.1, self.reach).await;
        let answers = answers.map_err(|error| error.to_string())?;
        let update = task_requests::update(peer, self.task, answers).await;
        update.map_err(|error| format!("the server did not take our answers: {error}"))
    }

    /// What follows from what ended beside the looks at the task.
    async fn aside(&self, aside: Aside) -> Option<TaskEnd> {
        match aside {
            Aside::Result(Ok(result)) => Some(TaskEnd::Result(result)),
            // The next look tells what became of the task.
            Aside::Result(Err(_)) | Aside::Answered(Ok(())) => None,
            Aside::Answered(Err(why)) => {
                // Nobody will answer it: it must not wait for ever.
                if let Ok(peer) = self.peer().await {
                    task_requests::cancel(&peer, self.task, FETCH).await.ok();
                }
                Some(TaskEnd::Broken(why))
            }
        }
    }

    /// The end of a task that has one: with it in the modern era, asked for before.
    async fn end(&self, peer: &Peer, seen: Seen, memory: &mut Memory<'_>) -> TaskEnd {
        let failed = seen.state.status == TaskStatus::Failed;
        let said = seen.state.message.unwrap_or_else(|| "the task failed".to_owned());
        if self.task.era == Era::Modern {
            return match (seen.result, seen.error) {
                (_, Some(error)) if failed => TaskEnd::Failed(error),
                (None, None) if failed => TaskEnd::Failed(RpcError::new(0, said)),
                (Some(result), _) => TaskEnd::Result(result),
                (None, _) => TaskEnd::Broken("the task is done and has no result".to_owned()),
            };
        }
        if let Some(beside) = memory.beside.take()
            && let Ok(Aside::Result(Ok(result))) = tokio::time::timeout(FETCH, beside).await
        {
            return TaskEnd::Result(result);
        }
        match task_requests::result(peer, self.task, FETCH, self.reach.tag).await {
            Ok(result) => TaskEnd::Result(result),
            Err(NoWord::Error(error)) => TaskEnd::Failed(error),
            Err(_) if failed => TaskEnd::Failed(RpcError::new(0, said)),
            Err(NoWord::Forgotten(why)) => TaskEnd::Lost(why),
            Err(NoWord::Broken(why)) => TaskEnd::Broken(why),
            Err(NoWord::Later(why)) => TaskEnd::Away(why),
        }
    }

    /// Waits until the server tells by itself that the task has changed.
    async fn told(&self, news: &mut broadcast::Receiver<Event>) {
        loop {
            match news.recv().await {
                Ok(Event { what: What::TaskChanged { server, task }, .. })
                    if server == self.place.server && task == self.task.id =>
                {
                    return;
                }
                Ok(_) => {}
                // What was missed may have been about this task.
                Err(broadcast::error::RecvError::Lagged(_)) => return,
                Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
            }
        }
    }
}

/// The questions that were not answered yet, and their keys.
fn without(
    asked: &Json,
    answered: &BTreeSet<String>,
) -> Result<Option<(Json, Vec<String>)>, String> {
    use std::collections::BTreeMap;

    use serde_json::value::RawValue;
    let all: BTreeMap<String, &RawValue> =
        asked.read().map_err(|error| format!("what the server asks cannot be read: {error}"))?;
    let new: BTreeMap<_, _> = all.into_iter().filter(|(key, _)| !answered.contains(key)).collect();
    if new.is_empty() {
        return Ok(None);
    }
    let text = serde_json::to_string(&new).map_err(|error| error.to_string())?;
    Ok(Some((Json::trusted(text), new.into_keys().collect())))
}

/// The wait before the next look: the server's wish within bounds, and not all at the same moment.
pub(super) fn pace(wished: Option<Duration>, task: &str, look: u64) -> Duration {
    let wait = wished.unwrap_or(USUAL_PAUSE).clamp(PAUSES.0, PAUSES.1);
    let mut hasher = DefaultHasher::new();
    (task, look).hash(&mut hasher);
    let step = u32::try_from(hasher.finish() % 1_000).unwrap_or(0);
    wait.mul_f64(1.0 + 0.1 * f64::from(step) / 1_000.0).min(PAUSES.1)
}

/// The end of what is under way; nothing is under way, nothing comes.
async fn under_way(beside: &mut Option<Beside<'_>>) -> Aside {
    match beside {
        Some(beside) => beside.as_mut().await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::pace;

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
                let wait = pace(wished.map(Duration::from_millis), "t", look);
                let shortest = Duration::from_millis(shortest);
                let longest = shortest.mul_f64(1.1).min(Duration::from_secs(30));
                assert!((shortest..=longest).contains(&wait), "{wished:?}: {wait:?}");
            }
        }
        let second = Some(Duration::from_secs(1));
        assert_ne!(pace(second, "a", 1), pace(second, "b", 1));
    }
}
