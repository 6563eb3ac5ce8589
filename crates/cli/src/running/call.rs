//! Forwards calls to the `switchboard serve` that runs for this home: that instance runs them, and
//! this terminal answers their questions, shows their progress and cancels them.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::Value;
use serde_json::value::RawValue;
use switchboard_catalog::definition;
use switchboard_core::{Origin, Outcome, ProposedCall, Target};
use switchboard_fleet::Completion;
use switchboard_host::TaskMode;
use switchboard_store::{QueuedQuestion, UserDecision};
use switchboard_terminal::{CliError, ReviewWait, exit_code, has_person, show_progress};
use switchboard_views::{
    CallEnded, CallStream, CallUpdate, PersonAnswer, Proposer, QuestionAnswered, RunningInstance,
    TaskWanted, ToComplete, WantedCall, Whom,
};
use switchboard_wire::Json;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout};

use crate::commands::call::CallSettings;
use crate::commands::outcome::FinishedCall;
use crate::context::CommandContext;
use crate::running::questions::PendingQuestion;
use crate::running::{offers, questions};

/// Maximum size of the arguments of a forwarded call, in bytes; longer ones run here.
const MAX_CALL_BYTES: usize = 32 << 20;
/// Transport of the built-in server.
const BUILT_IN: &str = "built in";
/// How long an answer or a cancellation may take to be confirmed.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) struct RunningServer {
    instance: RunningInstance,
    name: String,
}

impl RunningServer {
    /// Finds a server that is ready in a running instance.
    pub(crate) async fn find(
        context: &CommandContext,
        name: &str,
    ) -> Result<Option<Self>, CliError> {
        let looking = async {
            let (instance, rows) = offers::find_instance(context).await?;
            // `None` falls back to a host started here, which reports why the server is not ready.
            // The built-in server works in the folder of the command, so its calls are not
            // forwarded.
            rows.iter().find(|row| row.name == name).filter(|row| row.transport != BUILT_IN)?;
            offers::wait_settled(context, &instance, Some(name), rows).await?;
            Some(Self { instance, name: name.to_owned() })
        };
        let found = context.or_interrupted(looking).await?;
        if let Some(found) = &found {
            found.tell_held(context).await;
        }
        Ok(found)
    }

    pub(crate) async fn schema(&self, tool: &str) -> Option<Value> {
        let tool = self.instance.tool(&self.name, tool).await?;
        serde_json::from_str(definition(&tool.item()).input_schema?.get()).ok()
    }

    pub(crate) async fn complete(&self, begun: &ToComplete) -> Option<Completion> {
        self.instance.complete(begun).await
    }

    /// Forwards a call; `None` if the instance did not accept it, so that it has not run.
    pub(crate) async fn call(
        &self,
        context: &CommandContext,
        proposed: &ProposedCall,
        how: &CallSettings<'_>,
    ) -> Result<Option<FinishedCall>, CliError> {
        let Some(wanted) = to_wanted_call(proposed, how) else { return Ok(None) };
        let target = &proposed.target;
        // A line of the stream holds a whole result, so the limit bounds what is read into memory.
        let limit_bytes = context.silent_config().settings.result_limit_bytes;
        let stop = context.interrupts.token();
        let beginning = self.instance.begin_call(&wanted, limit_bytes);
        let begun = context.or_interrupted(beginning).await?;
        let Some(stream) = begun.map_err(|_| lost_call_error(target))? else { return Ok(None) };
        let (progress, bar) = show_progress(&context.printer, &format!("calling {target}"));
        // A review question needs the terminal, so do not draw a progress bar.
        if how.caller.origin != Origin::Person {
            bar.finish_and_clear();
        }
        let following = RemoteCall::new(context, &self.instance, stream, progress);
        let ended = following.run().await;
        bar.finish_and_clear();
        match ended {
            Some(ended) => Ok(Some(ended.into())),
            None if stop.is_cancelled() => {
                Err(CliError::new(exit_code::INTERRUPTED, "interrupted"))
            }
            None => Err(lost_call_error(target)),
        }
    }

    async fn tell_held(&self, context: &CommandContext) {
        let held = self.instance.held().await.unwrap_or_default();
        if let Some(held) = held.iter().find(|one| one.server == self.name) {
            context.report_held(&self.name, held.whole.as_deref(), held.definitions.len());
        }
    }
}

/// Converts a call to a request for the instance; `None` if its arguments are too long.
fn to_wanted_call(proposed: &ProposedCall, how: &CallSettings<'_>) -> Option<WantedCall> {
    let ProposedCall { target, arguments } = proposed;
    let text = arguments.as_str();
    let people = match how.patience {
        _ if has_person() => Whom::Here,
        Some(_) => Whom::Elsewhere,
        None => Whom::Nobody,
    };
    let wait_seconds = match how.patience {
        Some(ReviewWait::For(limit)) => Some(limit.as_secs()),
        Some(ReviewWait::Usual) | None => None,
    };
    let origin = match how.caller.origin {
        Origin::Person => Proposer::Person,
        Origin::Model | Origin::Client => Proposer::Model,
    };
    let task = match how.wish {
        TaskMode::AsConfigured => TaskWanted::AsConfigured,
        TaskMode::Task => TaskWanted::Task,
        TaskMode::Detach => TaskWanted::Detach,
    };
    Some(WantedCall {
        server: target.server.clone(),
        kind: target.kind.as_str().to_owned(),
        name: target.name.clone(),
        arguments: Some(RawValue::from_string(text.to_owned()).ok()?),
        origin,
        people,
        wait_seconds,
        task,
    })
    .filter(|_| text.len() <= MAX_CALL_BYTES)
}

