//! The calls in flight, as connections see them: by the number that tags their requests.

use std::sync::Arc;

use switchboard_core::CallTimeline;

use crate::answers::Answers;

/// A directory of the calls in flight, by number. Implemented by the host.
pub trait CallDirectory: Send + Sync {
    fn timeline(&self, call: u64) -> Option<CallTimeline>;

    /// Returns the owner of a question that a server asked while these calls were in flight. The
    /// question counts as open until [`CallDirectory::end_question`].
    fn question_owner(&self, in_flight: &[u64]) -> QuestionOwner;

    /// Ends a question of a call: it was answered, or the server withdrew it.
    fn end_question(&self, call: u64);
}

/// The side that answers a server's question.
pub enum QuestionOwner {
    /// The host, since no caller answers for itself.
    Host,
    /// The caller of one call, which answers for itself.
    Caller { call: u64, answers: Arc<dyn Answers> },
    /// One of several callers; which one is unknown.
    Ambiguous,
}

impl QuestionOwner {
    pub(crate) const fn call(&self) -> Option<u64> {
        match self {
            Self::Caller { call, .. } => Some(*call),
            Self::Host | Self::Ambiguous => None,
        }
    }
}

/// Ends a caller's question on drop, including when the task that answers it is dropped.
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
