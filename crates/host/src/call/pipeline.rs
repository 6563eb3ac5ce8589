//! The line: the only way to run anything.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use bytes::Bytes;
use serde_json::Value;
use serde_json::value::RawValue;
use switchboard_catalog::{Lease, ResolveError, ResolvedCall};
use switchboard_core::{
    Caller, EventKind, Outcome, OutcomeKind, ProposedCall, Target, TaskHandle, TaskPlace,
    TaskState, TaskUpdate,
};
use switchboard_fleet::Answers;
use switchboard_store::{CallId, Intent, NewCall, OpenCall, Record};
use switchboard_text::redact;
use switchboard_wire::Json;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::call::execute;
use crate::call::execute::{AttemptObserver, ExecContext, TaskMode, TaskObserver};
use crate::call::hooks::AfterHooks;
use crate::call::task_calls::RunningTask;
use crate::host::Host;
use crate::review::{Asker, Reviewer, WhichCall};

/// What a caller can do while a call runs.
#[derive(Clone, Default)]
pub struct CallOptions {
    /// Gives the call up.
    pub cancel: CancellationToken,
    /// Gets reports of progress, as the server sends them.
    pub progress: Option<mpsc::Sender<Json>>,
    /// Answers what a server asks in the middle of this call, in place of the host's own.
    pub answers: Option<Arc<dyn Answers>>,
    /// Decides where a person has to, in place of the host's own.
    pub reviewer: Option<Arc<dyn Reviewer>>,
    /// Puts to the person what servers ask in the middle of this call, in place of the host's own.
    pub asker: Option<Arc<dyn Asker>>,
    /// What came before it.
    pub session: SessionScope,
    /// Which messages of a server are wanted during this call, if not those of the configuration.
    pub log_level: Option<String>,
    /// The caller's own members for the `_meta` of the request, as JSON text without braces. They
    /// go to the server as they are and are not recorded; none may be one of the protocol's.
    pub further_meta: Option<String>,
    /// What to do where a server goes on with the call by itself.
    pub task_mode: TaskMode,
    /// Is told when the call becomes a task, and what its server says of that.
    pub task_updates: Option<mpsc::Sender<TaskUpdate>>,
    /// Is told the number of the call before anything happens to it.
    pub number: Option<Arc<OnceLock<u64>>>,
}

/// What came before a call, as far as rules and answers of a person look back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SessionScope {
    /// The other calls of its caller, who is known by its name.
    #[default]
    Caller,
    /// The other calls of somebody who proved to be this one: others may have the same name.
    Verified(Arc<str>),
    /// Nothing: it stands alone, and nothing follows from it.
    None,
}

impl Host {
    /// Calls what `proposed` names, as `caller`, on the catalog that the caller saw.
    pub async fn call(&self, lease: &Lease, proposed: ProposedCall, caller: &Caller) -> Record {
        self.call_with(lease, proposed, caller, &CallOptions::default()).await
    }

    /// The same, for a caller that wants to watch or to give up.
    pub async fn call_with(
        &self,
        lease: &Lease,
        proposed: ProposedCall,
        caller: &Caller,
        attention: &CallOptions,
    ) -> Record {
        let open = match self.ledger().open_call(new_call(&proposed, caller)).await {
            Ok(open) => open,
            Err(error) => return Record::for_refused(&error),
        };
        let number = open.id().get().cast_unsigned();
        if let Some(told) = &attention.number {
            // Nobody else tells it.
            told.set(number).ok();
        }
        let own = attention.answers.clone();
        let _answers_for_itself = own.map(|answers| self.call_answers().enter(number, answers));
        let asker = attention.asker.clone();
        let _asks = asker.map(|asker| self.answer_for(WhichCall::Number(number), asker));
        let _asked = self.reviews().askers().begin(number, caller.reference.as_deref());
        let target = proposed.target.clone();
        let edited = OnceLock::new();
        let task = OnceLock::new();
        let done = OnceLock::new();
        let passage = CallPipeline {
            host: self,
            lease,
            caller,
            open: &open,
            options: attention,
            edited: &edited,
            task: &task,
            after_hooks: &done,
        };
        let outcome = tokio::select! {
            biased;
            outcome = passage.run_with_fallback(proposed) => outcome,
            () = attention.cancel.cancelled() => Box::pin(self.cancel_outcome(&target, task.get())).await,
        };
        if let (Some(done), Some(result)) = (done.get(), &outcome.result) {
            let result = String::from_utf8_lossy(result);
            Box::pin(self.run_after_hooks(done, &result, (&open, attention))).await;
        }
        let mut record = self.settle(open, outcome).await;
        record.edited = edited.into_inner();
        self.emit_finished(&target, &record);
        record
    }

