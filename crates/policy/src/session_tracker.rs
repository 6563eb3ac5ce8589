//! Tracks the history of each caller: number of calls, and sources of its results.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use foldhash::HashMap;
use parking_lot::Mutex;
use switchboard_core::{Caller, Origin};

use crate::result_counts::ResultCounts;

// The least recently used sessions are evicted.
const MAX_SESSIONS: usize = 10_000;

// The length of all result names of all sessions. The session that exceeds it loses its own counts,
// so that one client cannot make others forget theirs.
const MAX_RESULT_BYTES: usize = 64 * 1024 * 1024;

/// The history of a caller. Cloned for every call, so large parts are shared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionFacts {
    pub calls: u64,
    /// Calls per server, including the call in `entered`.
    counts: Arc<BTreeMap<Arc<str>, u64>>,
    /// The server of the call being decided, which `counts` already includes.
    entered: Option<Arc<str>>,
    pub reads: Arc<BTreeSet<Arc<str>>>,
    /// The untrusted servers among `reads`.
    pub untrusted: Arc<BTreeSet<Arc<str>>>,
    pub results: Arc<ResultCounts>,
}

impl SessionFacts {
    /// Returns an untrusted server, other than `server`, that results came from.
    #[must_use]
    pub fn tainted_by(&self, server: &str) -> Option<&str> {
        self.untrusted.iter().map(AsRef::as_ref).find(|other| *other != server)
    }

    /// Returns the number of earlier calls per server, without zeros.
    pub fn server_counts(&self) -> impl Iterator<Item = (&str, u64)> {
        let others = |(server, count): (&'_ Arc<str>, &u64)| {
            *count - u64::from(self.entered.as_ref() == Some(server))
        };
        let times = self.counts.iter().map(move |pair| (&**pair.0, others(pair)));
        times.filter(|(_, times)| *times > 0)
    }

    /// Counts one call to a server.
    pub fn count_call(&mut self, server: &str) {
        self.calls += 1;
        let counts = Arc::make_mut(&mut self.counts);
        match counts.get_mut(server) {
            Some(times) => *times += 1,
            None => drop(counts.insert(server.into(), 1)),
        }
    }

    /// Counts a call, and returns the facts from before it.
    fn enter(&mut self, server: &str) -> Self {
        let calls = self.calls;
        self.count_call(server);
        let entered = self.counts.get_key_value(server).map(|(server, _)| Arc::clone(server));
        Self { calls, entered, ..self.clone() }
    }

    /// Records a result from a server.
    pub fn record_read(&mut self, server: &str) {
        if !self.reads.contains(server) {
            Arc::make_mut(&mut self.reads).insert(server.into());
        }
    }

    /// Records a result from an untrusted server.
    pub fn record_untrusted_read(&mut self, server: &str) {
        self.record_read(server);
        if !self.untrusted.contains(server) {
            Arc::make_mut(&mut self.untrusted).insert(server.into());
        }
    }

    /// Records a result from a target of a server.
    pub fn record_result(&mut self, server: &str, target: &str) {
        Arc::make_mut(&mut self.results).add(server, target);
    }

    /// Records a hypothetical result of an untrusted server, given as `server` or `server/target`.
    pub fn assume_untrusted_read(&mut self, text: &str, is_server: impl Fn(&str) -> bool) {
        let known = |(at, _): (usize, &str)| {
            text.split_at_checked(at).filter(|(server, _)| is_server(server))
        };
        // Names may contain slashes, so the longest prefix that names a server is the server.
        let whole = Some((text, "")).filter(|_| is_server(text));
        let halves = whole.or_else(|| text.rmatch_indices('/').find_map(known));
        let halves = halves.or_else(|| text.split_at_checked(text.find('/')?));
        let (server, target) = halves.unwrap_or((text, ""));
        self.record_untrusted_read(server);
        if let Some(target) = target.strip_prefix('/') {
            self.record_result(server, target);
        }
    }
}

/// Identifies a caller across its calls.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SessionKey {
    origin: &'static str,
    name: String,
    /// The id of the conversation, if the call belongs to one.
    conversation: Option<String>,
}

