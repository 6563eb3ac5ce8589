//! The part of the line that decides: policy, then a person if policy says so.

use std::collections::BTreeMap;
use std::sync::Arc;

use switchboard_catalog::{Flagged, ResolvedCall};
use switchboard_config::Config;
use switchboard_core::{
    Answer, Caller, EventKind, Face, Outcome, ProposedCall, Target, TargetKind,
};
use switchboard_policy::{
    CallContext, Decision, DenyReason, PermittedCall, Policy, PolicyFacts, Question, ResultCounts,
    RuleContext, SessionFacts, SessionKey, UserRejection,
};
use switchboard_rules::RuleEffect;
use switchboard_store::{LedgerError, VerdictWord};
use switchboard_wire::Json;

use crate::call::in_flight::CallDetails;
use crate::call::pipeline::{CallPipeline, SessionScope, with_hint};
use crate::host::Host;
use crate::review::{Unanswered, ask_question};

/// So often a person may put arguments in place before the call is given up.
const MAX_EDITS: usize = 10;

impl Host {
    /// Takes in that a conversation holds results of these targets of servers, one for each result,
    /// wherever they came from: one that was copied from another has what that one read.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub async fn restore_taint(
        &self,
        conversation: &str,
        results: impl IntoIterator<Item = (&str, &str)> + Send,
    ) -> Result<(), LedgerError> {
        let key = SessionKey::for_conversation(conversation);
        let mut held: BTreeMap<(String, String), u64> = BTreeMap::new();
        for (server, target) in results {
            *held.entry((server.to_owned(), target.to_owned())).or_default() += 1;
        }
        if !held.is_empty() {
            self.session_facts(&key).await?;
            let held = held.into_iter().map(|((server, target), times)| (server, target, times));
            self.ingest(&key, &held.collect::<Vec<_>>());
        }
        Ok(())
    }

    /// What a caller did so far; for a conversation that another process began, by the record.
    async fn session_facts(&self, key: &SessionKey) -> Result<SessionFacts, LedgerError> {
        let sessions = &self.guard().rules.sessions;
        if let Some(facts) = sessions.get(key) {
            return Ok(facts);
        }
        let Some(conversation) = key.conversation() else { return Ok(SessionFacts::default()) };
        let sent = self.ledger().targets_sent_in(conversation).await?;
        self.ingest(key, &sent);
        Ok(sessions.get(key).unwrap_or_default())
    }

    fn ingest(&self, key: &SessionKey, read: &[(String, String, u64)]) {
        let config = self.config().load();
        let is_trusted =
            |id: &str| config.servers.get(id).is_some_and(switchboard_policy::is_trusted);
        let mut results = ResultCounts::default();
        self.guard().rules.sessions.update(key, |facts| {
            for (server, target, times) in read {
                if is_trusted(server) {
                    facts.record_read(server);
                } else {
                    facts.record_untrusted_read(server);
                }
                results.add_count(server, target, *times);
            }
            Arc::make_mut(&mut facts.results).merge(&results);
        });
    }

    /// The rule that forbids a target to everybody, if there is one: for what is asked of servers
    /// beside calls.
    pub(crate) fn forbidding_rule(&self, target: &Target) -> Option<String> {
        let config = self.config().load();
        let policy = self.guard().rules.policy(&config.policies);
        let caller = Caller::person();
        let session = SessionFacts::default();
        let server = config.servers.get(target.server.as_str());
        let facts = PolicyFacts::without_definition(target, "{}", server, &caller, &session);
        let ruling = policy.ruling(&facts).filter(|ruling| ruling.effect == RuleEffect::Deny)?;
        Some(ruling.by.to_string())
    }
}

