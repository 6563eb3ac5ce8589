//! The call pipeline: the only way to run a call.
//!
//! [`CallPipeline::run`] has the steps. Each returns `Result<_, Outcome>`; an `Err` ends the call.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use parking_lot::Mutex;
use serde_json::Value;
use serde_json::value::RawValue;
use switchboard_catalog::{Lease, ResolveError, ResolvedCall};
use switchboard_core::{
    Caller, EventKind, Events, Outcome, OutcomeKind, ProposedCall, Target, TaskHandle, TaskPlace,
    TaskState, TaskUpdate,
};
use switchboard_fleet::Answers;
use switchboard_policy::PermittedCall;
use switchboard_store::{Intent, NewCall, OpenCall, Record};
use switchboard_text::redact_text;
use switchboard_wire::Json;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::call::execute;
use crate::call::execute::{AttemptObserver, ExecContext, TaskMode, TaskObserver};
use crate::call::hooks::{AfterHooks, hook_input, run_after_hooks};
use crate::call::in_flight::{CallDetails, InFlightGuard, OwnAnswers};
use crate::call::task_calls::{RunningTask, settle};
use crate::hooks::HookSet;
use crate::host::Host;
use crate::review::{Asker, Reviewer};

/// Options of one call: cancellation, progress, and the caller's own answers and reviewer.
#[derive(Clone, Default)]
pub struct CallOptions {
    pub cancel: CancellationToken,
    /// Receives progress reports as the server sends them.
    pub progress: Option<mpsc::Sender<Json>>,
    /// Answers the server's requests during this call, instead of the host's answers.
    pub answers: Option<Arc<dyn Answers>>,
    /// Reviews this call, instead of the host's reviewer.
    pub reviewer: Option<Arc<dyn Reviewer>>,
    /// Asks a person on behalf of servers during this call, instead of the host's asker.
    pub asker: Option<Arc<dyn Asker>>,
    pub session: SessionScope,
    /// Log level requested from the server during this call, instead of the configured one.
    pub log_level: Option<String>,
    /// Additional `_meta` members of the request, as JSON text without braces. They are sent
    /// unchanged and not recorded, and must not be members that the protocol defines.
    pub further_meta: Option<String>,
    /// Whether the call may run as a task, and whether the caller waits for its end.
    pub task_mode: TaskMode,
    /// Receives the task that the call becomes, and its state changes.
    pub task_updates: Option<mpsc::Sender<TaskUpdate>>,
    /// Receives the number of the call as soon as it is recorded, before any other step.
    pub opened: Option<watch::Sender<Option<u64>>>,
}

/// The earlier calls that rules and a reviewer's "for this session" answers take into account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SessionScope {
    /// The calls of the same caller, identified by its name.
    #[default]
    Caller,
    /// The calls of the same verified identity; other callers may have the same name.
    Verified(Arc<str>),
    /// No calls: this one belongs to no session and leaves no taint.
    None,
}

impl Host {
    /// Calls the target of `proposed` as `caller`, on the catalog of the lease.
    pub async fn call(&self, lease: &Lease, proposed: ProposedCall, caller: &Caller) -> Record {
        self.call_with(lease, proposed, caller, &CallOptions::default()).await
    }

    /// Like [`Host::call`], with options such as cancellation and progress.
    pub async fn call_with(
        &self,
        lease: &Lease,
        proposed: ProposedCall,
        caller: &Caller,
        options: &CallOptions,
    ) -> Record {
        let new = new_call(&proposed, caller);
        let details = CallDetails::from(&new);
        let open = match self.ledger().open_call(new).await {
            Ok(open) => open,
            // A call that cannot be recorded does not run.
            Err(error) => return Record::for_refused(&error),
        };
        let number = open.id().get().cast_unsigned();
        if let Some(opened) = &options.opened {
            opened.send_replace(Some(number));
        }
        let _in_flight = enter_call(self, &open, details, options);
        let target = proposed.target.clone();
        let state = CallState::new(open);
        let pipeline = CallPipeline { host: self, lease, caller, state: &state, options };
        let outcome = tokio::select! {
            // Biased: an outcome that is ready counts even if the caller cancels at the same time.
            biased;
            outcome = pipeline.run_with_fallback(proposed) => outcome,
            () = options.cancel.cancelled() => {
                // The dropped future has already cancelled the request, but a task outlives it.
                let task = state.task();
                Box::pin(self.tasks().cancel_outcome(&target, task.as_deref())).await
            }
        };
        finish_call(self, state, &target, outcome, options).await
    }
}

