//! The calls in flight, in one table by number for connections, reviews and faces.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use foldhash::HashMap;
use parking_lot::Mutex;
use switchboard_core::CallTimeline;
use switchboard_fleet::{Answers, CallDirectory, QuestionOwner};
use switchboard_store::{CallId, FullCall, NewCall};

use crate::review::Asker;

/// How long after its first open question a call can still be the source of another one. A server
/// that waits for an answer rarely asks again, unless it asks several questions at once.
const CONCURRENT_ASK_WINDOW: Duration = Duration::from_secs(1);

/// The calls in flight. Clones share one table.
#[derive(Clone, Default)]
pub(crate) struct InFlight(Arc<Mutex<InFlightTable>>);

#[derive(Default)]
struct InFlightTable {
    calls: HashMap<u64, InFlightCall>,
    /// Registrations for calls that have not started.
    expected: Vec<AskerRegistration>,
    /// Numbers entries and registrations, so that each guard removes only its own.
    next: u64,
}

struct InFlightCall {
    entry: u64,
    details: CallDetails,
    timeline: CallTimeline,
    /// The caller's own answers, if it does not leave them to the host.
    answers: Option<Arc<dyn Answers>>,
    /// Number of unanswered questions for the caller, and when the first of them was asked.
    open_questions: usize,
    asked_at: Instant,
    /// The registered askers, of which the last one gets the questions.
    askers: Vec<AskerRegistration>,
}

/// Identifies a call in flight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhichCall {
    /// The caller's reference, such as the id that a model chose.
    Reference(String),
    /// The number in the record.
    Number(u64),
}

struct AskerRegistration {
    number: u64,
    which: WhichCall,
    asker: Arc<dyn Asker>,
}

/// Keeps an asker registered for one call, until it is dropped or the call ends.
#[must_use = "the call's questions go to the face again when this is dropped"]
pub struct Registration {
    number: u64,
    table: InFlight,
}

/// Keeps a call in the table until it is dropped.
pub(crate) struct InFlightGuard {
    call: u64,
    entry: u64,
    table: InFlight,
}

/// The details of a call that are shown with a question about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CallDetails {
    pub target: Option<Arc<str>>,
    pub reference: Option<Arc<str>>,
    pub caller: Option<Arc<str>>,
}

impl From<&NewCall> for CallDetails {
    fn from(call: &NewCall) -> Self {
        Self {
            target: Some(Arc::clone(&call.target)),
            reference: call.reference.clone(),
            caller: Some(Arc::clone(&call.caller)),
        }
    }
}

impl From<&FullCall> for CallDetails {
    fn from(call: &FullCall) -> Self {
        Self {
            target: Some(call.summary.target.as_str().into()),
            reference: call.reference.as_deref().map(Into::into),
            caller: Some(call.summary.caller.as_str().into()),
        }
    }
}

/// The caller's own answers and asker, used instead of the host's.
#[derive(Clone, Default)]
pub(crate) struct OwnAnswers {
    pub answers: Option<Arc<dyn Answers>>,
    pub asker: Option<Arc<dyn Asker>>,
}

impl InFlight {
    /// Enters a call, with the askers that were registered for it in advance.
    pub(crate) fn enter(
        &self,
        call: u64,
        details: CallDetails,
        timeline: CallTimeline,
        own: OwnAnswers,
    ) -> InFlightGuard {
        let mut table = self.0.lock();
        let entry = table.next_number();
        let reference = details.reference.as_deref();
        let is_meant = |registration: &mut AskerRegistration| match &registration.which {
            WhichCall::Reference(name) => Some(name.as_str()) == reference,
            WhichCall::Number(number) => *number == call,
        };
        let mut askers: Vec<_> = table.expected.extract_if(.., is_meant).collect();
        if let Some(asker) = own.asker {
            askers.push(AskerRegistration { number: entry, which: WhichCall::Number(call), asker });
        }
        let answers = own.answers;
        let asked_at = Instant::now();
        let in_flight =
            InFlightCall { entry, details, timeline, answers, open_questions: 0, asked_at, askers };
        table.calls.insert(call, in_flight);
        drop(table);
        InFlightGuard { call, entry, table: self.clone() }
    }

