//! The part of the line that decides: policy, then a person if policy says so.

use switchboard_wire::Json;

use crate::call::{Passage, with_hint};
use crate::caller::Caller;
use crate::catalog::ResolvedCall;
use crate::events::What;
use crate::outcome::Outcome;
use crate::policy::{self, Answer, Decision, PermittedCall, Question, Rejected, Rules};
use crate::proposed::{ProposedCall, Target, TargetKind};
use crate::record::VerdictWord;
use crate::review::{CallSeen, Unanswered, put_question};

/// So often a person may put arguments in place before the call is given up.
const MOST_EDITS: usize = 10;

impl Passage<'_> {
    /// Policy, then a person if policy says so.
    pub(crate) async fn decide(&self, resolved: ResolvedCall) -> Result<PermittedCall, Outcome> {
        let config = self.host.config().load();
        let always = self.host.is_always_allowed(resolved.target());
        let rules = Rules { always, ..Rules::of(&config.settings, self.host.allowed()) };
        let question = match policy::decide(resolved, self.caller, rules) {
            Decision::Permitted(permitted) => {
                self.open.decided(VerdictWord::Allow, permitted.by());
                return Ok(permitted);
            }
            Decision::Denied(denied) => {
                self.open.decided(VerdictWord::Deny, denied.by.as_str());
                return Err(Outcome::denied("policy", denied.to_string()));
            }
            Decision::Asked(question) => question,
        };
        self.open.decided(VerdictWord::Ask, question.why());
        self.review(question).await
    }

    /// Asks a person, again where the arguments that they put in place do not fit.
    async fn review(&self, mut question: Question) -> Result<PermittedCall, Outcome> {
        let rejected = |rejected: Rejected| Outcome::rejected(rejected.feedback);
        for _ in 0..MOST_EDITS {
            let answer = self.put(&question).await.map_err(|unanswered| {
                with_hint(Outcome::denied("unanswered", unanswered.message), unanswered.hint)
            })?;
            let Answer::RunWith(arguments) = answer else {
                if answer == Answer::Always {
                    self.remember(question.call());
                }
                return question.answered(answer).map_err(rejected);
            };
            match self.edited(question.call().target(), arguments) {
                Ok(edited) => return question.answered_with(edited).map_err(rejected),
                Err(problem) => question = question.again(problem),
            }
        }
        Err(Outcome::rejected(None))
    }

    /// Puts a question to the face, and to every other face by way of the queue.
    async fn put(&self, question: &Question) -> Result<Answer, Unanswered> {
        let Caller { face, origin, name, reference } = self.caller;
        let seen = CallSeen {
            target: None,
            reference: reference.clone(),
            caller: Some(format!("{face}, {origin}:{name}")),
        };
        let number = self.open.id().get().cast_unsigned();
        let own = self.attention.reviewer.as_ref();
        let reviewer = own.unwrap_or(self.host.reviewer()).as_ref();
        put_question(self.host.waiting(), reviewer, question, (number, seen)).await
    }

    /// Looks up the same target with arguments that a person wrote.
    fn edited(&self, target: &Target, arguments: String) -> Result<ResolvedCall, String> {
        let arguments = Json::checked(arguments.into()).map_err(|error| error.to_string())?;
        let proposed = ProposedCall { target: target.clone(), arguments };
        self.lease.resolve(proposed).map_err(|error| error.to_string())
    }

    /// Keeps a person's "always" where the server is configured.
    fn remember(&self, call: &ResolvedCall) {
        let Some(config) = &call.server().config else { return };
        // The lists of the configuration are of tools; what is read is asked about each time.
        if call.target().kind != TargetKind::Tool {
            return;
        }
        if let Err(error) = self.host.allow_always(config, &call.target().name) {
            // The call runs all the same: the answer was yes. The next one is asked again.
            let problems = vec![error.to_string()];
            self.host.events().tell(|| What::ConfigChanged { problems });
        }
    }
}
