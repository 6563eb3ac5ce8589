//! The hook step of the call pipeline: hooks can deny or change a call, and then get its result.

use std::sync::Arc;
use std::time::Duration;

use switchboard_catalog::ResolvedCall;
use switchboard_core::{
    Caller, EventKind, Happened, Origin, Outcome, ProposedCall, Target, TargetKind, TimelineStep,
};
use switchboard_policy::PermittedCall;
use switchboard_store::{FullCall, OpenCall, VerdictWord};
use switchboard_wire::Json;
use tokio_util::sync::CancellationToken;

use crate::call::pipeline::{CallPipeline, with_hint};
use crate::hooks::{
    Hook, HookAnswer, HookInput, HookOutcome, HookPermission, HookResult, HookRules, HookSet,
    ServerLocation,
};
use crate::host::Host;

/// Maximum number of rounds, which two hooks that undo each other's changes would exceed.
const MAX_ROUNDS: usize = 5;
/// Maximum number of characters of rewritten arguments kept in messages.
const MAX_ARGUMENT_CHARS: usize = 4_000;

/// A call that ran, for the hooks that are notified of its result.
pub(crate) struct AfterHooks {
    pub(crate) hooks: Arc<HookSet>,
    pub(crate) occasion: HookInput,
    pub(crate) took: Duration,
}

/// The combined answer of all hooks in one round.
enum HookRound {
    Passed,
    NeedsReview(HookDoubt),
    /// A hook replaced the arguments, and may also ask for approval.
    Rewritten {
        hook: Arc<Hook>,
        arguments: Json,
        doubt: Option<HookDoubt>,
    },
}

/// A hook's request for approval by a person.
struct HookDoubt {
    why: String,
    /// Whether the hook gave a message, which a reviewer has not seen yet.
    has_words: bool,
}

