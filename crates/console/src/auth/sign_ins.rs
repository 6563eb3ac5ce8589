//! Links that sign a browser in once, and the browsers that were signed in.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use switchboard_core::random_token;
use switchboard_text::hex_digest;

/// As long a link waits to be opened.
const KEY_LIFETIME: Duration = Duration::from_secs(10 * 60);
/// As long a browser stays signed in.
pub(crate) const SESSION_LIFETIME: Duration = Duration::from_secs(12 * 60 * 60);
/// So many links wait at once; whoever asks for more waits until one is used or too old.
const MAX_KEYS: usize = 8;
/// So many browsers are signed in at once; the one that has been for longest leaves.
const MAX_SESSIONS: usize = 64;

/// Who may come in.
#[derive(Default)]
pub(crate) struct SignIns {
    state: Mutex<SignInState>,
}

#[derive(Default)]
struct SignInState {
    /// By fingerprint, so that how long a comparison takes tells nothing of a word.
    keys: HashMap<String, Instant>,
    sessions: HashMap<String, (Instant, Arc<str>)>,
}

/// A browser that was signed in just now.
pub(crate) struct BrowserSession {
    /// What its cookie holds.
    pub(crate) word: String,
}

impl SignIns {
    /// A key for a link; none while too many wait.
    pub(crate) fn new_key(&self) -> Option<String> {
        let key = random_token()?;
        self.with_state(|state, now| {
            if state.keys.len() >= MAX_KEYS {
                return None;
            }
            state.keys.insert(fingerprint(&key), now + KEY_LIFETIME);
            Some(key)
        })
    }

    /// Takes a key, which then is worth nothing any more, for a session.
    pub(crate) fn exchange(&self, key: &str) -> Option<BrowserSession> {
        let word = random_token()?;
        let token = random_token()?;
        self.with_state(|state, now| {
            state.keys.remove(&fingerprint(key))?;
            while state.sessions.len() >= MAX_SESSIONS {
                let oldest = state.sessions.iter().min_by_key(|(_, (until, _))| *until);
                let oldest = oldest.map(|(name, _)| name.clone())?;
                state.sessions.remove(&oldest);
            }
            state.sessions.insert(fingerprint(&word), (now + SESSION_LIFETIME, token.into()));
            Some(BrowserSession { word })
        })
    }

    /// The token that the pages of a session carry; none if nobody is signed in with that cookie.
    pub(crate) fn token(&self, cookie: &str) -> Option<Arc<str>> {
        self.with_state(|state, _| {
            state.sessions.get(&fingerprint(cookie)).map(|(_, token)| Arc::clone(token))
        })
    }

    /// Signs a browser out.
    pub(crate) fn sign_out(&self, cookie: &str) {
        self.with_state(|state, _| state.sessions.remove(&fingerprint(cookie)));
    }

    fn with_state<T>(&self, work: impl FnOnce(&mut SignInState, Instant) -> T) -> T {
        let mut state = self.state.lock();
        let now = Instant::now();
        state.keys.retain(|_, until| *until > now);
        state.sessions.retain(|_, (until, _)| *until > now);
        work(&mut state, now)
    }
}

/// Whether two words are the same, told by their fingerprints.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    fingerprint(one) == fingerprint(other)
}

fn fingerprint(word: &str) -> String {
    hex_digest([word.as_bytes()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_signs_in_once_and_a_session_ends_when_it_leaves() {
        let sign_ins = SignIns::default();
        let key = sign_ins.new_key().unwrap();
        assert!(sign_ins.exchange("another").is_none());
        let session = sign_ins.exchange(&key).unwrap();
        assert!(sign_ins.exchange(&key).is_none());
        assert!(sign_ins.token(&session.word).is_some());
        assert!(sign_ins.token(&key).is_none());
        sign_ins.sign_out(&session.word);
        assert!(sign_ins.token(&session.word).is_none());
    }

    #[test]
    fn what_is_too_old_is_worth_nothing() {
        let sign_ins = SignIns::default();
        let key = sign_ins.new_key().unwrap();
        for until in sign_ins.state.lock().keys.values_mut() {
            *until = Instant::now();
        }
        assert!(sign_ins.exchange(&key).is_none());
    }

    #[test]
    fn links_and_browsers_are_bounded() {
        let sign_ins = SignIns::default();
        let first = sign_ins.new_key().and_then(|key| sign_ins.exchange(&key)).unwrap();
        for _ in 0..MAX_SESSIONS {
            let key = sign_ins.new_key().unwrap();
            sign_ins.exchange(&key).unwrap();
        }
        assert!(sign_ins.token(&first.word).is_none());
        let given = (0..MAX_KEYS * 2).filter_map(|_| sign_ins.new_key()).count();
        assert_eq!(given, MAX_KEYS);
    }
}
