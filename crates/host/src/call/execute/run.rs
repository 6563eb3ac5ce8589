//! Runs a permitted call: the loop of attempts, with deadlines and the retry policy.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use switchboard_catalog::{Fleet, ResolvedCall};
use switchboard_core::{
    CallTimeline, Events, Outcome, Published, TargetKind, TaskHandle, TaskPlace, TaskState,
};
use switchboard_fleet::{AnswerFuture, Answers, ServerRequest, record_on_timeline};
use switchboard_policy::PermittedCall;
use switchboard_wire::{Json, RequestError, parse_retry_after};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::call::execute::call_message::CallMessage;
use crate::call::execute::choose::choose_connection;
use crate::call::execute::exchange::{
    CallDeadlines, Destination, ExchangeError, ExchangeResult, exchange,
};
use crate::call::execute::follow_task::{TaskFollower, poll_delay};
use crate::call::execute::outcome_mapping::{
    is_server_failure, outcome_from_error, outcome_from_result, outcome_from_task_end,
    result_too_long, still_running,
};
use crate::call::execute::task::TaskSnapshot;
use crate::call::execute::task_mode::TaskMode;

/// Maximum number of attempts, if retries are safe.
const MAX_ATTEMPTS: u32 = 3;
/// Delay before the first retry; the second is four times as long.
const RETRY_DELAY: Duration = Duration::from_millis(250);
/// Maximum duration of a call, however much progress it reports.
pub(super) const MAX_CALL_DURATION: Duration = Duration::from_secs(30 * 60);

/// The context in which a call is executed.
pub(crate) struct ExecContext<'a> {
    /// The current fleet, for calls whose leased connection is gone.
    pub fleet: &'a Published<Fleet>,
    pub answers: &'a Arc<dyn Answers>,
    /// The caller's own answers, if it has any.
    pub own_answers: Option<&'a Arc<dyn Answers>>,
    /// Log level that the caller requests from a modern server.
    pub log_level: Option<&'a str>,
    /// Additional `_meta` members of the caller, as JSON text without braces.
    pub further_meta: Option<&'a str>,
    pub progress: Option<mpsc::Sender<Json>>,
    /// Identifies the call when an answer arrives late.
    pub tag: u64,
    /// How long a call waits for a server that is starting.
    pub start_limit: Duration,
    pub result_limit_bytes: usize,
    /// The source of task and elicitation notifications.
    pub events: &'a Events,
    pub timeline: &'a CallTimeline,
    pub task_mode: TaskMode,
}

impl ExecContext<'_> {
    pub(super) fn answer<'a>(&'a self, asking: ServerRequest<'a>) -> AnswerFuture<'a> {
        record_on_timeline(Some(self.timeline), asking, self.answers.answer(asking))
    }
}

/// Observes the state of a task.
pub(crate) trait TaskObserver: Sync {
    fn task_updated(&self, task: &TaskHandle, state: &TaskState)
    -> impl Future<Output = ()> + Send;
}

/// Observes the attempts of a call, and can stop them.
pub(crate) trait AttemptObserver: TaskObserver {
    /// Called before the first byte of an attempt is sent; an error stops the call.
    fn before_attempt(
        &self,
        instance: usize,
        attempt: u32,
    ) -> impl Future<Output = Result<(), Outcome>> + Send;

    /// Called when the server continues the call as a task; polling starts after this returns.
    fn became_task(
        &self,
        place: &TaskPlace,
        task: &TaskHandle,
        state: &TaskState,
    ) -> impl Future<Output = ()> + Send;
}

