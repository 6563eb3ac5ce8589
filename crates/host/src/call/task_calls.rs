//! Calls that continue as tasks: finished, inspected and cancelled later, by any process.

use std::sync::Arc;

use switchboard_core::{Outcome, ProposedCall, Target, TaskHandle, TaskPlace, TaskState};
use switchboard_store::{
    CallId, FullCall, Ledger, LedgerError, OpenCall, Record, StoredTask, TaskNote, VerdictWord,
};
use switchboard_wire::Json;

use crate::call::execute;
use crate::call::execute::{LaterTask, TaskObserver};
use crate::call::hooks::run_task_after_hooks;
use crate::call::in_flight::CallDetails;
use crate::call::pipeline::{CallOptions, emit_finished, enter_call, exec_context};
use crate::host::Host;

/// Why a request about a task failed.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    #[error("no call {0} is recorded")]
    NoCall(CallId),
    #[error("call {0} did not become a task")]
    NoTask(CallId),
    /// The server rejected the request or could not be reached.
    #[error("server `{server}`: {why}")]
    Server { server: String, why: String },
}

impl TaskError {
    /// Returns the next step for the user.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Ledger(error) => error.hint(),
            Self::NoCall(_) | Self::NoTask(_) => Some("`switchboard tasks` lists them"),
            Self::Server { .. } => None,
        }
    }
}

/// The task that a call has become.
#[derive(Debug)]
pub(crate) struct RunningTask {
    pub target: String,
    pub place: TaskPlace,
    pub task: TaskHandle,
}

impl RunningTask {
    pub(crate) async fn record(&self, open: &OpenCall, task: &TaskHandle, state: &TaskState) {
        let note = TaskNote {
            place: self.place.clone(),
            target: self.target.clone(),
            task: task.clone(),
            state: state.clone(),
        };
        // A task that cannot be recorded is still followed here, but not by other processes.
        _ = open.record_task(note).await;
    }
}

struct ResumedTaskCall<'a> {
    open: &'a OpenCall,
    running: RunningTask,
}

impl TaskObserver for ResumedTaskCall<'_> {
    async fn task_updated(&self, task: &TaskHandle, state: &TaskState) {
        self.running.record(self.open, task, state).await;
    }
}

/// The calls of a host that continue as tasks.
#[derive(Clone, Copy)]
pub struct TaskCalls<'a> {
    host: &'a Host,
}

impl Host {
    /// Returns a handle on the calls that continue as tasks.
    pub const fn tasks(&self) -> TaskCalls<'_> {
        TaskCalls { host: self }
    }
}