impl CallPipeline<'_> {
    pub(crate) async fn before_hooks(
        &self,
        hooks: Option<&Arc<HookSet>>,
        permitted: PermittedCall,
    ) -> Result<PermittedCall, Outcome> {
        match hooks {
            None => Ok(permitted),
            // Boxed: the future is large, and most calls do not need it.
            Some(hooks) => Box::pin(self.run_before_hooks(hooks, permitted)).await,
        }
    }

    /// Runs all hooks. Rewritten arguments are resolved, decided and passed to the hooks again.
    async fn run_before_hooks(
        &self,
        hooks: &HookSet,
        mut permitted: PermittedCall,
    ) -> Result<PermittedCall, Outcome> {
        // Fail closed: the unreadable file may contain the hook that would deny this call.
        if let Some(error) = hooks.first_error() {
            let message = format!("hooks cannot run: {error}");
            self.state.open.note_verdict(VerdictWord::Deny, message.as_str());
            return Err(with_hint(Outcome::denied("hook_error", message), error.hint()));
        }
        let mut rewriter: Option<Arc<Hook>> = None;
        let mut doubt: Option<HookDoubt> = None;
        // Whether a reviewer approved exactly these arguments at the request of a hook.
        let mut agreed = false;
        for _ in 0..MAX_ROUNDS {
            match self.run_hook_round(hooks, &permitted, rewriter.as_ref()).await? {
                HookRound::Rewritten { hook, arguments, doubt: more } => {
                    permitted = self.rewrite(permitted.call(), &hook, arguments).await?;
                    (rewriter, agreed) = (Some(hook), false);
                    doubt = more.or(doubt);
                    continue;
                }
                HookRound::NeedsReview(asked) => doubt = doubt.or(Some(asked)),
                HookRound::Passed => {}
            }
            let Some(HookDoubt { why, has_words }) = doubt.take() else { return Ok(permitted) };
            // A reviewer who already approved these arguments is asked again only if the hook adds
            // a message.
            if agreed || permitted.was_reviewed() && !has_words {
                return Ok(permitted);
            }
            let seen = permitted.call().arguments().bytes().clone();
            permitted = self.confirm(permitted, why).await?;
            if *permitted.call().arguments().bytes() == seen {
                return Ok(permitted);
            }
            // No hook has seen the arguments that the reviewer edited.
            (rewriter, agreed) = (None, true);
        }
        let message = "hooks keep replacing the arguments";
        self.state.open.note_verdict(VerdictWord::Deny, message);
        self.note_decision();
        Err(Outcome::denied("hook_error", message))
    }

    /// Runs every hook once, except the one whose rewrite is being checked.
    async fn run_hook_round(
        &self,
        hooks: &HookSet,
        permitted: &PermittedCall,
        rewriter: Option<&Arc<Hook>>,
    ) -> Result<HookRound, Outcome> {
        let call = permitted.call();
        let occasion = hook_input(self.host, call, self.caller, &self.state.open);
        let mut doubt = None;
        let mut chain_is_over = false;
        for hook in hooks.before() {
            // A rewriter would judge its own arguments; in Cursor 2.3.41, the first answer counts.
            let is_skipped = rewriter.is_some_and(|rewriter| Arc::ptr_eq(rewriter, hook))
                || chain_is_over && hook.rules == HookRules::Cursor2341;
            if is_skipped || !hook.matches(&call.target().server, &call.target().name) {
                continue;
            }
            let Some(answer) = self.ask_hook(hook, &occasion).await? else { continue };
            chain_is_over |= hook.rules == HookRules::Cursor2341;
            match answer.permission {
                HookPermission::Deny => return Err(self.hook_denial(hook, &answer)),
                HookPermission::Ask => {
                    doubt = doubt.or_else(|| Some(HookDoubt::new(hook, &answer)));
                }
                HookPermission::Allow => {}
            }
            if let Some(arguments) = answer.updated_input.filter(|new| differs_from(new, call)) {
                if call.target().kind != TargetKind::Tool {
                    let problem = "it replaces arguments, which only tools have";
                    return Err(self.hook_failure(hook, problem));
                }
                let hook = Arc::clone(hook);
                return Ok(HookRound::Rewritten { hook, arguments, doubt });
            }
        }
        Ok(doubt.map_or(HookRound::Passed, HookRound::NeedsReview))
    }

    /// Runs one hook; returns `None` if it failed and its failure does not block calls.
    async fn ask_hook(
        &self,
        hook: &Hook,
        occasion: &HookInput,
    ) -> Result<Option<HookAnswer>, Outcome> {
        self.note_decision();
        let HookResult { outcome: judged, took } =
            self.host.live_hooks().runner().ask(hook, occasion).await;
        let (answer, problem, message) = match &judged {
            HookOutcome::Answered(answer) => (answer.permission.as_str(), None, answer.message()),
            HookOutcome::Failed(failure) => ("error", Some(failure.message.as_str()), None),
        };
        let noted = HookNote { hook, answer, problem, message, took };
        record_hook(self.host, &self.state.open, noted);
        match judged {
            HookOutcome::Answered(answer) => Ok(Some(answer)),
            HookOutcome::Failed(failure) if HookResult::blocks_call(&failure, hook) => {
                Err(self.hook_failure(hook, &failure.message))
            }
            HookOutcome::Failed(_) => Ok(None),
        }
    }

    /// Resolves the call with the arguments of a hook, and decides it again.
    async fn rewrite(
        &self,
        call: &ResolvedCall,
        hook: &Hook,
        arguments: Json,
    ) -> Result<PermittedCall, Outcome> {
        let kept: String = arguments.as_str().chars().take(MAX_ARGUMENT_CHARS).collect();
        let replaced = format!("{} replaced the arguments with: {kept}", hook_label(hook));
        let proposed = ProposedCall { target: call.target().clone(), arguments };
        let resolved = self
            .lease
            .resolve(proposed)
            .map_err(|error| self.hook_failure(hook, &format!("{error}; {replaced}")))?;
        // A hook must not turn an allowed call into one that a rule denies.
        let decided = self.decide(resolved).await;
        self.state.open.append_verdict_note(&replaced);
        self.note_decision();
        decided.map_err(|mut outcome| {
            let said = outcome.message.take().unwrap_or_else(|| outcome.kind.as_str().to_owned());
            outcome.with_message(format!("{said}; {replaced}"))
        })
    }

    /// Records the current verdict on the timeline, before a hook may lead to another one.
    pub(crate) fn note_decision(&self) {
        if let Some((verdict, by)) = self.state.open.verdict() {
            self.state.open.timeline().add_decision(verdict.as_str(), &by);
        }
    }

    fn hook_denial(&self, hook: &Hook, answer: &HookAnswer) -> Outcome {
        let mut message = format!("{} denied the call", hook_label(hook));
        if let Some(words) = answer.message() {
            message.push_str(": ");
            message.push_str(&words);
        }
        self.state.open.note_verdict(VerdictWord::Deny, hook_label(hook));
        self.note_decision();
        Outcome::denied("hook", message)
    }

    fn hook_failure(&self, hook: &Hook, problem: &str) -> Outcome {
        let message = format!("{} failed, so the call does not run: {problem}", hook_label(hook));
        self.state.open.note_verdict(VerdictWord::Deny, format!("{}: {problem}", hook_label(hook)));
        self.note_decision();
        Outcome::denied("hook_error", message)
            .with_hint("fix the hook; `switchboard hooks test` shows the answer of each hook")
    }
}