    /// Registers an asker for a call that is in flight or will be.
    pub(crate) fn register(&self, which: WhichCall, asker: Arc<dyn Asker>) -> Registration {
        let mut table = self.0.lock();
        let number = table.next_number();
        let registration = AskerRegistration { number, which, asker };
        let in_flight = match &registration.which {
            WhichCall::Number(call) => table.calls.get_mut(call),
            // Two callers may use the same reference, so it identifies only the next call.
            WhichCall::Reference(_) => None,
        };
        match in_flight {
            Some(call) => call.askers.push(registration),
            None => table.expected.push(registration),
        }
        drop(table);
        Registration { number, table: self.clone() }
    }

    /// Returns the asker for the questions of a call: the one registered last.
    pub(crate) fn asker(&self, call: u64) -> Option<Arc<dyn Asker>> {
        let table = self.0.lock();
        table.calls.get(&call)?.askers.last().map(|last| Arc::clone(&last.asker))
    }

    pub(crate) fn details(&self, call: u64) -> CallDetails {
        self.0.lock().calls.get(&call).map(|call| call.details.clone()).unwrap_or_default()
    }
}

impl CallDirectory for InFlight {
    fn timeline(&self, call: u64) -> Option<CallTimeline> {
        self.0.lock().calls.get(&call).map(|call| call.timeline.clone())
    }

    fn question_owner(&self, in_flight: &[u64]) -> QuestionOwner {
        let mut table = self.0.lock();
        let answers_itself =
            |call: &&u64| table.calls.get(call).is_some_and(|call| call.answers.is_some());
        let known = in_flight.iter().filter(answers_itself).count();
        if known == 0 {
            return QuestionOwner::Host;
        }
        // With both kinds of callers, the question could reach a person it is not meant for.
        if known < in_flight.len() {
            return QuestionOwner::Ambiguous;
        }
        let Some(call) = table.owning_call(in_flight) else { return QuestionOwner::Ambiguous };
        let Some(entry) = table.calls.get_mut(&call) else { return QuestionOwner::Ambiguous };
        let Some(answers) = entry.answers.clone() else { return QuestionOwner::Ambiguous };
        if entry.open_questions == 0 {
            entry.asked_at = Instant::now();
        }
        entry.open_questions += 1;
        QuestionOwner::Caller { call, answers }
    }

    fn end_question(&self, call: u64) {
        if let Some(call) = self.0.lock().calls.get_mut(&call) {
            call.open_questions = call.open_questions.saturating_sub(1);
        }
    }
}

impl InFlightTable {
    fn next_number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Returns the call that a question belongs to, if only one caller is possible.
    fn owning_call(&self, in_flight: &[u64]) -> Option<u64> {
        let those = |wanted: &dyn Fn(&InFlightCall) -> bool| -> Vec<u64> {
            let found = in_flight.iter().filter(|call| self.calls.get(call).is_some_and(wanted));
            found.copied().collect()
        };
        // Legacy servers do not say which call a question belongs to, so it is inferred.
        let may_ask = those(&|call| {
            call.open_questions == 0 || call.asked_at.elapsed() <= CONCURRENT_ASK_WINDOW
        });
        let candidates = if may_ask.is_empty() { in_flight.to_vec() } else { may_ask };
        let group = |call: &u64| Some(self.calls.get(call)?.answers.as_ref()?.caller_group());
        if candidates.iter().filter_map(group).collect::<BTreeSet<u64>>().len() != 1 {
            return None;
        }
        // All candidates have the same caller: prefer a call without an open question.
        let free = those(&|call| call.open_questions == 0);
        let free = free.into_iter().filter(|call| candidates.contains(call)).max();
        free.or(candidates.into_iter().max())
    }
}

impl From<&str> for WhichCall {
    fn from(reference: &str) -> Self {
        Self::Reference(reference.to_owned())
    }
}

impl From<CallId> for WhichCall {
    fn from(id: CallId) -> Self {
        Self::Number(id.get().cast_unsigned())
    }
}

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        let mut table = self.table.0.lock();
        // Two callers may follow the same task: the first to finish must not remove the other.
        let is_own = table.calls.get(&self.call).is_some_and(|call| call.entry == self.entry);
        let removed = is_own.then(|| table.calls.remove(&self.call));
        // Askers and answers are foreign code: drop them after the lock is released.
        drop(table);
        drop(removed);
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let is_own = |one: &mut AskerRegistration| one.number == self.number;
        let mut table = self.table.0.lock();
        let mut removed: Vec<_> = table.expected.extract_if(.., is_own).collect();
        for call in table.calls.values_mut() {
            removed.extend(call.askers.extract_if(.., is_own));
        }
        drop(table);
        drop(removed);
    }
}