impl SessionKey {
    /// Returns the key for a caller.
    #[must_use]
    pub fn for_caller(caller: &Caller) -> Self {
        let origin = match caller.origin {
            Origin::Person => "person",
            Origin::Model => "model",
            Origin::Client => "client",
        };
        // References in a conversation begin with its id; its callers share one session.
        let reference = caller.reference.as_deref();
        match reference.and_then(|text| text.split_once('/')) {
            Some((conversation, _)) => Self::for_conversation(conversation),
            None => Self { origin, name: caller.name.clone(), conversation: None },
        }
    }

    /// Returns the key for an authenticated caller.
    #[must_use]
    pub fn for_verified(whoever: &str) -> Self {
        Self { origin: "proven", name: whoever.to_owned(), conversation: None }
    }

    /// Returns the key that all callers in a conversation share.
    #[must_use]
    pub fn for_conversation(name: &str) -> Self {
        Self { origin: "", name: String::new(), conversation: Some(name.to_owned()) }
    }

    /// Returns the id of the conversation, if the key belongs to one.
    #[must_use]
    pub fn conversation(&self) -> Option<&str> {
        self.conversation.as_deref()
    }
}

/// The history of each caller since the start of the host.
#[derive(Debug, Default)]
pub struct SessionTracker {
    inner: Mutex<SessionTable>,
}

#[derive(Debug, Default)]
struct SessionTable {
    /// With the logical time of the last change.
    facts: HashMap<SessionKey, (u64, SessionFacts)>,
    clock: u64,
    bytes: usize,
}

impl SessionTracker {
    /// Returns the history of a caller, if it has one.
    #[must_use]
    pub fn get(&self, key: &SessionKey) -> Option<SessionFacts> {
        let inner = self.inner.lock();
        inner.facts.get(key).map(|(_, facts)| facts.clone())
    }

    /// Counts a call to a server, and returns the caller's history before it.
    #[must_use]
    pub fn enter(&self, key: &SessionKey, server: &str) -> SessionFacts {
        // In one step: concurrent calls each see another count, so a limit cannot be exceeded.
        self.update(key, |facts| facts.enter(server))
    }

    /// Updates the history of a caller.
    pub fn update<R>(&self, key: &SessionKey, change: impl FnOnce(&mut SessionFacts) -> R) -> R {
        let mut inner = self.inner.lock();
        inner.clock += 1;
        let now = inner.clock;
        let others = inner.bytes;
        if let Some((changed_at, facts)) = inner.facts.get_mut(key) {
            *changed_at = now;
            let others = others - facts.results.bytes();
            let changed = change(facts);
            inner.bytes = enforce_byte_limit(others, facts);
            return changed;
        }
        let mut facts = SessionFacts::default();
        let changed = change(&mut facts);
        inner.bytes = enforce_byte_limit(others, &mut facts);
        inner.facts.insert(key.clone(), (now, facts));
        inner.evict_oldest();
        changed
    }
}

/// Drops the session's result counts if they exceed the limit, and returns the new total.
fn enforce_byte_limit(others: usize, facts: &mut SessionFacts) -> usize {
    if others + facts.results.bytes() > MAX_RESULT_BYTES {
        Arc::make_mut(&mut facts.results).overflow();
    }
    others + facts.results.bytes()
}

impl SessionTable {
    /// Evicts the oldest tenth of the sessions if there are too many.
    fn evict_oldest(&mut self) {
        if self.facts.len() <= MAX_SESSIONS {
            return;
        }
        // Many at once, because finding the oldest is a linear scan.
        let mut times: Vec<u64> = self.facts.values().map(|(changed_at, _)| *changed_at).collect();
        // The logical clock is unique per change, so this is an exact cut-off.
        let (_, last, _) = times.select_nth_unstable(MAX_SESSIONS / 10);
        let last = *last;
        self.facts.retain(|_, (changed_at, _)| *changed_at > last);
        self.bytes = self.facts.values().map(|(_, facts)| facts.results.bytes()).sum();
    }
}

#[cfg(test)]
mod tests {
    use switchboard_core::Face;

    use super::*;

    fn caller(name: &str, reference: Option<&str>) -> Caller {
        let reference = reference.map(str::to_owned);
        Caller { face: Face::Chat, origin: Origin::Model, name: name.to_owned(), reference }
    }

