//! Who is asked what belongs to one call, instead of the person at the face.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::{Mutex, MutexGuard};

use crate::review::ask::Asker;

/// Those who answer what servers ask for the sake of one call each.
#[derive(Clone, Default)]
pub(crate) struct CallAskers(Arc<AskerRegistry>);

#[derive(Default)]
struct AskerRegistry {
    /// How many there are: a call looks here, and takes the lock only if there is one.
    count: AtomicUsize,
    next: AtomicUsize,
    all: Mutex<Vec<AskerEntry>>,
}

/// Which call is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhichCall {
    /// The one that its caller names so, such as by the id that a model gave it.
    Reference(String),
    /// The one with that number in the record.
    Number(u64),
}

struct AskerEntry {
    number: usize,
    which: WhichCall,
    /// The number of the call, once it has begun.
    call: Option<u64>,
    asker: Arc<dyn Asker>,
}

/// Somebody answers what belongs to one call, until this is dropped or the call has ended.
#[must_use = "the call's questions go to the face again when this is dropped"]
pub struct Registration {
    number: usize,
    askers: CallAskers,
}

/// Ends the registrations of a call with the call.
pub(crate) struct CallBinding {
    call: u64,
    askers: CallAskers,
}

impl CallAskers {
    /// From here on `asker` is asked what belongs to the call.
    pub(crate) fn register(&self, which: WhichCall, asker: Arc<dyn Asker>) -> Registration {
        let number = self.0.next.fetch_add(1, Ordering::Relaxed);
        let mut all = self.all();
        all.push(AskerEntry { number, which, call: None, asker });
        self.0.count.store(all.len(), Ordering::Release);
        Registration { number, askers: self.clone() }
    }

    /// Tells that a call begins; nothing, and nearly for free, unless somebody registered.
    pub(crate) fn begin(&self, call: u64, reference: Option<&str>) -> Option<CallBinding> {
        if self.0.count.load(Ordering::Acquire) == 0 {
            return None;
        }
        let mut found = false;
        for one in self.all().iter_mut().filter(|one| one.call.is_none()) {
            let is_meant = match &one.which {
                WhichCall::Reference(name) => Some(name.as_str()) == reference,
                WhichCall::Number(number) => *number == call,
            };
            if is_meant {
                one.call = Some(call);
                found = true;
            }
        }
        found.then(|| CallBinding { call, askers: self.clone() })
    }

    /// Who is asked for the sake of a call: whoever registered last.
    pub(crate) fn asker_for(&self, call: u64) -> Option<Arc<dyn Asker>> {
        if self.0.count.load(Ordering::Acquire) == 0 {
            return None;
        }
        // By its number a call can be meant that is already under way.
        let is_meant =
            |one: &&AskerEntry| one.call == Some(call) || one.which == WhichCall::Number(call);
        self.all().iter().rev().find(is_meant).map(|one| Arc::clone(&one.asker))
    }

    fn remove(&self, is_over: impl Fn(&AskerEntry) -> bool) {
        let mut all = self.all();
        all.retain(|one| !is_over(one));
        self.0.count.store(all.len(), Ordering::Release);
    }

    fn all(&self) -> MutexGuard<'_, Vec<AskerEntry>> {
        self.0.all.lock()
    }
}

impl From<&str> for WhichCall {
    fn from(reference: &str) -> Self {
        Self::Reference(reference.to_owned())
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.askers.remove(|one| one.number == self.number);
    }
}

impl Drop for CallBinding {
    fn drop(&mut self) {
        let number = WhichCall::Number(self.call);
        self.askers.remove(|one| one.call == Some(self.call) || one.which == number);
    }
}

impl std::fmt::Debug for Registration {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Registration").field("number", &self.number).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::ask::NobodyToAsk;

    #[test]
    fn a_registration_counts_from_the_beginning_of_its_call_to_the_end() {
        let askers = CallAskers::default();
        assert!(askers.begin(1, Some("a")).is_none(), "nobody has registered");
        let registration = askers.register("a".into(), Arc::new(NobodyToAsk));
        assert!(askers.asker_for(7).is_none(), "the call has not begun");
        assert!(askers.begin(6, Some("b")).is_none());
        let bound = askers.begin(7, Some("a"));
        assert!(bound.is_some());
        assert_eq!([6, 7, 8].map(|call| askers.asker_for(call).is_some()), [false, true, false]);
        drop(bound);
        assert!(askers.asker_for(7).is_none(), "the call has ended");
        drop(registration);
    }

    #[test]
    fn the_last_registration_counts_and_goes_away_with_its_guard() {
        let askers = CallAskers::default();
        let first: Arc<dyn Asker> = Arc::new(NobodyToAsk);
        let _first = askers.register(WhichCall::Number(7), Arc::clone(&first));
        let second = askers.register(WhichCall::Number(7), Arc::new(NobodyToAsk));
        assert!(askers.asker_for(7).is_some_and(|found| !Arc::ptr_eq(&found, &first)));
        drop(second);
        assert!(askers.asker_for(7).is_some_and(|found| Arc::ptr_eq(&found, &first)));
        drop(_first);
        assert!(askers.asker_for(7).is_none());
    }
}