impl TaskCalls<'_> {
    /// Waits for the end of a call that continues as a task, and records it. Cancelling the wait
    /// leaves the task running.
    pub async fn finish(&self, call: CallId, options: &CallOptions) -> Result<Record, TaskError> {
        let (full, stored) = self.stored_task(call).await?;
        if full.summary.outcome.is_some() {
            return Ok(self.load_record(&full).await?);
        }
        let later = later(&full, &stored);
        let open = self.host.ledger().resume_call(&full);
        let _in_flight = enter_call(self.host, &open, CallDetails::from(&full), options);
        let outcome = {
            let StoredTask { place, target, task, .. } = stored.clone();
            let record =
                ResumedTaskCall { open: &open, running: RunningTask { target, place, task } };
            let reach = exec_context(self.host, &open, options);
            let finishing = execute::finish_task(&later, &reach, &record);
            match options.cancel.run_until_cancelled(finishing).await {
                Some(outcome) => self.check_result(&full, &later, outcome),
                None => {
                    let message =
                        format!("the task `{}` continues without a caller", stored.task.id);
                    Outcome::unknown(Outcome::TASK_RUNNING, message)
                }
            }
        };
        let outcome = with_expiry_message(outcome, &stored);
        if let Some(result) = &outcome.result {
            let result = String::from_utf8_lossy(result);
            let cancel = &options.cancel;
            run_task_after_hooks(self.host, &full, &later.target, &result, &open, cancel).await;
        }
        let record = settle(self.host.ledger(), open, outcome).await;
        emit_finished(self.host.events(), &later.target, &record);
        self.first_record(record).await
    }

    /// Cancels a call that continues as a task, and records that.
    pub async fn cancel(&self, call: CallId) -> Result<Record, TaskError> {
        let (full, stored) = self.stored_task(call).await?;
        if full.summary.outcome.is_some() {
            return Ok(self.load_record(&full).await?);
        }
        // The record says cancelled only if the server confirmed it.
        let cancelled = execute::cancel_task(self.host.fleet(), &stored.place, &stored.task).await;
        cancelled.map_err(|why| TaskError::Server { server: stored.place.server.clone(), why })?;
        let target = later(&full, &stored).target;
        let outcome = Outcome::cancelled("by_caller", cancel_message(&target));
        let record =
            settle(self.host.ledger(), self.host.ledger().resume_call(&full), outcome).await;
        emit_finished(self.host.events(), &target, &record);
        self.first_record(record).await
    }

    /// Requests the current state of the task that a call has become.
    pub async fn state(&self, call: CallId) -> Result<TaskState, TaskError> {
        let (_, stored) = self.stored_task(call).await?;
        let limit = self.host.start_timeout();
        let looking =
            execute::get_task_state(self.host.fleet(), &stored.place, &stored.task, limit);
        let server = stored.place.server.clone();
        looking.await.map_err(|why| TaskError::Server { server, why })
    }

    /// Lists the tasks of a server, including those that this host did not start.
    pub async fn list(&self, server: &str) -> Result<Vec<(TaskHandle, TaskState)>, TaskError> {
        let listing = execute::list_tasks(self.host.fleet(), server, self.host.start_timeout());
        listing.await.map_err(|why| TaskError::Server { server: server.to_owned(), why })
    }

    /// Returns the outcome of a call that its caller cancelled, after cancelling its task.
    pub(crate) async fn cancel_outcome(
        &self,
        target: &Target,
        task: Option<&RunningTask>,
    ) -> Outcome {
        let message = cancel_message(target);
        let Some(RunningTask { place, task, .. }) = task else {
            return Outcome::cancelled("by_caller", message);
        };
        match execute::cancel_task(self.host.fleet(), place, task).await {
            Ok(()) => Outcome::cancelled("by_caller", message),
            Err(why) => Outcome::cancelled(
                "by_caller",
                format!("{message}; its task `{}` may still be running: {why}", task.id),
            ),
        }
    }

    async fn stored_task(&self, call: CallId) -> Result<(FullCall, StoredTask), TaskError> {
        let full = self.host.ledger().show(call).await?.ok_or(TaskError::NoCall(call))?;
        let stored =
            self.host.ledger().task_for_call(call).await?.ok_or(TaskError::NoTask(call))?;
        Ok((full, stored))
    }

    /// Checks the result against the output schema of the definition that was called.
    fn check_result(&self, full: &FullCall, later: &LaterTask, outcome: Outcome) -> Outcome {
        let lease = self.host.lease();
        let sent = full.sent_arguments.as_ref().unwrap_or(&full.arguments).clone();
        let Ok(arguments) = Json::parse(sent) else { return outcome };
        let proposed = ProposedCall { target: later.target.clone(), arguments };
        match lease.resolve(proposed) {
            // Another definition may have another schema, which this result never promised to fit.
            Ok(call) if full.definition_digest.as_deref() == Some(call.definition_digest()) => {
                lease.check_output(&call, outcome)
            }
            _ => outcome,
        }
    }

    /// Returns the record, or that of another process if it closed the call first.
    async fn first_record(&self, record: Record) -> Result<Record, TaskError> {
        let Some(id) = record.id.filter(|_| !record.recorded) else { return Ok(record) };
        match self.host.ledger().show(id).await? {
            Some(full) if full.summary.outcome.is_some() => Ok(self.load_record(&full).await?),
            _ => Ok(record),
        }
    }

    async fn load_record(&self, full: &FullCall) -> Result<Record, LedgerError> {
        let summary = &full.summary;
        let word = |(word, by): &(VerdictWord, String)| (*word, Arc::from(by.as_str()));
        let outcome = Outcome {
            error: None,
            kind: summary.outcome.unwrap_or(switchboard_core::OutcomeKind::Unknown),
            reason: summary.reason.clone(),
            message: full.message.clone(),
            hint: full.hint.clone(),
            result: self.host.ledger().load_result(full).await?,
        };
        Ok(Record {
            id: Some(summary.id),
            outcome,
            created_at: summary.created_at,
            duration: summary.duration.unwrap_or_default(),
            verdict: summary.verdict.as_ref().map(word),
            recorded: true,
            edited: full.sent_arguments.clone(),
        })
    }
}

/// Closes a call, or leaves it open if its task continues and can be finished later.
pub(crate) async fn settle(ledger: &Ledger, open: OpenCall, outcome: Outcome) -> Record {
    if !(outcome.is_running() && open.is_task()) {
        return open.close(outcome).await;
    }
    let outcome = match ledger.open_report() {
        // Without a ledger, no other process could find the task.
        Some(_) => {
            let id = open.id();
            outcome.with_hint(format!("`switchboard tasks wait {id}` waits for its end"))
        }
        None => outcome,
    };
    open.leave_open(outcome)
}

fn later(full: &FullCall, stored: &StoredTask) -> LaterTask {
    let StoredTask { place, target, task, .. } = stored.clone();
    LaterTask { target: Target::new(full.summary.kind, &place.server, &target), place, task }
}

fn with_expiry_message(outcome: Outcome, stored: &StoredTask) -> Outcome {
    let lost = outcome.reason.as_deref() == Some("task_lost");
    if lost && stored.is_expired() {
        let StoredTask { place, task, .. } = stored;
        let message = format!("the task `{}` of server `{}` has expired", task.id, place.server);
        return outcome.with_message(message);
    }
    outcome
}

fn cancel_message(target: &Target) -> String {
    format!("the call of `{target}` was cancelled")
}
