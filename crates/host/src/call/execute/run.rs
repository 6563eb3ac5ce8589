//! Sends a permitted call and waits for what comes of it.

use std::sync::Arc;
use std::time::Duration;

use switchboard_catalog::{Fleet, ResolvedCall};
use switchboard_core::{
    Events, Outcome, Published, TargetKind, TaskHandle, TaskPlace, TaskState, Timelines,
};
use switchboard_fleet::{Answering, Answers, Asking, noted};
use switchboard_policy::PermittedCall;
use switchboard_wire::{Json, RequestError};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::call::execute::call_message::Message;
use crate::call::execute::choose::choose;
use crate::call::execute::exchange::{Answered, Deadlines, Stop, Whom, exchange};
use crate::call::execute::follow_task::{Course, pace};
use crate::call::execute::outcome_mapping::{is_ill, of_error, of_result};
use crate::call::execute::task::Seen;
use crate::call::execute::task_mode::TaskWish;
use crate::call::execute::task_outcome;
use crate::call::execute::task_outcome::too_long;

/// Attempts in all, where more than one is safe.
const ATTEMPTS: u32 = 3;
/// The first pause between attempts; the second is four times as long.
const PAUSE: Duration = Duration::from_millis(250);
/// However much progress is reported, a call ends after this.
pub(super) const ABSOLUTE: Duration = Duration::from_secs(30 * 60);

/// What execution needs beside the call.
pub(crate) struct Reach<'a> {
    /// The servers as they are by now.
    pub fleet: &'a Published<Fleet>,
    /// Who answers what a server asks in the middle of a call.
    pub answers: &'a Arc<dyn Answers>,
    /// The same, where it is the caller itself.
    pub own_answers: Option<&'a Arc<dyn Answers>>,
    /// Which messages the caller wants of a modern server, if it says.
    pub log_level: Option<&'a str>,
    /// The caller's own members for the `_meta` of the request, as JSON text without braces.
    pub further_meta: Option<&'a str>,
    /// Where progress goes.
    pub progress: Option<mpsc::Sender<Json>>,
    /// A number that comes back with a late answer.
    pub tag: u64,
    /// How long a call waits for a server that is starting.
    pub start_limit: Duration,
    /// The longest result that is taken, in bytes.
    pub result_limit_bytes: usize,
    /// What happens, for what a server tells of a task by itself.
    pub events: &'a Events,
    /// Where it is noted what the server asks.
    pub timelines: &'a Timelines,
    /// What the caller wants of tasks.
    pub wish: TaskWish,
}

impl Reach<'_> {
    /// Has a question of the server answered.
    pub(super) fn answer<'a>(&'a self, asking: Asking<'a>) -> Answering<'a> {
        noted(self.timelines, asking, self.answers.answer(asking))
    }
}

/// Is told what becomes of a task.
pub(crate) trait TaskNotes: Sync {
    /// The server says something new of the task.
    fn task_says(&self, task: &TaskHandle, state: &TaskState) -> impl Future<Output = ()> + Send;
}

/// Is told before the first byte of each attempt leaves, and may stop it.
pub(crate) trait Announce: TaskNotes {
    /// Attempt `attempt` is about to go to instance `instance`.
    fn announce(
        &self,
        instance: usize,
        attempt: u32,
    ) -> impl Future<Output = Result<(), Outcome>> + Send;

    /// The server goes on with the call as a task; nothing is asked about it before this returns.
    fn became_task(
        &self,
        place: &TaskPlace,
        task: &TaskHandle,
        state: &TaskState,
    ) -> impl Future<Output = ()> + Send;
}

