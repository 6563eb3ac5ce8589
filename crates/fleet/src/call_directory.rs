//! The calls in flight, as connections see them: by the number that tags their requests.

use std::sync::Arc;

use switchboard_core::CallTimeline;

use crate::answers::Answers;

/// Finds calls in flight by their number. The host implements it.
pub trait CallDirectory: Send + Sync {
    /// Returns the steps of a call, to be added to.
    fn timeline(&self, call: u64) -> Option<CallTimeline>;

    /// Returns the caller whose call a question is for that a server asked while these calls were in
    /// flight, and counts the question until [`CallDirectory::end_question`].
    fn question_owner(&self, in_flight: &[u64]) -> QuestionOwner;

    /// Notes that a question for a call has its answer, or that the server withdrew it.
    fn end_question(&self, call: u64);
}

/// Who answers a server's question.
pub enum QuestionOwner {
    /// The host: no caller answers for itself.
    Host,
    /// The caller of one call, which answers for itself.
    Caller {
        /// The number of the call.
        call: u64,
        /// How its caller answers.
        answers: Arc<dyn Answers>,
    },
    /// One of several callers, and it is unknown which.
    Ambiguous,
}

impl QuestionOwner {
    /// The call that the question is for, where that is known.
    pub(crate) const fn call(&self) -> Option<u64> {
        match self {
            Self::Caller { call, .. } => Some(*call),
            Self::Host | Self::Ambiguous => None,
        }
    }
}

/// Ends a question of a caller when it is dropped: also when the task that answers it is.
pub(crate) struct QuestionGuard {
    call: u64,
    calls: Arc<dyn CallDirectory>,
}

impl QuestionGuard {
    pub(crate) fn new(owner: &QuestionOwner, calls: &Arc<dyn CallDirectory>) -> Option<Self> {
        Some(Self { call: owner.call()?, calls: Arc::clone(calls) })
    }
}

impl Drop for QuestionGuard {
    fn drop(&mut self) {
        self.calls.end_question(self.call);
    }
}