impl From<CallEnded> for FinishedCall {
    fn from(ended: CallEnded) -> Self {
        let outcome = Outcome {
            reason: ended.reason,
            message: ended.message,
            hint: ended.hint,
            result: ended.result.map(Into::into),
            ..Outcome::new(ended.outcome)
        };
        Self {
            id: ended.id.and_then(|id| id.parse().ok()),
            outcome,
            duration: Duration::from_micros(ended.microseconds),
            recorded: ended.recorded,
        }
    }
}

fn lost_call_error(target: &Target) -> CliError {
    let server = &target.server;
    // The call may have run, so it is never retried here.
    let message = format!(
        "the `switchboard serve` that called `{target}` ended before it reported the outcome; the \
         call may have run"
    );
    let hint = format!("`switchboard calls --server {server}` shows its state");
    CliError::new(exit_code::FAILED, message).with_hint(hint)
}

struct RemoteCall<'a> {
    context: &'a CommandContext,
    instance: &'a RunningInstance,
    stream: CallStream,
    progress: mpsc::Sender<Json>,
    call: Option<String>,
    current: Option<(u64, PendingQuestion)>,
    waiting: VecDeque<(u64, QueuedQuestion, Option<String>)>,
    is_needed: Arc<AtomicBool>,
}

impl<'a> RemoteCall<'a> {
    /// Follows a call; from here on, SIGHUP is ignored while a question is open.
    fn new(
        context: &'a CommandContext,
        instance: &'a RunningInstance,
        stream: CallStream,
        progress: mpsc::Sender<Json>,
    ) -> Self {
        let is_needed = Arc::new(AtomicBool::new(false));
        let minded = Arc::clone(&is_needed);
        context.interrupts.ignore_hang_up_while(move || minded.load(Ordering::Acquire));
        let call = None;
        let current = None;
        let waiting = VecDeque::new();
        Self { context, instance, stream, progress, call, current, waiting, is_needed }
    }

    /// Follows the call to its end; `None` if its outcome is not received.
    async fn run(mut self) -> Option<CallEnded> {
        let stop = self.context.interrupts.token().clone();
        let mut until: Option<Instant> = None;
        loop {
            // Without the call's id, there is nothing yet to cancel; the first update brings it.
            let may_give_up = until.is_none() && self.call.is_some();
            tokio::select! {
                // The end of the call wins over an answer that came too late for it.
                biased;
                told = self.stream.next() => match told.ok()? {
                    CallUpdate::Ended(ended) => return Some(ended),
                    told => self.take(told),
                },
                () = stop.cancelled(), if may_give_up => {
                    until = Some(Instant::now() + CANCEL_TIMEOUT);
                    self.give_up().await;
                }
                () = wait_until(until) => return None,
                (question, given) = next_answer(&mut self.current) => {
                    self.current = None;
                    self.answer(question, &given).await;
                    self.ask_next();
                }
            }
        }
    }

    fn take(&mut self, told: CallUpdate) {
        match told {
            CallUpdate::Began { call } => self.call = Some(call),
            // A full channel drops the report: the next one replaces it.
            CallUpdate::Progress { report } => drop(self.progress.try_send(Json::from(&report))),
            CallUpdate::Asked { question, asked, anyway } => {
                self.waiting.push_back((question, asked, anyway));
                self.ask_next();
            }
            CallUpdate::Over { question } => {
                self.waiting.retain(|(number, ..)| *number != question);
                if self.current.as_ref().is_some_and(|(number, _)| *number == question) {
                    self.current = None;
                }
                self.ask_next();
            }
            CallUpdate::Waits { .. } => {
                // The question waits in the queue, so closing this terminal must not cancel the
                // call.
                self.is_needed.store(true, Ordering::Release);
                questions::report_event(self.context, &told);
            }
            told => {
                if matches!(told, CallUpdate::AnsweredElsewhere { .. } | CallUpdate::Expired) {
                    self.ask_next();
                }
                questions::report_event(self.context, &told);
            }
        }
    }

    fn ask_next(&mut self) {
        if self.current.is_none() {
            let next = self.waiting.pop_front();
            self.current = next.map(|(question, asked, anyway)| {
                (question, questions::ask_person(self.context, asked, anyway))
            });
        }
        self.is_needed.store(self.current.is_some(), Ordering::Release);
    }

    async fn answer(&self, question: u64, given: &UserDecision) {
        let Some(call) = &self.call else { return };
        let answer = QuestionAnswered { question, said: PersonAnswer::from(given) };
        // After a timeout, the stream of the call still shows whether the answer arrived.
        _ = timeout(CANCEL_TIMEOUT, self.instance.answer(call, &answer)).await;
    }

    async fn give_up(&self) {
        let Some(call) = &self.call else { return };
        // `run` waits for the stream until the same timeout anyway.
        _ = timeout(CANCEL_TIMEOUT, self.instance.give_up(call)).await;
    }
}

async fn next_answer(current: &mut Option<(u64, PendingQuestion)>) -> (u64, UserDecision) {
    match current {
        Some((question, putting)) => (*question, putting.await),
        None => std::future::pending().await,
    }
}

async fn wait_until(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}