    #[test]
    fn a_conversation_is_one_caller_whatever_its_model_is() {
        let key = |name, reference| SessionKey::for_caller(&caller(name, reference));
        assert_eq!(key("fast", Some("s1/2/0")), key("slow", Some("s1/7/1")));
        assert_ne!(key("fast", Some("s1/2/0")), key("fast", Some("s2/2/0")));
        assert_ne!(key("fast", None), key("slow", None));
    }

    #[test]
    fn of_calls_at_the_same_time_each_sees_another_number() {
        let sessions = SessionTracker::default();
        let key = SessionKey::for_caller(&caller("one", None));
        let seen: Vec<SessionFacts> =
            ["web", "web", "files"].map(|server| sessions.enter(&key, server)).into();
        let times = |facts: &SessionFacts| {
            facts
                .server_counts()
                .map(|(server, times)| format!("{server}={times}"))
                .collect::<Vec<_>>()
        };
        let before: Vec<_> = seen.iter().map(|facts| (facts.calls, times(facts))).collect();
        let web = |times: &str| vec![format!("web={times}")];
        assert_eq!(before, [(0, vec![]), (1, web("1")), (2, web("2"))]);
        let now = sessions.get(&key).unwrap();
        assert_eq!((now.calls, times(&now)), (3, vec!["files=1".to_owned(), "web=2".to_owned()]));
    }

    #[test]
    fn the_names_of_all_callers_together_have_bounds() {
        let sessions = SessionTracker::default();
        let key = |number: usize| SessionKey::for_caller(&caller(&number.to_string(), None));
        let name = "x".repeat(60 * 1024);
        let fit = MAX_RESULT_BYTES / (name.len() + 2);
        for number in 0..=fit {
            sessions.update(&key(number), |facts| facts.record_result("a", &name));
        }
        let is_known =
            |number: usize| sessions.get(&key(number)).unwrap().results.counts().is_some();
        assert!(is_known(0) && is_known(fit - 1) && !is_known(fit));
        // The counts of other sessions stay, and so does the taint of this one.
        sessions.update(&key(fit), |facts| facts.record_untrusted_read("a"));
        assert_eq!(sessions.get(&key(fit)).unwrap().tainted_by("b"), Some("a"));
        sessions.update(&key(0), |facts| facts.record_result("a", "small"));
        assert!(is_known(0));
    }

    #[test]
    fn what_is_imagined_is_a_server_or_one_of_its_targets() {
        let is_server = |name: &str| ["web", "a/b"].contains(&name);
        for (text, server, result) in [
            ("web", "web", None),
            ("web/get", "web", Some("web/get")),
            ("a/b", "a/b", None),
            ("a/b/c/d", "a/b", Some("a/b/c/d")),
            ("else", "else", None),
            ("else/x/y", "else", Some("else/x/y")),
            ("web/https://h/x", "web", Some("web/https://h/x")),
        ] {
            let mut facts = SessionFacts::default();
            facts.assume_untrusted_read(text, is_server);
            assert_eq!(facts.tainted_by(""), Some(server), "{text}");
            let name = facts.results.counts().unwrap().map(|(name, _)| name).next();
            assert_eq!(name, result, "{text}");
        }
    }

    #[test]
    fn who_was_not_there_for_longest_is_forgotten() {
        let sessions = SessionTracker::default();
        let key = |number: usize| SessionKey::for_caller(&caller(&number.to_string(), None));
        for number in 0..MAX_SESSIONS {
            sessions.update(&key(number), |facts| facts.calls += 1);
        }
        sessions.update(&key(0), |facts| facts.record_untrusted_read("web"));
        sessions.update(&key(MAX_SESSIONS), |facts| facts.calls += 1);
        assert_eq!(sessions.get(&key(1)), None);
        assert!(
            sessions.get(&key(MAX_SESSIONS)).is_some()
                && sessions.get(&key(MAX_SESSIONS - 1)).is_some()
        );
        let first = sessions.get(&key(0)).unwrap();
        assert_eq!((first.calls, first.tainted_by("files")), (1, Some("web")));
        assert_eq!(first.tainted_by("web"), None);
    }
}