async fn finish_call(
    host: &Host,
    state: CallState,
    target: &Target,
    outcome: Outcome,
    options: &CallOptions,
) -> Record {
    let CallState { open, progress } = state;
    let CallProgress { edited, after_hooks, .. } = progress.into_inner();
    // Before the row is closed, so that the timeline of the call includes these hooks.
    if let (Some(hooks), Some(result)) = (&after_hooks, &outcome.result) {
        let result = String::from_utf8_lossy(result);
        Box::pin(run_after_hooks(host, hooks, &result, &open, &options.cancel)).await;
    }
    let mut record = settle(host.ledger(), open, outcome).await;
    record.edited = edited;
    emit_finished(host.events(), target, &record);
    record
}

/// Registers a call for connections and reviews, until the guard is dropped.
pub(crate) fn enter_call(
    host: &Host,
    open: &OpenCall,
    details: CallDetails,
    options: &CallOptions,
) -> InFlightGuard {
    let own = OwnAnswers { answers: options.answers.clone(), asker: options.asker.clone() };
    let number = open.id().get().cast_unsigned();
    host.in_flight().enter(number, details, open.timeline().clone(), own)
}

pub(crate) fn exec_context<'a>(
    host: &'a Host,
    open: &'a OpenCall,
    options: &'a CallOptions,
) -> ExecContext<'a> {
    ExecContext {
        fleet: host.fleet(),
        answers: options.answers.as_ref().unwrap_or(host.answers()),
        own_answers: options.answers.as_ref(),
        log_level: options.log_level.as_deref(),
        further_meta: options.further_meta.as_deref(),
        progress: options.progress.clone(),
        tag: open.id().get().cast_unsigned(),
        start_limit: host.start_timeout(),
        result_limit_bytes: host.config().load().settings.result_limit_bytes,
        events: host.events(),
        timeline: open.timeline(),
        task_mode: options.task_mode,
    }
}

fn emit_started(events: &Events, call: &ResolvedCall, open: &OpenCall) {
    events.emit_call(|| EventKind::CallStarted {
        call: open.id().to_string(),
        server: call.target().server.clone(),
        target: call.target().name.clone(),
        argument_keys: argument_keys(call.arguments()),
    });
}

pub(crate) fn emit_finished(events: &Events, target: &Target, record: &Record) {
    events.emit_call(|| EventKind::CallFinished {
        call: record.id.map(|id| id.to_string()).unwrap_or_default(),
        server: target.server.clone(),
        target: target.name.clone(),
        outcome: record.outcome.kind.as_str().to_owned(),
        message: record.outcome.message.as_deref().map(|text| redact_text(text).into_owned()),
        milliseconds: u64::try_from(record.duration.as_millis()).unwrap_or(u64::MAX),
    });
}

/// A call in flight.
///
/// It outlives the future of the pipeline, which is dropped midway when the caller cancels: a task
/// that the server has created must still be known.
pub(crate) struct CallState {
    pub(crate) open: OpenCall,
    progress: Mutex<CallProgress>,
}

#[derive(Default)]
struct CallProgress {
    /// The arguments sent to the server, if they differ from the proposed ones.
    edited: Option<Bytes>,
    task: Option<Arc<RunningTask>>,
    /// The hooks to run once the call has ended.
    after_hooks: Option<AfterHooks>,
}

impl CallState {
    fn new(open: OpenCall) -> Self {
        Self { open, progress: Mutex::default() }
    }

    fn task(&self) -> Option<Arc<RunningTask>> {
        self.progress.lock().task.clone()
    }

    /// Stores the arguments to be sent, if they differ from the proposed ones, and returns them for
    /// the record. The first edit stays: a fallback target gets it too.
    fn note_arguments(&self, proposed: &Json, sent: &Json) -> Option<Bytes> {
        let mut progress = self.progress.lock();
        if progress.edited.is_none() && sent.bytes() != proposed.bytes() {
            progress.edited = Some(sent.bytes().clone());
        }
        progress.edited.clone()
    }
}

/// One call on its way through the steps.
pub(crate) struct CallPipeline<'a> {
    pub host: &'a Host,
    pub lease: &'a Lease,
    pub caller: &'a Caller,
    pub state: &'a CallState,
    pub options: &'a CallOptions,
}