/// Runs `permitted`; each attempt is announced before its first byte leaves.
pub(crate) async fn run(
    permitted: &PermittedCall,
    reach: &Reach<'_>,
    intent: &impl Announce,
) -> Outcome {
    let call = permitted.call();
    let target = call.target();
    let message = Message::of(call, reach.wish);
    let deadlines = deadlines(call);
    let began = Instant::now();
    let end = began + deadlines.idle;
    let mut attempt = 1;
    loop {
        // The first attempt may wait for a start as long as a start may take; later ones may not.
        let left = end.saturating_duration_since(Instant::now());
        let wait = if attempt == 1 { reach.start_limit } else { reach.start_limit.min(left) };
        let chosen = match choose(call, reach.fleet, wait).await {
            Ok(chosen) => chosen,
            Err(outcome) => return outcome,
        };
        if let Err(outcome) = intent.announce(chosen.instance.number, attempt).await {
            return outcome;
        }
        let health = &chosen.instance.health;
        let deadlines = if attempt == 1 { deadlines } else { deadlines.within(left) };
        let whom = Whom { peer: &chosen.peer, server: &target.server, name: &target.name };
        let settled = exchange(whom, &message, deadlines, reach).await;
        let error = match settled {
            Ok(answered) => {
                health.succeeded();
                return match answered {
                    Answered::Result(result) => finished(call, result, reach),
                    Answered::Task(seen) => {
                        let (server, instance) = (target.server.clone(), chosen.instance.number);
                        let place = TaskPlace { server, instance };
                        // Boxed: the future is large, and most calls do not need it.
                        let end = began + ABSOLUTE;
                        Box::pin(go_on(call, place, &seen, (reach, intent), end)).await
                    }
                };
            }
            Err(Stop::Over(outcome)) => return outcome,
            Err(Stop::Request(error)) => error,
        };
        drop(chosen.in_use);
        let pause = pause_before_retry(call, &error, attempt);
        let in_time =
            |pause: &Duration| Instant::now().checked_add(*pause).is_some_and(|at| at < end);
        let Some(pause) = pause.filter(in_time).filter(|_| health.may_retry()) else {
            // A call counts once, by its last attempt.
            if is_ill(&error) {
                health.failed(&error.to_string());
            }
            return of_error(target, &error);
        };
        tokio::time::sleep(pause).await;
        attempt += 1;
    }
}

fn finished(call: &ResolvedCall, result: Json, reach: &Reach<'_>) -> Outcome {
    match result.bytes().len() {
        length if length > reach.result_limit_bytes => too_long(length, reach.result_limit_bytes),
        _ => of_result(call.target(), result),
    }
}

/// Follows the task that a call has become, unless its caller does not want to wait.
async fn go_on(
    call: &ResolvedCall,
    place: TaskPlace,
    seen: &Seen,
    (reach, intent): (&Reach<'_>, &impl Announce),
    end: Instant,
) -> Outcome {
    let (target, task) = (call.target(), &seen.handle);
    intent.became_task(&place, task, &seen.state).await;
    if reach.wish == TaskWish::Detach {
        return task_outcome::running(&target.server, task);
    }
    let course = Course { place, name: &target.name, task, reach, record: intent };
    let ended = course.follow(pace(task.poll, &task.id, 0), end).await;
    task_outcome::of(ended, target, task, reach.result_limit_bytes)
}

fn deadlines(call: &ResolvedCall) -> Deadlines {
    let config = call.server().config.as_ref();
    let server = config.map_or(Duration::from_secs(60), |config| config.timeout);
    let tool = config.and_then(|config| config.tools.get(&call.target().name)?.timeout);
    let idle = tool.unwrap_or(server);
    Deadlines { idle, total: idle.max(ABSOLUTE) }
}

/// How long to wait before another attempt, if another one is safe.
fn pause_before_retry(call: &ResolvedCall, error: &RequestError, attempt: u32) -> Option<Duration> {
    if attempt >= ATTEMPTS {
        return None;
    }
    let pause = PAUSE * 4_u32.pow(attempt - 1);
    match error {
        RequestError::NotSent(_) => Some(pause),
        // Turned down before it ran: the server says when to come back.
        RequestError::Http { status: 408 | 425 | 429, retry_after: Some(after), .. } => {
            wait_of(after)
        }
        RequestError::Unknown(_) | RequestError::TimedOut(_) => may_repeat(call).then_some(pause),
        RequestError::Http { status: 500.., .. } => may_repeat(call).then_some(pause),
        // A certificate does not get better within a call.
        RequestError::Untrusted(_)
        | RequestError::Http { .. }
        | RequestError::Rpc(_)
        | RequestError::Protocol(_) => None,
    }
}

/// Whether running it twice is as good as once: the operator's word, never the server's own.
fn may_repeat(call: &ResolvedCall) -> bool {
    let settings = call.server().config.as_ref().and_then(|config| {
        config.tools.get(&call.target().name).map(|tool| tool.read_only || tool.idempotent)
    });
    match call.target().kind {
        TargetKind::Tool => settings.unwrap_or(false),
        TargetKind::Resource | TargetKind::Prompt => true,
    }
}

/// What `Retry-After` asks for: seconds or a date.
fn wait_of(after: &str) -> Option<Duration> {
    if let Ok(seconds) = after.trim().parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = jiff::fmt::rfc2822::parse(after.trim()).ok()?;
    let wait = date.timestamp().duration_since(jiff::Timestamp::now());
    Some(Duration::try_from(wait).unwrap_or_default())
}