impl std::fmt::Debug for Registration {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Registration").field("number", &self.number).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use switchboard_fleet::{AnswerFuture, DeclineAll, ServerRequest};

    use super::*;
    use crate::review::NobodyToAsk;

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

    fn enter(table: &InFlight, call: u64, reference: Option<&str>) -> InFlightGuard {
        let details = CallDetails { reference: reference.map(Into::into), ..Default::default() };
        table.enter(call, details, CallTimeline::default(), OwnAnswers::default())
    }

    fn enter_answering(table: &InFlight, call: u64, group: u64) -> InFlightGuard {
        let answers = Some(Arc::new(GroupAnswers(group)) as Arc<dyn Answers>);
        let own = OwnAnswers { answers, asker: None };
        table.enter(call, CallDetails::default(), CallTimeline::default(), own)
    }

    /// Returns the owner of a question, which stays open.
    fn owner(table: &InFlight, in_flight: &[u64]) -> String {
        match table.question_owner(in_flight) {
            QuestionOwner::Host => "host".to_owned(),
            QuestionOwner::Caller { answers, .. } => answers.caller_group().to_string(),
            QuestionOwner::Ambiguous => "ambiguous".to_owned(),
        }
    }

    #[test]
    fn a_question_is_for_the_only_caller_it_can_be_for() {
        let table = InFlight::default();
        assert_eq!(owner(&table, &[1]), "host");
        let _guards = [(1, 7), (2, 7)].map(|(call, group)| enter_answering(&table, call, group));
        let three = enter_answering(&table, 3, 8);
        let _silent = enter(&table, 9, None);
        for (in_flight, expected) in [
            (&[][..], "host"),
            (&[1], "7"),
            (&[1, 2], "7"),
            (&[3], "8"),
            (&[1, 3], "ambiguous"),
            (&[1, 9], "ambiguous"),
            (&[9], "host"),
        ] {
            assert_eq!(owner(&table, in_flight), expected, "{in_flight:?}");
            in_flight.iter().for_each(|call| table.end_question(*call));
        }
        // The server waits for an answer to the first call, so the question belongs to the other
        // one.
        assert_eq!(owner(&table, &[1]), "7");
        std::thread::sleep(CONCURRENT_ASK_WINDOW + Duration::from_millis(50));
        assert_eq!(owner(&table, &[1, 3]), "8");
        drop(three);
        assert_eq!(owner(&table, &[3]), "host");
    }

    #[test]
    fn a_registration_counts_from_the_beginning_of_its_call_to_the_end() {
        let table = InFlight::default();
        let registration = table.register("a".into(), Arc::new(NobodyToAsk));
        let six = enter(&table, 6, Some("b"));
        let seven = enter(&table, 7, Some("a"));
        // Another caller may use the same reference.
        let eight = enter(&table, 8, Some("a"));
        let asked = [6, 7, 8].map(|call| table.asker(call).is_some());
        assert_eq!(asked, [false, true, false]);
        drop([six, seven, eight]);
        let _again = enter(&table, 9, Some("a"));
        assert!(table.asker(9).is_none(), "the call that was meant has ended");
        drop(registration);
    }

    #[test]
    fn the_last_registration_counts_and_goes_away_with_its_guard() {
        let table = InFlight::default();
        let first: Arc<dyn Asker> = Arc::new(NobodyToAsk);
        let early = table.register(WhichCall::Number(7), Arc::clone(&first));
        let _call = enter(&table, 7, None);
        let late = table.register(WhichCall::Number(7), Arc::new(NobodyToAsk));
        assert!(table.asker(7).is_some_and(|found| !Arc::ptr_eq(&found, &first)));
        drop(late);
        assert!(table.asker(7).is_some_and(|found| Arc::ptr_eq(&found, &first)));
        drop(early);
        assert!(table.asker(7).is_none());
    }

    #[test]
    fn a_call_that_is_followed_twice_stays_until_the_later_one_ends() {
        let table = InFlight::default();
        let earlier = enter(&table, 7, Some("a"));
        let later = enter(&table, 7, Some("b"));
        drop(earlier);
        assert_eq!(table.details(7).reference.as_deref(), Some("b"));
        drop(later);
        assert_eq!(table.details(7), CallDetails::default());
        assert!(table.timeline(7).is_none());
    }
}