/// Notifies the hooks of a result, until `cancel` fires. Hooks cannot change the result.
pub(crate) async fn run_after_hooks(
    host: &Host,
    after: &AfterHooks,
    result: &str,
    open: &OpenCall,
    cancel: &CancellationToken,
) {
    let AfterHooks { hooks, occasion, took } = after;
    let runner = host.live_hooks().runner();
    let telling = async {
        for hook in hooks.after() {
            if !hook.matches(&occasion.target.server, &occasion.target.name) {
                continue;
            }
            let (failure, told) = runner.notify(hook, occasion, result, *took).await;
            let problem = failure.as_ref().map(|failure| failure.message.as_str());
            let answer = if problem.is_some() { "error" } else { "told" };
            let message = None;
            record_hook(host, open, HookNote { hook, answer, problem, message, took: told });
        }
    };
    // The result is final, so a caller that cancels does not wait for slow hooks.
    cancel.run_until_cancelled(telling).await;
}

/// Notifies the hooks of the result of a call that continued as a task.
pub(crate) async fn run_task_after_hooks(
    host: &Host,
    full: &FullCall,
    target: &Target,
    result: &str,
    open: &OpenCall,
    cancel: &CancellationToken,
) {
    let hooks = host.live_hooks().in_force().filter(|hooks| !hooks.after().is_empty());
    let Some(hooks) = hooks else { return };
    let arguments = full.sent_arguments.as_ref().unwrap_or(&full.arguments);
    let servers = &host.fleet().load().servers;
    let config = servers.get(target.server.as_str()).and_then(|server| server.config.clone());
    let id = full.summary.id.to_string();
    let occasion = HookInput {
        conversation: format!("call-{id}"),
        call: id,
        model: full.summary.caller.strip_prefix("model:").unwrap_or_default().to_owned(),
        roots: host.roots(),
        target: target.clone(),
        arguments: String::from_utf8_lossy(arguments).into_owned(),
        location: ServerLocation::from_config(config.as_deref()),
    };
    let after = AfterHooks { hooks, occasion, took: open.elapsed() };
    run_after_hooks(host, &after, result, open, cancel).await;
}

pub(crate) fn hook_input(
    host: &Host,
    call: &ResolvedCall,
    caller: &Caller,
    open: &OpenCall,
) -> HookInput {
    let id = open.id().to_string();
    // A conversation's calls have references of the form `session/step/slot`.
    let session = caller.reference.as_deref().and_then(|text| text.split('/').next());
    HookInput {
        conversation: session.map_or_else(|| format!("call-{id}"), str::to_owned),
        call: id,
        model: match caller.origin {
            Origin::Model => caller.name.clone(),
            Origin::Person | Origin::Client => String::new(),
        },
        roots: host.roots(),
        target: call.target().clone(),
        arguments: call.arguments().as_str().to_owned(),
        location: ServerLocation::from_config(call.server().config.as_deref()),
    }
}

fn record_hook(host: &Host, open: &OpenCall, noted: HookNote<'_>) {
    let HookNote { hook, answer, problem, message, took } = noted;
    let milliseconds = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    let what = Happened::Hook {
        hook: hook.name.clone(),
        level: hook.level.as_str().to_owned(),
        when: hook.event.as_str().to_owned(),
        answer: answer.to_owned(),
        problem: problem.map(str::to_owned),
        message,
    };
    open.timeline().add(TimelineStep::ended_now(took, what));
    host.events().emit(|| EventKind::HookRan {
        call: open.id().to_string(),
        hook: hook.name.clone(),
        level: hook.level.as_str().to_owned(),
        when: hook.event.as_str().to_owned(),
        answer: answer.to_owned(),
        problem: problem.map(str::to_owned),
        milliseconds,
    });
}

struct HookNote<'a> {
    hook: &'a Hook,
    answer: &'a str,
    problem: Option<&'a str>,
    message: Option<String>,
    took: Duration,
}

impl HookDoubt {
    fn new(hook: &Hook, answer: &HookAnswer) -> Self {
        let words = answer.user_message.as_deref();
        let said = words.map(|said| format!(": {said}")).unwrap_or_default();
        let why = format!("{} asks for approval{said}", hook_label(hook));
        Self { why, has_words: words.is_some() }
    }
}

fn hook_label(hook: &Hook) -> String {
    format!("hook `{}` ({})", hook.name, hook.level.as_str())
}

/// Returns whether the arguments differ in value, not only in formatting.
fn differs_from(new: &Json, call: &ResolvedCall) -> bool {
    let value = |json: &Json| json.read::<serde_json::Value>().ok();
    // Unreadable arguments count as different, so that they are resolved and rejected.
    value(new).is_none() || value(new) != value(call.arguments())
}
