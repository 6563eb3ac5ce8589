//! Codes and tokens: their clients, their lifetimes, and their revocation after misuse.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};

/// The scopes that a user granted to a client.
#[derive(Clone, Debug)]
pub(crate) struct OauthGrant {
    pub(crate) client: String,
    pub(crate) scopes: BTreeSet<String>,
}

#[derive(Clone, Debug)]
pub(crate) struct AuthorizationCode {
    pub(crate) grant: OauthGrant,
    pub(crate) redirect: String,
    pub(crate) challenge: String,
    issued: Instant,
    used: bool,
    /// The family of tokens that was issued for the code.
    family: Option<usize>,
}

#[derive(Clone, Debug)]
struct IssuedAccess {
    grant: OauthGrant,
    family: usize,
    expires: Instant,
}

/// All tokens of one grant. At most one refresh token of a family is valid.
#[derive(Debug)]
struct TokenFamily {
    grant: OauthGrant,
    current: Option<String>,
    revoked: bool,
}

#[derive(Debug)]
pub(crate) struct TokenPair {
    pub(crate) access: String,
    pub(crate) refresh: Option<String>,
    pub(crate) scopes: BTreeSet<String>,
}

/// The issued codes and tokens, and counters for tests.
#[derive(Debug, Default)]
pub(crate) struct Grants {
    codes: BTreeMap<String, AuthorizationCode>,
    access: BTreeMap<String, IssuedAccess>,
    refresh: BTreeMap<String, usize>,
    families: Vec<TokenFamily>,
    random: RandomState,
    issued: u64,
    pub(crate) refreshes: u64,
    pub(crate) reuses: u64,
    pub(crate) families_revoked: u64,
}

const CODE_LIFETIME: Duration = Duration::from_secs(60);

impl Grants {
    /// Generates a value that cannot be guessed, and whose prefix a test can search for.
    pub(crate) fn secret(&mut self, kind: &str) -> String {
        self.issued += 1;
        let [first, second] = [0, 1].map(|part| self.random.hash_one((self.issued, part)));
        format!("{kind}-{}-{first:016x}{second:016x}", self.issued)
    }

    pub(crate) fn code(&mut self, grant: OauthGrant, redirect: &str, challenge: &str) -> String {
        let text = self.secret("code");
        let code = AuthorizationCode {
            grant,
            redirect: redirect.to_owned(),
            challenge: challenge.to_owned(),
            issued: Instant::now(),
            used: false,
            family: None,
        };
        self.codes.insert(text.clone(), code);
        text
    }

    /// Redeems a code. A second attempt fails and revokes the tokens of the first one.
    pub(crate) fn take_code(&mut self, text: &str) -> Result<AuthorizationCode, String> {
        let code = self.codes.get_mut(text).ok_or("the code is unknown")?;
        if code.used {
            let family = code.family;
            self.reuses += 1;
            if let Some(family) = family {
                self.revoke_family(family);
            }
            return Err("the code was used before".to_owned());
        }
        code.used = true;
        if code.issued.elapsed() > CODE_LIFETIME {
            return Err("the code is too old".to_owned());
        }
        Ok(code.clone())
    }

    /// Issues the first tokens of a grant.
    pub(crate) fn begin(
        &mut self,
        grant: OauthGrant,
        life: Duration,
        refreshable: Refreshable,
    ) -> TokenPair {
        let family = self.families.len();
        self.families.push(TokenFamily { grant, current: None, revoked: false });
        self.issue(family, life, refreshable)
    }

    /// Links the newest tokens to the code for which they were issued.
    pub(crate) fn remember(&mut self, code: &str) {
        let newest = self.families.len().checked_sub(1);
        if let Some(code) = self.codes.get_mut(code) {
            code.family = newest;
        }
    }