/// Runs a permitted call, and announces each attempt to `intent` before its first byte is sent.
pub(crate) async fn run(
    permitted: &PermittedCall,
    reach: &ExecContext<'_>,
    intent: &impl AttemptObserver,
) -> Outcome {
    let call = permitted.call();
    let target = call.target();
    let message = CallMessage::new(call, reach.task_mode);
    let deadlines = deadlines(call);
    let began = Instant::now();
    let end = began + deadlines.idle;
    let mut attempt = 1;
    loop {
        // The first attempt may wait for the full start limit, retries only for the time left.
        let left = end.saturating_duration_since(Instant::now());
        let wait = if attempt == 1 { reach.start_limit } else { reach.start_limit.min(left) };
        let chosen = match choose_connection(call, reach.fleet, wait).await {
            Ok(chosen) => chosen,
            Err(outcome) => return outcome,
        };
        if let Err(outcome) = intent.before_attempt(chosen.instance.number, attempt).await {
            return outcome;
        }
        let health = &chosen.instance.health;
        let deadlines = if attempt == 1 { deadlines } else { deadlines.within(left) };
        let whom = Destination { peer: &chosen.peer, server: &target.server, name: &target.name };
        let error = match exchange(whom, &message, deadlines, reach).await {
            Ok(answered) => {
                health.record_success();
                return match answered {
                    ExchangeResult::Result(result) => bounded_outcome(call, result, reach),
                    ExchangeResult::Task(seen) => {
                        let instance = chosen.instance.number;
                        let place = TaskPlace { server: target.server.clone(), instance };
                        // Boxed: the future is large, and most calls do not need it.
                        let end = began + MAX_CALL_DURATION;
                        Box::pin(follow_task(call, place, &seen, reach, intent, end)).await
                    }
                };
            }
            Err(ExchangeError::Over(outcome)) => return outcome,
            Err(ExchangeError::Request(error)) => error,
        };
        // Release the instance before the pause, so that it does not count as busy.
        drop(chosen.in_use);
        let pause = pause_before_retry(call, &error, attempt);
        let in_time =
            |pause: &Duration| Instant::now().checked_add(*pause).is_some_and(|at| at < end);
        let Some(pause) = pause.filter(in_time).filter(|_| health.may_retry()) else {
            // A call counts once against the server's health, by its last attempt.
            if is_server_failure(&error) {
                health.record_failure(&error.to_string());
            }
            return outcome_from_error(target, &error);
        };
        tokio::time::sleep(pause).await;
        attempt += 1;
    }
}

fn bounded_outcome(call: &ResolvedCall, result: Json, reach: &ExecContext<'_>) -> Outcome {
    match result.bytes().len() {
        length if length > reach.result_limit_bytes => {
            result_too_long(length, reach.result_limit_bytes)
        }
        _ => outcome_from_result(call.target(), result),
    }
}

async fn follow_task(
    call: &ResolvedCall,
    place: TaskPlace,
    seen: &TaskSnapshot,
    reach: &ExecContext<'_>,
    intent: &impl AttemptObserver,
    end: Instant,
) -> Outcome {
    let target = call.target();
    let task = &seen.handle;
    // Recorded first: after a crash, another process can find and finish the task.
    intent.became_task(&place, task, &seen.state).await;
    if reach.task_mode == TaskMode::Detach {
        return still_running(&target.server, task);
    }
    let course = TaskFollower { place, name: &target.name, task, context: reach, observer: intent };
    let ended = course.follow(poll_delay(task.poll, &task.id, 0), end).await;
    outcome_from_task_end(ended, target, task, reach.result_limit_bytes)
}

fn deadlines(call: &ResolvedCall) -> CallDeadlines {
    let config = call.server().config.as_ref();
    let server = config.map_or(Duration::from_secs(60), |config| config.timeout);
    let tool = config.and_then(|config| config.tools.get(&call.target().name)?.timeout);
    let idle = tool.unwrap_or(server);
    CallDeadlines { idle, total: idle.max(MAX_CALL_DURATION) }
}

/// Returns the delay before the next attempt, or `None` if a retry is not safe.
fn pause_before_retry(call: &ResolvedCall, error: &RequestError, attempt: u32) -> Option<Duration> {
    if attempt >= MAX_ATTEMPTS {
        return None;
    }
    let pause = RETRY_DELAY * 4_u32.pow(attempt - 1);
    match error {
        // Provably not sent, so even a call that must not run twice can be retried.
        RequestError::NotSent(_) => Some(pause),
        // Rejected before it ran; the server says when to retry.
        RequestError::Http { status: 408 | 425 | 429, retry_after: Some(after), .. } => {
            parse_retry_after(after, SystemTime::now())
        }
        RequestError::Unknown(_) | RequestError::TimedOut(_) => {
            is_repeatable(call).then_some(pause)
        }
        RequestError::Http { status: 500.., .. } => is_repeatable(call).then_some(pause),
        // An invalid certificate does not change within a call.
        RequestError::Untrusted(_)
        | RequestError::Http { .. }
        | RequestError::Rpc(_)
        | RequestError::Protocol(_) => None,
    }
}

/// Returns whether a call may run twice.
fn is_repeatable(call: &ResolvedCall) -> bool {
    // For tools, only the configuration decides: the server's own annotations may be wrong.
    let settings = call.server().config.as_ref().and_then(|config| {
        config.tools.get(&call.target().name).map(|tool| tool.read_only || tool.idempotent)
    });
    match call.target().kind {
        TargetKind::Tool => settings.unwrap_or(false),
        TargetKind::Resource | TargetKind::Prompt => true,
    }
}
