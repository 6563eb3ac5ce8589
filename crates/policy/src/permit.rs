//! The proof that a call may run, bound to the exact target and arguments.

use switchboard_catalog::ResolvedCall;
use switchboard_core::{Answer, Risk};

use crate::decide::CallContext;
use crate::facts::PolicyFacts;
use crate::risk::assess_risk;
use crate::rule_context::{ASKED_EACH_TIME, ReviewReason};

/// A call that may run. Only policy makes one, so nothing runs without it.
///
/// ```compile_fail
/// use switchboard_catalog::ResolvedCall;
/// use switchboard_policy::PermittedCall;
///
/// fn forge(call: ResolvedCall) -> PermittedCall {
///     PermittedCall { call, by: "me".to_owned(), reviewed: true }
/// }
/// ```
///
/// ```compile_fail
/// use switchboard_catalog::ResolvedCall;
/// use switchboard_policy::PermittedCall;
///
/// fn forge(call: ResolvedCall) -> PermittedCall {
///     PermittedCall::new(call, "me".to_owned())
/// }
/// ```
///
/// The same imports compile where nothing is forged, so the tests above fail for the right reason:
///
/// ```
/// use switchboard_catalog::ResolvedCall;
/// use switchboard_policy::PermittedCall;
///
/// fn resolved(permitted: &PermittedCall) -> &ResolvedCall {
///     permitted.call()
/// }
/// ```
#[derive(Debug)]
pub struct PermittedCall {
    call: ResolvedCall,
    by: String,
    reviewed: bool,
}

/// A call that waits for a person's answer.
#[derive(Debug)]
pub struct Question {
    call: ResolvedCall,
    doubt: ReviewReason,
    risk: Risk,
    problem: Option<String>,
}

/// Why a person did not let a call run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserRejection {
    /// What to do differently, in the person's words.
    pub feedback: Option<String>,
}

impl PermittedCall {
    pub(crate) const fn new(call: ResolvedCall, by: String) -> Self {
        Self { call, by, reviewed: false }
    }

    /// The call.
    #[must_use]
    pub const fn call(&self) -> &ResolvedCall {
        &self.call
    }

    /// Who or what allowed it.
    #[must_use]
    pub fn by(&self) -> &str {
        &self.by
    }
}

impl PermittedCall {
    /// Takes the permit back: a person has to agree first, for this reason.
    #[must_use]
    pub fn into_question(self, why: String, asking: CallContext<'_>) -> Question {
        let risk = assess_risk(&PolicyFacts::new(&self.call, asking.caller, asking.session));
        Question::new(self.call, ReviewReason { why, repeat_reason: Some(ASKED_EACH_TIME) }, risk)
    }

    /// Whether a person was asked about this very call.
    #[must_use]
    pub const fn was_reviewed(&self) -> bool {
        self.reviewed
    }

    const fn new_reviewed(call: ResolvedCall, by: String) -> Self {
        Self { call, by, reviewed: true }
    }
}

impl Question {
    pub(crate) const fn new(call: ResolvedCall, doubt: ReviewReason, risk: Risk) -> Self {
        Self { call, doubt, risk, problem: None }
    }

    /// The same question once more, because the answer could not be used.
    #[must_use]
    pub fn ask_again(self, problem: String) -> Self {
        Self { problem: Some(problem), ..self }
    }

    /// What was wrong with the answer before.
    #[must_use]
    pub fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// The call.
    #[must_use]
    pub const fn call(&self) -> &ResolvedCall {
        &self.call
    }

    /// Why it is asked.
    #[must_use]
    pub fn why(&self) -> &str {
        &self.doubt.why
    }

    /// Why it will be asked again all the same, whatever a person says for the future.
    #[must_use]
    pub const fn repeat_reason(&self) -> Option<&'static str> {
        self.doubt.repeat_reason
    }

    /// Whether no earlier answer counts for it.
    #[must_use]
    pub fn is_asked_each_time(&self) -> bool {
        self.doubt.repeat_reason == Some(ASKED_EACH_TIME)
    }

    /// How much harm it could do.
    #[must_use]
    pub const fn risk(&self) -> &Risk {
        &self.risk
    }

    /// Takes what the person said about this tool earlier in the session: nobody was asked about
    /// this very call.
    #[must_use]
    pub fn permit_from_earlier_answer(self) -> PermittedCall {
        PermittedCall::new(self.call, "a person, for this session".to_owned())
    }

    /// Takes the person's answer: run `edited` instead, which is the same target with other
    /// arguments, looked up like any call.
    ///
    /// # Errors
    /// When it is another target.
    pub fn permit_edited(self, edited: ResolvedCall) -> Result<PermittedCall, UserRejection> {
        if edited.target() != self.call.target() {
            return Err(UserRejection { feedback: None });
        }
        Ok(PermittedCall::new_reviewed(edited, "a person, with other arguments".to_owned()))
    }

    /// Takes the person's answer.
    ///
    /// # Errors
    /// When the person does not want it to run.
    pub fn answer(self, answer: Answer) -> Result<PermittedCall, UserRejection> {
        match answer {
            Answer::Run => {
                Ok(PermittedCall::new_reviewed(self.call, "a person, this once".to_owned()))
            }
            // Arguments that nobody looked up cannot run; see `permit_edited`.
            Answer::RunWith(_) => Err(UserRejection { feedback: None }),
            Answer::Session => {
                Ok(PermittedCall::new_reviewed(self.call, "a person, for this session".to_owned()))
            }
            Answer::Always => {
                Ok(PermittedCall::new_reviewed(self.call, "a person, from now on".to_owned()))
            }
            Answer::Skip => Err(UserRejection { feedback: None }),
            Answer::Reject(feedback) => Err(UserRejection { feedback: Some(feedback) }),
        }
    }
}
