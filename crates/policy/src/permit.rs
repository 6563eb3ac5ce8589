//! The proof that a call may run, bound to the exact target and arguments.

use switchboard_catalog::ResolvedCall;
use switchboard_core::{Answer, Risk};

use crate::decide::CallContext;
use crate::facts::PolicyFacts;
use crate::risk::assess_risk;
use crate::rule_context::{ASKED_EACH_TIME, ReviewReason};

/// A call that may run. Only this crate creates one, so no call runs without a verdict.
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
/// The same imports compile without a forgery, so the tests above fail for the right reason:
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

/// A person's rejection of a call, with a message to the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserRejection {
    pub feedback: Option<String>,
}

impl PermittedCall {
    pub(crate) const fn new(call: ResolvedCall, by: String) -> Self {
        Self { call, by, reviewed: false }
    }

    /// Returns the permitted call.
    #[must_use]
    pub const fn call(&self) -> &ResolvedCall {
        &self.call
    }

    /// Returns the rule or person that allowed it.
    #[must_use]
    pub fn by(&self) -> &str {
        &self.by
    }

    /// Revokes the permit: a person must approve the call first, for this reason.
    #[must_use]
    pub fn into_question(self, why: String, asking: CallContext<'_>) -> Question {
        let risk = assess_risk(&PolicyFacts::new(&self.call, asking.caller, asking.session));
        Question::new(self.call, ReviewReason { why, repeat_reason: Some(ASKED_EACH_TIME) }, risk)
    }

    /// Returns whether a person reviewed this particular call.
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

    /// Repeats the question after an unusable answer.
    #[must_use]
    pub fn ask_again(self, problem: String) -> Self {
        Self { problem: Some(problem), ..self }
    }

    /// Returns the problem with the previous answer.
    #[must_use]
    pub fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// Returns the call in question.
    #[must_use]
    pub const fn call(&self) -> &ResolvedCall {
        &self.call
    }

    /// Returns the reason for the question.
    #[must_use]
    pub fn why(&self) -> &str {
        &self.doubt.why
    }

    /// Returns why the question will be repeated even after an answer for the future.
    #[must_use]
    pub const fn repeat_reason(&self) -> Option<&'static str> {
        self.doubt.repeat_reason
    }

    /// Returns whether earlier answers do not apply, so that every call is asked about.
    #[must_use]
    pub fn is_asked_each_time(&self) -> bool {
        self.doubt.repeat_reason == Some(ASKED_EACH_TIME)
    }

    /// Returns the risk of the call.
    #[must_use]
    pub const fn risk(&self) -> &Risk {
        &self.risk
    }

    /// Permits the call, unreviewed, by the person's earlier answer for this session.
    #[must_use]
    pub fn permit_from_earlier_answer(self) -> PermittedCall {
        PermittedCall::new(self.call, "a person, for this session".to_owned())
    }

    /// Permits `edited` instead: the same target with other arguments, resolved like any call.
    pub fn permit_edited(self, edited: ResolvedCall) -> Result<PermittedCall, UserRejection> {
        // The person saw this target. Another one needs its own review.
        if edited.target() != self.call.target() {
            return Err(UserRejection { feedback: None });
        }
        Ok(PermittedCall::new_reviewed(edited, "a person, with other arguments".to_owned()))
    }

    /// Applies the person's answer.
    pub fn answer(self, answer: Answer) -> Result<PermittedCall, UserRejection> {
        let by = match answer {
            Answer::Run => "a person, this once",
            Answer::Session => "a person, for this session",
            Answer::Always => "a person, from now on",
            // Edited arguments must be resolved first; see `permit_edited`.
            Answer::RunWith(_) | Answer::Skip => return Err(UserRejection { feedback: None }),
            Answer::Reject(feedback) => return Err(UserRejection { feedback: Some(feedback) }),
        };
        Ok(PermittedCall::new_reviewed(self.call, by.to_owned()))
    }
}
