//! The proof that a call may run, bound to the exact target and arguments.

use crate::catalog::ResolvedCall;
use crate::policy::rules::SWITCHED_OFF;

/// A call that may run. Only policy makes one, so nothing runs without it.
///
/// ```compile_fail
/// fn forge(call: switchboard_host::catalog::ResolvedCall) -> switchboard_host::policy::PermittedCall {
///     switchboard_host::policy::PermittedCall { call, by: "me".to_owned() }
/// }
/// ```
///
/// ```compile_fail
/// fn forge(call: switchboard_host::catalog::ResolvedCall) -> switchboard_host::policy::PermittedCall {
///     switchboard_host::policy::PermittedCall::new(call, "me".to_owned())
/// }
/// ```
#[derive(Debug)]
pub struct PermittedCall {
    call: ResolvedCall,
    by: String,
}

/// A call that waits for a person's answer.
#[derive(Debug)]
pub struct Question {
    call: ResolvedCall,
    why: String,
    problem: Option<String>,
}

/// What a person says to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Run it, this once.
    Run,
    /// Run it with these arguments instead: the text of a JSON object.
    RunWith(String),
    /// Run it, and do not ask for this tool again.
    Always,
    /// Leave it out.
    Skip,
    /// Do not run it; do this instead.
    Reject(String),
}

/// Why a person did not let a call run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// What to do differently, in the person's words.
    pub feedback: Option<String>,
}

impl PermittedCall {
    pub(super) const fn new(call: ResolvedCall, by: String) -> Self {
        Self { call, by }
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

impl Question {
    pub(super) const fn new(call: ResolvedCall, why: String) -> Self {
        Self { call, why, problem: None }
    }

    /// The same question once more, because the answer could not be used.
    #[must_use]
    pub fn again(self, problem: String) -> Self {
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
        &self.why
    }

    /// Whether it will be asked again all the same, because the global switch is off.
    #[must_use]
    pub fn asks_anyway(&self) -> bool {
        self.why == SWITCHED_OFF
    }

    /// Takes the person's answer: run `edited` instead, which is the same target with other
    /// arguments, looked up like any call.
    ///
    /// # Errors
    /// When it is another target.
    pub fn answered_with(self, edited: ResolvedCall) -> Result<PermittedCall, Rejected> {
        if edited.target() != self.call.target() {
            return Err(Rejected { feedback: None });
        }
        Ok(PermittedCall::new(edited, "a person, with other arguments".to_owned()))
    }

    /// Takes the person's answer.
    ///
    /// # Errors
    /// When the person does not want it to run.
    pub fn answered(self, answer: Answer) -> Result<PermittedCall, Rejected> {
        match answer {
            Answer::Run => Ok(PermittedCall::new(self.call, "a person, this once".to_owned())),
            // Arguments that nobody looked up cannot run; see `answered_with`.
            Answer::RunWith(_) => Err(Rejected { feedback: None }),
            Answer::Always => Ok(PermittedCall::new(self.call, "a person, from now on".to_owned())),
            Answer::Skip => Err(Rejected { feedback: None }),
            Answer::Reject(feedback) => Err(Rejected { feedback: Some(feedback) }),
        }
    }
}