    /// Issues new tokens for a refresh token. Reuse of a replaced one revokes the whole family.
    pub(crate) fn refresh(
        &mut self,
        token: &str,
        client: &str,
        life: Duration,
    ) -> Result<TokenPair, String> {
        let family = *self.refresh.get(token).ok_or("the refresh token is unknown")?;
        let known = self.families.get(family).ok_or("the family is unknown")?;
        if known.grant.client != client {
            return Err("the refresh token belongs to another client".to_owned());
        }
        if known.revoked {
            return Err("the refresh token is revoked".to_owned());
        }
        if known.current.as_deref() != Some(token) {
            self.reuses += 1;
            self.revoke_family(family);
            return Err("the refresh token was used before".to_owned());
        }
        self.refreshes += 1;
        Ok(self.issue(family, life, Refreshable::Yes))
    }

    fn issue(&mut self, family: usize, life: Duration, refreshable: Refreshable) -> TokenPair {
        let access = self.secret("access");
        let refresh = (refreshable == Refreshable::Yes).then(|| self.secret("refresh"));
        let known = &mut self.families[family];
        known.current.clone_from(&refresh);
        let grant = known.grant.clone();
        let scopes = grant.scopes.clone();
        let expires = Instant::now() + life;
        self.access.insert(access.clone(), IssuedAccess { grant, family, expires });
        if let Some(refresh) = &refresh {
            self.refresh.insert(refresh.clone(), family);
        }
        TokenPair { access, refresh, scopes }
    }

    /// Returns the grant of an access token, unless it is unknown, expired or revoked.
    pub(crate) fn look_up(&self, token: &str) -> Option<&OauthGrant> {
        let access = self.access.get(token)?;
        let family = self.families.get(access.family)?;
        (!family.revoked && access.expires > Instant::now()).then_some(&access.grant)
    }

    /// Revokes a token and returns whether it was known.
    pub(crate) fn revoke(&mut self, token: &str) -> bool {
        if let Some(family) = self.refresh.get(token) {
            self.revoke_family(*family);
            return true;
        }
        self.access.remove(token).is_some()
    }

    fn revoke_family(&mut self, family: usize) {
        if let Some(family) = self.families.get_mut(family)
            && !family.revoked
        {
            family.revoked = true;
            self.families_revoked += 1;
        }
    }

    pub(crate) fn expire_all(&mut self) {
        self.access.clear();
    }

    pub(crate) fn revoke_all(&mut self) {
        for family in 0..self.families.len() {
            self.revoke_family(family);
        }
    }
}

/// Whether a grant gets refresh tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refreshable {
    Yes,
    No,
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Grants, OauthGrant, Refreshable};

    const HOUR: Duration = Duration::from_secs(3600);

    fn grant() -> OauthGrant {
        OauthGrant { client: "client".to_owned(), scopes: ["files:read".to_owned()].into() }
    }

    #[test]
    fn a_refresh_token_that_was_replaced_revokes_its_family() {
        let mut grants = Grants::default();
        let first = grants.begin(grant(), HOUR, Refreshable::Yes);
        let old = first.refresh.unwrap();
        let second = grants.refresh(&old, "client", HOUR).unwrap();
        assert!(grants.look_up(&second.access).is_some());
        assert!(grants.refresh(&old, "client", HOUR).is_err());
        assert!(grants.look_up(&second.access).is_none());
        assert!(grants.refresh(&second.refresh.unwrap(), "client", HOUR).is_err());
        assert_eq!((grants.refreshes, grants.reuses, grants.families_revoked), (1, 1, 1));
    }

    #[test]
    fn a_code_is_good_once_and_its_second_use_revokes_what_it_gave() {
        let mut grants = Grants::default();
        let code = grants.code(grant(), "http://127.0.0.1/callback", "challenge");
        let taken = grants.take_code(&code).unwrap();
        let pair = grants.begin(taken.grant, HOUR, Refreshable::No);
        grants.remember(&code);
        assert!(grants.look_up(&pair.access).is_some());
        assert!(grants.take_code(&code).is_err());
        assert!(grants.look_up(&pair.access).is_none());
    }

    #[test]
    fn a_token_that_is_too_old_allows_nothing() {
        let mut grants = Grants::default();
        let pair = grants.begin(grant(), Duration::ZERO, Refreshable::No);
        assert!(grants.look_up(&pair.access).is_none());
    }
}
