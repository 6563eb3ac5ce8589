//! Sign-in links, each valid once, and the sessions of browsers.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use switchboard_core::random_token;
use switchboard_text::hex_digest;

/// How long a sign-in link is valid. Links end up in browser histories and terminal logs.
const KEY_LIFETIME: Duration = Duration::from_secs(10 * 60);
/// How long a browser stays signed in: a working day.
pub(crate) const SESSION_LIFETIME: Duration = Duration::from_secs(12 * 60 * 60);
/// Maximum number of unused links. No new one is issued until one is used or expires.
const MAX_KEYS: usize = 8;
/// Maximum number of sessions. A further one replaces the oldest.
const MAX_SESSIONS: usize = 64;

/// Unused sign-in links and current sessions, in memory.
#[derive(Default)]
pub(crate) struct SignIns {
    state: Mutex<SignInState>,
}

#[derive(Default)]
struct SignInState {
    /// Keyed by fingerprint, so that the time of a look-up reveals nothing about a key.
    keys: HashMap<String, Instant>,
    sessions: HashMap<String, (Instant, Arc<str>)>,
}

pub(crate) struct BrowserSession {
    /// The value of the session cookie.
    pub(crate) word: String,
}

impl SignIns {
    /// Returns a key for a sign-in link, or `None` while too many are unused.
    pub(crate) fn new_key(&self) -> Option<String> {
        let key = random_token()?;
        self.with_state(|state, now| {
            // Anyone on this machine can request links, so their number is limited.
            if state.keys.len() >= MAX_KEYS {
                return None;
            }
            state.keys.insert(fingerprint(&key), now + KEY_LIFETIME);
            Some(key)
        })
    }

    /// Exchanges a key for a session. The key cannot be used again.
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

    /// Returns the CSRF token of a session, or `None` if the cookie is unknown or expired.
    pub(crate) fn token(&self, cookie: &str) -> Option<Arc<str>> {
        self.with_state(|state, _| {
            state.sessions.get(&fingerprint(cookie)).map(|(_, token)| Arc::clone(token))
        })
    }

    pub(crate) fn sign_out(&self, cookie: &str) {
        self.with_state(|state, _| state.sessions.remove(&fingerprint(cookie)));
    }

    fn with_state<T>(&self, work: impl FnOnce(&mut SignInState, Instant) -> T) -> T {
        let mut state = self.state.lock();
        let now = Instant::now();
        // Every use removes expired entries, so no timer is needed.
        state.keys.retain(|_, until| *until > now);
        state.sessions.retain(|_, (until, _)| *until > now);
        work(&mut state, now)
    }
}

pub(crate) fn is_same(one: &str, other: &str) -> bool {
    // By fingerprint, so that the time of the comparison reveals nothing about the secrets.
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