    pub(crate) fn exec_context<'a>(
        &'a self,
        id: CallId,
        attention: &'a CallOptions,
    ) -> ExecContext<'a> {
        ExecContext {
            fleet: self.fleet(),
            answers: attention.answers.as_ref().unwrap_or(self.answers()),
            own_answers: attention.answers.as_ref(),
            log_level: attention.log_level.as_deref(),
            further_meta: attention.further_meta.as_deref(),
            progress: attention.progress.clone(),
            tag: id.get().cast_unsigned(),
            start_limit: self.start_timeout(),
            result_limit_bytes: self.config().load().settings.result_limit_bytes,
            events: self.events(),
            timelines: self.ledger().timelines(),
            task_mode: attention.task_mode,
        }
    }

    fn emit_started(&self, call: &ResolvedCall, open: &OpenCall) {
        self.events().emit_call(|| EventKind::CallStarted {
            call: open.id().to_string(),
            server: call.target().server.clone(),
            target: call.target().name.clone(),
            argument_keys: argument_keys(call.arguments()),
        });
    }

    pub(crate) fn emit_finished(&self, target: &Target, record: &Record) {
        self.events().emit_call(|| EventKind::CallFinished {
            call: record.id.map(|id| id.to_string()).unwrap_or_default(),
            server: target.server.clone(),
            target: target.name.clone(),
            outcome: record.outcome.kind.as_str().to_owned(),
            message: record
                .outcome
                .message
                .as_deref()
                .map(|text| redact::redact_text(text).into_owned()),
            milliseconds: u64::try_from(record.duration.as_millis()).unwrap_or(u64::MAX),
        });
    }
}

/// One call on its way along the line.
pub(crate) struct CallPipeline<'a> {
    pub host: &'a Host,
    pub lease: &'a Lease,
    pub caller: &'a Caller,
    pub open: &'a OpenCall,
    pub options: &'a CallOptions,
    /// The arguments that a person put in place of the proposed ones.
    edited: &'a OnceLock<Bytes>,
    /// The task that the call has become.
    task: &'a OnceLock<RunningTask>,
    /// What hooks are told of afterwards.
    after_hooks: &'a OnceLock<AfterHooks>,
}

impl CallPipeline<'_> {
    /// The line, and once more for the stand-in of a target that provably did not run.
    async fn run_with_fallback(&self, proposed: ProposedCall) -> Outcome {
        let target = proposed.target.clone();
        let arguments = proposed.arguments.clone();
        let outcome = self.run(proposed, None).await;
        if !provably_did_not_run(&outcome) {
            return outcome;
        }
        let Some(stand_in) = fallback_target(self.lease, &target) else { return outcome };
        let why = outcome.message.unwrap_or_else(|| outcome.kind.as_str().to_owned());
        let note: Arc<str> = format!("`{stand_in}` in place of `{target}`: {why}").into();
        // What a person put in place of the arguments holds for the stand-in as well.
        let edited = self.edited.get().cloned().and_then(|bytes| Json::parse(bytes).ok());
        let arguments = edited.unwrap_or(arguments);
        self.run(ProposedCall { target: stand_in, arguments }, Some(note)).await
    }

    async fn run(&self, proposed: ProposedCall, fallback: Option<Arc<str>>) -> Outcome {
        let Self { host, lease, open, options: attention, .. } = self;
        let target = proposed.target.clone();
        let written = proposed.arguments.clone();
        let resolved = match lease.resolve(proposed) {
            Ok(resolved) => resolved,
            Err(error) => {
                return self
                    .check_target_quarantine(&target)
                    .unwrap_or_else(|| unresolved_outcome(&error));
            }
        };
        if let Some(outcome) = self.check_quarantine(&resolved) {
            return outcome;
        }
        open.note_definition(Arc::clone(resolved.definition_digest()));
        let permitted = match self.decide(resolved).await {
            Ok(permitted) => permitted,
            Err(outcome) => return outcome,
        };
        let hooks = host.guard().hooks().in_force();
        let permitted = match &hooks {
            None => permitted,
            // Boxed: the future is large, and most calls do not need it.
            Some(hooks) => match Box::pin(self.before_hooks(hooks, permitted)).await {
                Ok(permitted) => permitted,
                Err(outcome) => return outcome,
            },
        };
        // A person may have taken their time.
        if let Some(outcome) = self.check_quarantine(permitted.call()) {
            return outcome;
        }
        host.emit_started(permitted.call(), open);
        let reach = host.exec_context(open.id(), attention);
        let arguments = permitted.call().arguments().bytes();
        if arguments != written.bytes() {
            self.edited.get_or_init(|| arguments.clone());
        }
        // For the stand-in as well: its arguments are no longer those that were proposed.
        let edited = self.edited.get().cloned();
        let target = permitted.call().target();
        let news = attention.task_updates.as_ref();
        let intended =
            IntentRecorder { open, target, fallback, edited, task: self.task, task_updates: news };
        let began = Instant::now();
        let outcome = execute::run(&permitted, &reach, &intended).await;
        if outcome.kind != OutcomeKind::NotSent {
            self.record_taint(permitted.call());
        }
        let told = hooks.filter(|hooks| outcome.result.is_some() && !hooks.after().is_empty());
        if let Some(hooks) = told {
            let occasion = host.occasion(permitted.call(), self.caller, open);
            self.after_hooks.get_or_init(|| AfterHooks { hooks, occasion, took: began.elapsed() });
        }
        lease.check_output(permitted.call(), outcome)
    }
}