impl CallPipeline<'_> {
    /// Runs the steps, and repeats them for the fallback if the call provably did not run.
    async fn run_with_fallback(&self, proposed: ProposedCall) -> Outcome {
        let target = proposed.target.clone();
        let arguments = proposed.arguments.clone();
        let outcome = either(self.run(proposed, None).await);
        if !provably_did_not_run(&outcome) {
            return outcome;
        }
        let Some(fallback) = fallback_target(self.lease, &target) else { return outcome };
        let why = outcome.message.unwrap_or_else(|| outcome.kind.as_str().to_owned());
        let note: Arc<str> = format!("`{fallback}` instead of `{target}`: {why}").into();
        // A reviewer's edit applies to the call, whichever server runs it.
        let edited = self.state.progress.lock().edited.clone();
        let arguments = edited.and_then(|bytes| Json::parse(bytes).ok()).unwrap_or(arguments);
        either(self.run(ProposedCall { target: fallback, arguments }, Some(note)).await)
    }

    /// Runs the steps of a call. An `Err` is the outcome of a call stopped before execution.
    async fn run(
        &self,
        proposed: ProposedCall,
        fallback: Option<Arc<str>>,
    ) -> Result<Outcome, Outcome> {
        let arguments = proposed.arguments.clone();
        let resolved = self.resolve(proposed)?;
        self.reject_if_quarantined(&resolved)?;
        self.state.open.note_definition(Arc::clone(resolved.definition_digest()));
        let permitted = self.decide(resolved).await?;
        // One snapshot: the hooks after the call are those of the set that ran before it.
        let hooks = self.host.live_hooks().in_force();
        let permitted = self.before_hooks(hooks.as_ref(), permitted).await?;
        // Again: a reviewer or a hook may have taken minutes, in which the definition can change.
        self.reject_if_quarantined(permitted.call())?;
        let edited = self.state.note_arguments(&arguments, permitted.call().arguments());
        let began = Instant::now();
        let outcome = self.execute(&permitted, edited, fallback).await;
        self.schedule_after_hooks(hooks, permitted.call(), &outcome, began.elapsed());
        Ok(self.lease.check_output(permitted.call(), outcome))
    }

    /// Resolves the target in the lease and checks the arguments.
    fn resolve(&self, proposed: ProposedCall) -> Result<ResolvedCall, Outcome> {
        let target = proposed.target.clone();
        self.lease.resolve(proposed).map_err(|error| {
            // A quarantined target is not listed; say why instead of "not found".
            self.target_quarantine(&target).unwrap_or_else(|| unresolved_outcome(&error))
        })
    }

    async fn execute(
        &self,
        permitted: &PermittedCall,
        edited: Option<Bytes>,
        fallback: Option<Arc<str>>,
    ) -> Outcome {
        let call = permitted.call();
        let state = self.state;
        emit_started(self.host.events(), call, &state.open);
        let context = exec_context(self.host, &state.open, self.options);
        let task_updates = self.options.task_updates.as_ref();
        let intent =
            IntentRecorder { state, target: call.target(), fallback, edited, task_updates };
        let outcome = execute::run(permitted, &context, &intent).await;
        // A call that was sent may have returned text to the caller, even if it failed.
        if outcome.kind != OutcomeKind::NotSent {
            self.record_taint(call);
        }
        outcome
    }

    fn schedule_after_hooks(
        &self,
        hooks: Option<Arc<HookSet>>,
        call: &ResolvedCall,
        outcome: &Outcome,
        took: Duration,
    ) {
        let wanted = |hooks: &Arc<HookSet>| outcome.result.is_some() && !hooks.after().is_empty();
        if let Some(hooks) = hooks.filter(wanted) {
            let occasion = hook_input(self.host, call, self.caller, &self.state.open);
            let after_hooks = AfterHooks { hooks, occasion, took };
            self.state.progress.lock().after_hooks.get_or_insert(after_hooks);
        }
    }
}

fn either(outcome: Result<Outcome, Outcome>) -> Outcome {
    outcome.unwrap_or_else(|stopped| stopped)
}

/// Records the intent of every attempt before its first byte is sent.
struct IntentRecorder<'a> {
    state: &'a CallState,
    target: &'a Target,
    fallback: Option<Arc<str>>,
    edited: Option<Bytes>,
    task_updates: Option<&'a mpsc::Sender<TaskUpdate>>,
}

impl IntentRecorder<'_> {
    fn send_task_update(&self, task: &TaskHandle, state: &TaskState) {
        if let Some(news) = self.task_updates {
            // A slow receiver misses this update and gets the next one.
            _ = news.try_send(TaskUpdate { task: task.clone(), state: state.clone() });
        }
    }
}