impl CallPipeline<'_> {
    /// Policy, then a person if policy says so.
    pub(crate) async fn decide(&self, resolved: ResolvedCall) -> Result<PermittedCall, Outcome> {
        let config = self.host.config().load();
        let in_force = self.host.guard().rules.policy(&config.policies);
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
        let answers = &self.host.guard().session_answers;
        let scope = &self.options.session;
        let is_allowed = || answers.allows(self.caller, scope, question.call());
        if !question.is_asked_each_time() && is_allowed() {
            let permitted = question.permit_from_earlier_answer();
            self.state.open.note_verdict(VerdictWord::Allow, permitted.by());
            return Ok(permitted);
        }
        self.state.open.note_verdict(VerdictWord::Ask, question.why());
        // Boxed: the future is large, and most calls do not need it.
        Box::pin(self.review(question, &session)).await
    }

    /// Has a person agree to a permitted call that somebody doubts.
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

    /// Asks a person, again where the arguments that they put in place do not fit.
    async fn review(
        &self,
        mut question: Question,
        session: &SessionFacts,
    ) -> Result<PermittedCall, Outcome> {
        let rejected = |rejected: UserRejection| Outcome::rejected(rejected.feedback);
        for _ in 0..MAX_EDITS {
            let putting = self.ask(&question);
            let Some(answer) = self.host.stop_token().run_until_cancelled(putting).await else {
                let why = "Switchboard ended before anybody had answered";
                return Err(Outcome::not_sent("host_ended", why));
            };
            let answer = answer.map_err(|unanswered| {
                with_hint(Outcome::denied("unanswered", unanswered.message), unanswered.hint)
            })?;
            let Answer::RunWith(arguments) = answer else {
                let is_yes = matches!(answer, Answer::Run | Answer::Session | Answer::Always);
                let refusal = is_yes.then(|| self.refusal(question.call(), session)).flatten();
                if let Some(denied) = refusal {
                    self.state.open.note_verdict(VerdictWord::Deny, denied.by.as_str());
                    return Err(Outcome::denied(denied.word, denied.to_string()));
                }
                match answer {
                    Answer::Always => self.remember_always(question.call()),
                    Answer::Session => {
                        let answers = &self.host.guard().session_answers;
                        answers.allow(self.caller, &self.options.session, question.call());
                    }
                    Answer::Run | Answer::RunWith(_) | Answer::Skip | Answer::Reject(_) => {}
                }
                return question.answer(answer).map_err(rejected);
            };
            match self.resolve_edited(question.call().target(), arguments, session) {
                Ok(edited) => return question.permit_edited(edited).map_err(rejected),
                Err(problem) => question = question.ask_again(problem),
            }
        }
        Err(Outcome::rejected(None))
    }

    /// Puts a question to the face, and to every other face by way of the queue.
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

    /// Looks up the same target with arguments that a person wrote.
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

    /// Why a call may not run whatever a person says, by the rules of this moment.
    fn refusal(&self, call: &ResolvedCall, session: &SessionFacts) -> Option<DenyReason> {
        let config = self.host.config().load();
        let in_force = self.host.guard().rules.policy(&config.policies);
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
        let always = self.host.is_always_allowed(target);
        // What this run allows its clients is not allowed to conversations of the web pages, nor to
        // commands that come to us; and MCP clients ask a person themselves before they call, where
        // an editor has us ask.
        let allowed: &[switchboard_rules::Pattern] = match self.caller.face {
            Face::Cli | Face::Console | Face::Editor => &[],
            Face::Library | Face::Chat | Face::Gateway => self.host.allow_patterns(),
        };
        let own = RuleContext::from_settings(&config.settings, allowed);
        RuleContext { always, policy: Some(policy), ..own }
    }

    /// Counts the call, and gives what its caller did before.
    async fn enter_session(&self, call: &ResolvedCall) -> Result<SessionFacts, Outcome> {
        let before = self.session_facts().await?;
        let Some(key) = self.session_key() else { return Ok(before) };
        Ok(self.host.guard().rules.sessions.enter(&key, call.target().server.as_str()))
    }

    async fn session_facts(&self) -> Result<SessionFacts, Outcome> {
        let Some(key) = self.session_key() else { return Ok(SessionFacts::default()) };
        let facts = self.host.session_facts(&key).await;
        facts.map_err(|error| error.outcome())
    }

    /// What it is one of many of; nothing for a call that stands alone.
    fn session_key(&self) -> Option<SessionKey> {
        match &self.options.session {
            SessionScope::Caller => Some(SessionKey::for_caller(self.caller)),
            SessionScope::Verified(whoever) => Some(SessionKey::for_verified(whoever)),
            SessionScope::None => None,
        }
    }

    /// Takes in that something came back from a server.
    pub(crate) fn record_taint(&self, call: &ResolvedCall) {
        let server = call.target().server.as_str();
        let target = call.target().name.as_str();
        let trusted = call.server().config.as_deref().is_some_and(switchboard_policy::is_trusted);
        let Some(key) = self.session_key() else { return };
        self.host.guard().rules.sessions.update(&key, |facts| {
            if trusted {
                facts.record_read(server);
            } else {
                facts.record_untrusted_read(server);
            }
            facts.record_result(server, target);
        });
    }

    /// Keeps a person's "always" where the server is configured.
    fn remember_always(&self, call: &ResolvedCall) {
        // The lists of the configuration are of tools; what is read is asked about each time.
        if call.target().kind != TargetKind::Tool {
            return;
        }
        if let Err(error) = self.host.allow_always(call) {
            // The call runs all the same: the answer was yes. The next one is asked again.
            let problems = vec![error.to_string()];
            self.host.events().emit(|| EventKind::ConfigChanged { problems });
        }
    }
}