/// Puts the intent of every attempt into the record before it leaves.
struct IntentRecorder<'a> {
    open: &'a OpenCall,
    target: &'a Target,
    fallback: Option<Arc<str>>,
    edited: Option<Bytes>,
    task: &'a OnceLock<RunningTask>,
    task_updates: Option<&'a mpsc::Sender<TaskUpdate>>,
}

impl IntentRecorder<'_> {
    fn send_task_update(&self, task: &TaskHandle, state: &TaskState) {
        if let Some(news) = self.task_updates {
            // Whoever does not keep up hears of the next.
            news.try_send(TaskUpdate { task: task.clone(), state: state.clone() }).ok();
        }
    }
}

impl TaskObserver for IntentRecorder<'_> {
    async fn task_updated(&self, task: &TaskHandle, state: &TaskState) {
        self.send_task_update(task, state);
        if let Some(running) = self.task.get() {
            running.record(self.open, task, state).await;
        }
    }
}

impl AttemptObserver for IntentRecorder<'_> {
    async fn before_attempt(&self, instance: usize, attempt: u32) -> Result<(), Outcome> {
        let instance = Some(format!("{}#{instance}", self.target.server).into());
        let fallback = self.fallback.clone();
        let intent = Intent { instance, attempt, arguments: self.edited.clone(), fallback };
        self.open.record_intent(intent).await.map_err(|error| error.outcome())
    }

    async fn became_task(&self, place: &TaskPlace, task: &TaskHandle, state: &TaskState) {
        let running = self.task.get_or_init(|| RunningTask {
            target: self.target.name.clone(),
            place: place.clone(),
            task: task.clone(),
        });
        running.record(self.open, task, state).await;
        self.send_task_update(task, state);
    }
}

/// Whether somebody else may run it without a doubt that it runs twice.
fn provably_did_not_run(outcome: &Outcome) -> bool {
    match outcome.kind {
        OutcomeKind::NotSent => true,
        // An error code may be handed through, and a redirect may mean "done, look there".
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

/// Where a call goes instead, if the configuration names a place.
fn fallback_target(lease: &Lease, target: &Target) -> Option<Target> {
    let server = lease.fleet().servers.get(target.server.as_str())?;
    let config = server.config.as_ref()?;
    let tool = config.tools.get(&target.name).and_then(|tool| tool.fallback.as_ref());
    let place = tool.or(config.fallback.as_ref())?;
    let known = |name: &str| lease.fleet().servers.contains_key(name);
    let (server, name) = match place.rsplit_once('/') {
        // A server's name may hold a slash itself.
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

/// A JSON object without members.
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

    /// Compiles only while a call can be spawned, as every face needs it.
    #[expect(dead_code, reason = "it is enough that it compiles")]
    fn a_call_can_be_spawned(host: Host, lease: Lease, proposed: ProposedCall) {
        fn assert_spawnable<F: Future + Send + 'static>(_future: F) {}
        assert_spawnable(async move {
            host.call_with(&lease, proposed, &Caller::person(), &CallOptions::default()).await
        });
    }
}