impl TaskObserver for IntentRecorder<'_> {
    async fn task_updated(&self, task: &TaskHandle, state: &TaskState) {
        self.send_task_update(task, state);
        if let Some(running) = self.state.task() {
            running.record(&self.state.open, task, state).await;
        }
    }
}

impl AttemptObserver for IntentRecorder<'_> {
    async fn before_attempt(&self, instance: usize, attempt: u32) -> Result<(), Outcome> {
        let instance = Some(format!("{}#{instance}", self.target.server).into());
        let fallback = self.fallback.clone();
        let intent = Intent { instance, attempt, arguments: self.edited.clone(), fallback };
        self.state.open.record_intent(intent).await.map_err(|error| error.outcome())
    }

    async fn became_task(&self, place: &TaskPlace, task: &TaskHandle, state: &TaskState) {
        let running = Arc::new(RunningTask {
            target: self.target.name.clone(),
            place: place.clone(),
            task: task.clone(),
        });
        self.state.progress.lock().task.get_or_insert_with(|| Arc::clone(&running));
        running.record(&self.state.open, task, state).await;
        self.send_task_update(task, state);
    }
}

/// Returns whether a fallback can run without the risk that the call runs twice.
fn provably_did_not_run(outcome: &Outcome) -> bool {
    match outcome.kind {
        OutcomeKind::NotSent => true,
        // A server may forward an error code from elsewhere, and a redirect may follow a success.
        OutcomeKind::Refused => {
            !matches!(outcome.reason.as_deref(), Some("rpc_error" | "redirect"))
        }
        _ => false,
    }
}

pub(crate) fn with_hint(outcome: Outcome, hint: Option<String>) -> Outcome {
    match hint {
        Some(hint) => outcome.with_hint(hint),
        None => outcome,
    }
}

fn new_call(proposed: &ProposedCall, caller: &Caller) -> NewCall {
    let target = &proposed.target;
    NewCall {
        face: caller.face.as_str().into(),
        caller: [caller.origin.as_str(), ":", &caller.name].concat().into(),
        server: target.server.as_str().into(),
        kind: target.kind,
        target: target.name.as_str().into(),
        arguments: proposed.arguments.bytes().clone(),
        reference: caller.reference.as_deref().map(Arc::from),
    }
}

fn unresolved_outcome(error: &ResolveError) -> Outcome {
    with_hint(Outcome::not_sent(error.word(), error.to_string()), error.hint())
}

fn fallback_target(lease: &Lease, target: &Target) -> Option<Target> {
    let server = lease.fleet().servers.get(target.server.as_str())?;
    let config = server.config.as_ref()?;
    let tool = config.tools.get(&target.name).and_then(|tool| tool.fallback.as_ref());
    let place = tool.or(config.fallback.as_ref())?;
    let known = |name: &str| lease.fleet().servers.contains_key(name);
    let (server, name) = match place.rsplit_once('/') {
        // A server's name may contain a slash.
        Some((server, name)) if !known(place) && known(server) => (server, name),
        _ => (place.as_str(), target.name.as_str()),
    };
    Some(Target::new(target.kind, server, name))
}

fn argument_keys(arguments: &Json) -> Vec<String> {
    let members: Option<std::collections::BTreeMap<String, &RawValue>> = arguments.read().ok();
    members.map(|members| members.into_keys().collect()).unwrap_or_default()
}

/// How long the host waits for its tasks when it stops.
pub(crate) const STOP_TIMEOUT: Duration = Duration::from_secs(8);

/// Returns a JSON object without members.
#[must_use]
pub fn no_arguments() -> Json {
    Json::from(&Value::Object(serde_json::Map::new()))
}

#[cfg(test)]
mod tests {
    use switchboard_catalog::Lease;
    use switchboard_core::{Caller, ProposedCall};

    use super::CallOptions;
    use crate::host::Host;

    /// Compiles only if a call can be spawned, which every face needs.
    #[expect(dead_code, reason = "it is enough that it compiles")]
    fn a_call_can_be_spawned(host: Host, lease: Lease, proposed: ProposedCall) {
        fn assert_spawnable<F: Future + Send + 'static>(_future: F) {}
        assert_spawnable(async move {
            host.call_with(&lease, proposed, &Caller::person(), &CallOptions::default()).await
        });
    }
}
