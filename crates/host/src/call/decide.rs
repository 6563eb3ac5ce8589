//! The decision step of the call pipeline: policy, then a review if the verdict is *ask*.

use switchboard_catalog::{Flagged, ResolvedCall};
use switchboard_config::Config;
use switchboard_core::{
    Answer, Caller, EventKind, Face, Outcome, ProposedCall, Target, TargetKind,
};
use switchboard_policy::{
    CallContext, Decision, DenyReason, PermittedCall, Policy, Question, RuleContext, SessionFacts,
    UserRejection,
};
use switchboard_store::VerdictWord;
use switchboard_wire::Json;

use crate::call::in_flight::CallDetails;
use crate::call::pipeline::{CallPipeline, with_hint};
use crate::review::{Unanswered, ask_question};

/// Maximum number of argument edits per review.
const MAX_EDITS: usize = 10;

impl CallPipeline<'_> {
    /// Decides a resolved call, with a reviewer if the verdict is *ask*.
    pub(crate) async fn decide(&self, resolved: ResolvedCall) -> Result<PermittedCall, Outcome> {
        let config = self.host.config().load();
        let in_force = self.host.rules().policy(&config.policies);
        let session = self.enter_session(&resolved).await?;
        let asking = CallContext { caller: self.caller, session: &session };
        let found = self.lease.flagged_definition(resolved.target());
        let found = found.filter(|one| one.is_suspicious()).map(Flagged::reason);
        let rules = self.rule_context(&config, &in_force, resolved.target());
        let rules = RuleContext { flagged: found.as_deref(), ..rules };
        let question = match switchboard_policy::decide(resolved, asking, rules) {
            Decision::Permitted(permitted) => {
                self.state.open.note_verdict(VerdictWord::Allow, permitted.by());
                return Ok(permitted);
            }
            Decision::Denied(denied) => {
                self.state.open.note_verdict(VerdictWord::Deny, denied.by.as_str());
                return Err(Outcome::denied(denied.word, denied.to_string()));
            }
            Decision::Asked(question) => question,
        };
        let answers = self.host.session_answers();
        // After the policy: an earlier answer never overrides a deny rule.
        if !question.is_asked_each_time()
            && answers.allows(self.caller, &self.options.session, question.call())
        {
            let permitted = question.permit_from_earlier_answer();
            self.state.open.note_verdict(VerdictWord::Allow, permitted.by());
            return Ok(permitted);
        }
        self.state.open.note_verdict(VerdictWord::Ask, question.why());
        // Boxed: the future is large, and most calls do not need it.
        Box::pin(self.review(question, &session)).await
    }

    /// Asks a reviewer to confirm a permitted call that a hook flagged.
    pub(crate) async fn confirm(
        &self,
        permitted: PermittedCall,
        why: String,
    ) -> Result<PermittedCall, Outcome> {
        self.state.open.note_verdict(VerdictWord::Ask, why.as_str());
        self.note_decision();
        let session = self.session_facts().await?;
        let asking = CallContext { caller: self.caller, session: &session };
        Box::pin(self.review(permitted.into_question(why, asking), &session)).await
    }

    /// Asks a reviewer, and asks again if edited arguments do not resolve or are denied.
    async fn review(
        &self,
        mut question: Question,
        session: &SessionFacts,
    ) -> Result<PermittedCall, Outcome> {
        let rejected = |rejected: UserRejection| Outcome::rejected(rejected.feedback);
        for _ in 0..MAX_EDITS {
            let asking = self.ask(&question);
            let Some(answer) = self.host.stop_token().run_until_cancelled(asking).await else {
                let why = "Switchboard stopped before the review was answered";
                return Err(Outcome::not_sent("host_ended", why));
            };
            let answer = answer.map_err(|unanswered| {
                with_hint(Outcome::denied("unanswered", unanswered.message), unanswered.hint)
            })?;
            let Answer::RunWith(arguments) = answer else {
                // The rules may have changed while the reviewer was deciding.
                let is_yes = matches!(answer, Answer::Run | Answer::Session | Answer::Always);
                let refusal = is_yes.then(|| self.refusal(question.call(), session)).flatten();
                if let Some(denied) = refusal {
                    self.state.open.note_verdict(VerdictWord::Deny, denied.by.as_str());
                    return Err(Outcome::denied(denied.word, denied.to_string()));
                }
                // Only after the check above: a denied answer must not be remembered.
                match answer {
                    Answer::Always => self.remember_always(question.call()),
                    Answer::Session => {
                        let answers = self.host.session_answers();
                        answers.allow(self.caller, &self.options.session, question.call());
                    }
                    Answer::Run | Answer::RunWith(_) | Answer::Skip | Answer::Reject(_) => {}
                }
                return question.answer(answer).map_err(rejected);
            };
            // Edited arguments are checked like proposed ones, since a reviewer can mistype them.
            match self.resolve_edited(question.call().target(), arguments, session) {
                Ok(edited) => return question.permit_edited(edited).map_err(rejected),
                Err(problem) => question = question.ask_again(problem),
            }
        }
        Err(Outcome::rejected(None))
    }

    /// Sends a question to the face's reviewer and, through the queue, to all other faces.
    async fn ask(&self, question: &Question) -> Result<Answer, Unanswered> {
        let Caller { face, origin, name, reference } = self.caller;
        let seen = CallDetails {
            target: None,
            reference: reference.as_deref().map(Into::into),
            caller: Some(format!("{face}, {origin}:{name}").into()),
        };
        let number = self.state.open.id().get().cast_unsigned();
        let own = self.options.reviewer.as_ref();
        let reviewer = own.unwrap_or(self.host.reviewer()).as_ref();
        ask_question(self.host.reviews(), reviewer, question, number, seen).await
    }

    fn resolve_edited(
        &self,
        target: &Target,
        arguments: String,
        session: &SessionFacts,
    ) -> Result<ResolvedCall, String> {
        let arguments = Json::parse(arguments.into()).map_err(|error| error.to_string())?;
        let proposed = ProposedCall { target: target.clone(), arguments };
        let edited = self.lease.resolve(proposed).map_err(|error| error.to_string())?;
        match self.refusal(&edited, session) {
            Some(denied) => Err(denied.to_string()),
            None => Ok(edited),
        }
    }

    /// Returns why the current rules deny a call, regardless of a reviewer's answer.
    fn refusal(&self, call: &ResolvedCall, session: &SessionFacts) -> Option<DenyReason> {
        let config = self.host.config().load();
        let in_force = self.host.rules().policy(&config.policies);
        let asking = CallContext { caller: self.caller, session };
        switchboard_policy::refusal(
            call,
            asking,
            self.rule_context(&config, &in_force, call.target()),
        )
    }

    fn rule_context<'r>(
        &'r self,
        config: &Config,
        policy: &'r Policy,
        target: &Target,
    ) -> RuleContext<'r> {
        let always = self.host.always_allowed().allows(target, &self.host.fleet().load());
        // The allow patterns of this run are for its own clients, not for conversations in the
        // console or for commands forwarded to this process. MCP clients ask their own user before
        // they call; an editor relies on us to ask.
        let allowed: &[switchboard_rules::Pattern] = match self.caller.face {
            Face::Cli | Face::Console | Face::Editor => &[],
            Face::Library | Face::Chat | Face::Gateway => self.host.allow_patterns(),
        };
        let own = RuleContext::from_settings(&config.settings, allowed);
        RuleContext { always, policy: Some(policy), ..own }
    }

    /// Stores an "always" answer in the configuration of the server.
    fn remember_always(&self, call: &ResolvedCall) {
        // The configuration lists only tools; resources and prompts are asked about each time.
        if call.target().kind != TargetKind::Tool {
            return;
        }
        if let Err(error) = self.host.always_allowed().allow(call) {
            // The answer was yes, so the call runs even if it cannot be stored; the next call
            // needs a new answer.
            let problems = vec![error.to_string()];
            self.host.events().emit(|| EventKind::ConfigChanged { problems });
        }
    }
}
