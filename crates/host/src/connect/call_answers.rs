//! Who answers what a server asks for the sake of one call, where that is not the host itself.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::connect::Answers;

/// The calls whose callers answer for themselves.
#[derive(Default)]
pub struct CallAnswers {
    /// How many there are, to be looked at without the lock.
    count: AtomicUsize,
    calls: Mutex<HashMap<u64, Arc<dyn Answers>>>,
}

/// A call whose caller answers for itself, until this is dropped.
pub struct Entered {
    call: u64,
    all: Arc<CallAnswers>,
}

/// Whose business a server's question is.
pub(super) enum Whose {
    /// The host's: no caller answers for itself.
    Ours,
    /// That caller's.
    Theirs(Arc<dyn Answers>),
    /// One of several callers', and nothing tells which.
    Unclear,
}

impl CallAnswers {
    /// From here on `answers` is asked for the sake of `call`.
    #[must_use]
    pub fn enter(self: &Arc<Self>, call: u64, answers: Arc<dyn Answers>) -> Entered {
        let mut calls = self.calls();
        calls.insert(call, answers);
        self.count.store(calls.len(), Ordering::Release);
        Entered { call, all: Arc::clone(self) }
    }

    /// Whose business a question is that came while these calls were under way.
    pub(super) fn whose(&self, under_way: &[u64]) -> Whose {
        if self.count.load(Ordering::Acquire) == 0 {
            return Whose::Ours;
        }
        let calls = self.calls();
        let found: Vec<&Arc<dyn Answers>> =
            under_way.iter().filter_map(|call| calls.get(call)).collect();
        let Some(last) = found.last() else { return Whose::Ours };
        let same = found.iter().all(|one| one.group() == last.group());
        if same && found.len() == under_way.len() {
            Whose::Theirs(Arc::clone(last))
        } else {
            Whose::Unclear
        }
    }

    fn calls(&self) -> MutexGuard<'_, HashMap<u64, Arc<dyn Answers>>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        let mut calls = self.all.calls();
        calls.remove(&self.call);
        self.all.count.store(calls.len(), Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{CallAnswers, Whose};
    use crate::connect::{Answering, Answers, Asking, Declines};

    struct Of(u64);

    impl Answers for Of {
        fn capabilities(&self, server: &str) -> String {
            Declines.capabilities(server)
        }

        fn answer<'a>(&'a self, asking: Asking<'a>) -> Answering<'a> {
            Declines.answer(asking)
        }

        fn group(&self) -> u64 {
            self.0
        }
    }

    fn word(whose: Whose) -> String {
        match whose {
            Whose::Ours => "ours".to_owned(),
            Whose::Theirs(answers) => answers.group().to_string(),
            Whose::Unclear => "unclear".to_owned(),
        }
    }

    #[test]
    fn a_question_is_for_the_only_caller_it_can_be_for() {
        let all = Arc::new(CallAnswers::default());
        assert_eq!(word(all.whose(&[1])), "ours");
        let _one = all.enter(1, Arc::new(Of(7)));
        let _two = all.enter(2, Arc::new(Of(7)));
        let three = all.enter(3, Arc::new(Of(8)));
        for (under_way, expected) in [
            (&[][..], "ours"),
            (&[1], "7"),
            (&[1, 2], "7"),
            (&[3], "8"),
            (&[1, 3], "unclear"),
            (&[1, 9], "unclear"),
            (&[9], "ours"),
        ] {
            assert_eq!(word(all.whose(under_way)), expected, "{under_way:?}");
        }
        drop(three);
        assert_eq!(word(all.whose(&[3])), "ours");
    }
}
