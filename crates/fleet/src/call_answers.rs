//! Who answers what a server asks for the sake of one call, where that is not the host itself.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use foldhash::HashMap;
use parking_lot::{Mutex, MutexGuard};

use crate::answers::Answers;

/// A server that has asked for the sake of a call waits for the answer: it hardly asks again for it,
/// unless it asked several things at once.
const CONCURRENT_ASK_WINDOW: Duration = Duration::from_secs(1);

/// The calls whose callers answer for themselves.
#[derive(Default)]
pub struct CallAnswers {
    /// How many there are, to be looked at without the lock.
    count: AtomicUsize,
    calls: Mutex<HashMap<u64, CallAnswersEntry>>,
}

struct CallAnswersEntry {
    answers: Arc<dyn Answers>,
    /// What was asked for its sake and has no answer yet: how much, and since when.
    open: usize,
    since: Instant,
}

/// A call whose caller answers for itself, until this is dropped.
pub struct CallAnswersGuard {
    call: u64,
    all: Arc<CallAnswers>,
}

/// Whose business a server's question is.
pub(crate) enum QuestionOwner {
    /// The host's: no caller answers for itself.
    Host,
    /// That caller's.
    Caller(CallerQuestion),
    /// One of several callers', and nothing tells which.
    Ambiguous,
}

/// A question that a caller is asked, until it is dropped.
pub(crate) struct CallerQuestion {
    call: u64,
    answers: Arc<dyn Answers>,
    all: Arc<CallAnswers>,
}

impl QuestionOwner {
    /// The call that it is for, where that is clear.
    pub(crate) fn call(&self) -> Option<u64> {
        match self {
            Self::Caller(theirs) => Some(theirs.call),
            Self::Host | Self::Ambiguous => None,
        }
    }
}

impl CallerQuestion {
    /// Who answers it.
    pub(crate) const fn answers(&self) -> &Arc<dyn Answers> {
        &self.answers
    }
}

impl CallAnswers {
    /// From here on `answers` is asked for the sake of `call`.
    #[must_use]
    pub fn enter(self: &Arc<Self>, call: u64, answers: Arc<dyn Answers>) -> CallAnswersGuard {
        let mut calls = self.calls();
        calls.insert(call, CallAnswersEntry { answers, open: 0, since: Instant::now() });
        self.count.store(calls.len(), Ordering::Release);
        CallAnswersGuard { call, all: Arc::clone(self) }
    }

    /// Whose business a question is that came while these calls were under way.
    pub(crate) fn owner(self: &Arc<Self>, under_way: &[u64]) -> QuestionOwner {
        if self.count.load(Ordering::Acquire) == 0 {
            return QuestionOwner::Host;
        }
        let mut calls = self.calls();
        let known = under_way.iter().filter(|call| calls.contains_key(call)).count();
        match known {
            0 => return QuestionOwner::Host,
            known if known < under_way.len() => return QuestionOwner::Ambiguous,
            _ => {}
        }
        let Some(call) = owning_call(&calls, under_way) else { return QuestionOwner::Ambiguous };
        let Some(of) = calls.get_mut(&call) else { return QuestionOwner::Ambiguous };
        if of.open == 0 {
            of.since = Instant::now();
        }
        of.open += 1;
        QuestionOwner::Caller(CallerQuestion {
            call,
            answers: Arc::clone(&of.answers),
            all: Arc::clone(self),
        })
    }

    fn calls(&self) -> MutexGuard<'_, HashMap<u64, CallAnswersEntry>> {
        self.calls.lock()
    }
}

/// The call that a question is for, where that is clear.
fn owning_call(calls: &HashMap<u64, CallAnswersEntry>, under_way: &[u64]) -> Option<u64> {
    let those = |wanted: &dyn Fn(&CallAnswersEntry) -> bool| -> Vec<u64> {
        let found = under_way.iter().filter(|call| calls.get(call).is_some_and(wanted));
        found.copied().collect()
    };
    let callers = |candidates: &[u64]| {
        let groups =
            candidates.iter().filter_map(|call| Some(calls.get(call)?.answers.caller_group()));
        groups.collect::<BTreeSet<u64>>().len()
    };
    let may_ask = those(&|of| of.open == 0 || of.since.elapsed() <= CONCURRENT_ASK_WINDOW);
    let candidates = if may_ask.is_empty() { under_way.to_vec() } else { may_ask };
    if callers(&candidates) != 1 {
        return None;
    }
    // One caller, so that only the order is open: a call that has not been asked for comes first.
    let free = those(&|of| of.open == 0);
    free.into_iter().filter(|call| candidates.contains(call)).max().or(candidates.into_iter().max())
}

impl Drop for CallerQuestion {
    fn drop(&mut self) {
        if let Some(of) = self.all.calls().get_mut(&self.call) {
            of.open = of.open.saturating_sub(1);
        }
    }
}

impl Drop for CallAnswersGuard {
    fn drop(&mut self) {
        let mut calls = self.all.calls();
        calls.remove(&self.call);
        self.all.count.store(calls.len(), Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{CallAnswers, QuestionOwner};
    use crate::answers::{AnswerFuture, Answers, DeclineAll, ServerRequest};

    struct GroupAnswers(u64);

    impl Answers for GroupAnswers {
        fn capabilities(&self, server: &str) -> String {
            DeclineAll.capabilities(server)
        }

        fn answer<'a>(&'a self, asking: ServerRequest<'a>) -> AnswerFuture<'a> {
            DeclineAll.answer(asking)
        }

        fn caller_group(&self) -> u64 {
            self.0
        }
    }

    fn word(whose: &QuestionOwner) -> String {
        match whose {
            QuestionOwner::Host => "ours".to_owned(),
            QuestionOwner::Caller(theirs) => theirs.answers().caller_group().to_string(),
            QuestionOwner::Ambiguous => "unclear".to_owned(),
        }
    }

    #[test]
    fn a_question_is_for_the_only_caller_it_can_be_for() {
        let all = Arc::new(CallAnswers::default());
        assert_eq!(word(&all.owner(&[1])), "ours");
        let _one = all.enter(1, Arc::new(GroupAnswers(7)));
        let _two = all.enter(2, Arc::new(GroupAnswers(7)));
        let three = all.enter(3, Arc::new(GroupAnswers(8)));
        for (under_way, expected) in [
            (&[][..], "ours"),
            (&[1], "7"),
            (&[1, 2], "7"),
            (&[3], "8"),
            (&[1, 3], "unclear"),
            (&[1, 9], "unclear"),
            (&[9], "ours"),
        ] {
            assert_eq!(word(&all.owner(under_way)), expected, "{under_way:?}");
        }
        // The server waits for an answer for the sake of the first: it asks for the other now.
        let _asked = all.owner(&[1]);
        std::thread::sleep(super::CONCURRENT_ASK_WINDOW + std::time::Duration::from_millis(50));
        assert_eq!(word(&all.owner(&[1, 3])), "8");
        drop(three);
        assert_eq!(word(&all.owner(&[3])), "ours");
    }
}
