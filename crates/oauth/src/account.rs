//! Supplies the token for requests to one server, from memory where possible.

use std::sync::Arc;

use parking_lot::Mutex;
use reqwest::Url;
use reqwest::header::HeaderValue;
use switchboard_config::{GrantType, ServerConfig};
use switchboard_wire::{
    AuthorizationRefusal, Authorize, AuthorizeFuture, CurrentAuthorization, RequestError,
};
use tokio::sync::{Semaphore, oneshot};

use crate::challenge::Challenge;
use crate::error::LoginError;
use crate::grant::{TokenSet, unix_now};
use crate::logins::Logins;
use crate::secret::Secret;
use crate::store::{LoginRecord, StoreStamp};

/// How long before its expiry a token is renewed, in seconds. It may expire on the way to the
/// server, and the clocks may differ.
const EXPIRY_SKEW: i64 = 30;

/// The login used for requests to one URL of a server.
pub struct Account {
    pub(crate) inner: Arc<AccountInner>,
}

pub(crate) struct AccountInner {
    pub logins: Logins,
    pub server: ServerConfig,
    pub url: Url,
    pub current: Mutex<CurrentToken>,
    /// Serializes changes of the token; waiting requests then use the result.
    pub exclusive: Semaphore,
    /// Number of logins by the visitor for this account, limited to prevent endless logins.
    pub visits: Mutex<u32>,
    /// Stamp of the store at the last check for a new login.
    looked_at: Mutex<Option<StoreStamp>>,
    /// Why the last attempt to obtain a token failed.
    last_error: Mutex<Option<LoginError>>,
}

/// The token as known in memory.
#[derive(Clone, Debug)]
pub(crate) enum CurrentToken {
    /// The store has not been read yet.
    Unread,
    Nothing,
    /// A token; from `renew` on, it is renewed before use.
    Token {
        value: HeaderValue,
        access: Secret,
        ends: Option<i64>,
        renew: Option<i64>,
    },
}

impl CurrentToken {
    pub(crate) fn from_record(kept: &LoginRecord) -> Self {
        if kept.over {
            return Self::Nothing;
        }
        let renew = kept.refresh.as_ref().and(kept.ends).map(|ends| ends - EXPIRY_SKEW);
        Self::new(&kept.access, kept.ends, renew)
    }

    /// Creates the state for new tokens. A token with a lifetime below the skew would be renewed
    /// before every request, so at most half of its lifetime is given up.
    pub(crate) fn from_tokens(tokens: &TokenSet) -> Self {
        let renew = tokens.ends.map(|ends| ends - EXPIRY_SKEW.min((ends - unix_now()) / 2));
        Self::new(&tokens.access, tokens.ends, renew)
    }

    fn new(access: &Secret, ends: Option<i64>, renew: Option<i64>) -> Self {
        match HeaderValue::from_str(&format!("Bearer {}", access.reveal())) {
            Ok(mut value) => {
                value.set_sensitive(true);
                Self::Token { value, access: access.clone(), ends, renew }
            }
            Err(_) => Self::Nothing,
        }
    }

    pub(crate) fn at_hand(&self) -> CurrentAuthorization {
        match self {
            Self::Unread => CurrentAuthorization::Unknown,
            Self::Nothing => CurrentAuthorization::Nothing,
            Self::Token { renew: Some(renew), .. } if *renew <= unix_now() => {
                CurrentAuthorization::Unknown
            }
            Self::Token { value, .. } => CurrentAuthorization::Value(value.clone()),
        }
    }

    fn matches(&self, used: Option<&HeaderValue>) -> bool {
        match self {
            Self::Unread | Self::Nothing => used.is_none(),
            Self::Token { value, .. } => used == Some(value),
        }
    }

    /// Returns the token even if it is due for renewal, unless it has expired.
    fn unexpired_token(&self) -> Option<HeaderValue> {
        match self {
            Self::Token { value, ends, .. } if ends.is_none_or(|ends| ends > unix_now()) => {
                Some(value.clone())
            }
            Self::Unread | Self::Nothing | Self::Token { .. } => None,
        }
    }
}

impl Account {
    pub(crate) fn new(logins: Logins, server: ServerConfig, url: Url) -> Self {
        let inner = AccountInner {
            logins,
            server,
            url,
            current: Mutex::new(CurrentToken::Unread),
            exclusive: Semaphore::new(1),
            visits: Mutex::default(),
            looked_at: Mutex::default(),
            last_error: Mutex::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Returns whether the store has a token that was not tried yet, and loads it.
    pub async fn has_new_login(&self) -> bool {
        // Taken before the read, so that a login stored in between is found at the next check.
        let stamp = self.inner.logins.shared.store.stamp();
        if self.inner.looked_at.lock().replace(stamp) == Some(stamp) {
            return false;
        }
        let kept = self.inner.logins.find_record(&self.inner.server, &self.inner.url).await;
        let Ok(Some(kept)) = kept else { return false };
        let found = CurrentToken::from_record(&kept);
        let is_new = match (&found, &*self.inner.current.lock()) {
            (CurrentToken::Token { value, .. }, known) => !known.matches(Some(value)),
            (CurrentToken::Unread | CurrentToken::Nothing, _) => false,
        };
        if is_new {
            self.inner.set(found);
        }
        is_new
    }

    /// Returns why there is no login, if a reason is known.
    pub async fn last_error(&self) -> Option<LoginError> {
        let error = self.inner.last_error.lock().clone();
        match error {
            Some(error) => Some(error),
            None => self.inner.logins.shared.store.read().await.err(),
        }
    }

    /// Runs `work` exclusively and to completion: cancellation must not lose a new refresh token.
    async fn run_exclusive<T, F>(
        &self,
        work: impl FnOnce(Arc<AccountInner>) -> F + Send + 'static,
    ) -> Option<T>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send,
    {
        let (done, result) = oneshot::channel();
        let inner = Arc::clone(&self.inner);
        self.inner.logins.shared.tasks.spawn(async move {
            let Ok(_permit) = inner.exclusive.acquire().await else { return };
            // The requester may be gone; the token is stored regardless.
            _ = done.send(work(Arc::clone(&inner)).await);
        });
        result.await.ok()
    }
}

impl AccountInner {
    pub(crate) fn current(&self) -> CurrentToken {
        self.current.lock().clone()
    }

    pub(crate) fn set(&self, current: CurrentToken) {
        if matches!(current, CurrentToken::Token { .. }) {
            *self.last_error.lock() = None;
        }
        *self.current.lock() = current;
    }

    async fn obtain(&self) -> Result<Option<HeaderValue>, RequestError> {
        if matches!(self.current(), CurrentToken::Unread) {
            // Treat unreadable logins as absent: the server reports whether it requires one.
            let kept = self.logins.find_record(&self.server, &self.url).await.unwrap_or_default();
            self.set(kept.as_ref().map_or(CurrentToken::Nothing, CurrentToken::from_record));
        }
        let current = self.current();
        match current.at_hand() {
            CurrentAuthorization::Value(value) => return Ok(Some(value)),
            CurrentAuthorization::Nothing => return Ok(None),
            CurrentAuthorization::Unknown => {}
        }
        match self.renew().await {
            Ok(()) | Err(LoginError::Over) => Ok(self.current().unexpired_token()),
            // The authorization server may be down while the old token is still valid.
            Err(error) => match current.unexpired_token() {
                Some(value) => Ok(Some(value)),
                None => Err(RequestError::NotSent(format!("no usable login: {error}"))),
            },
        }
    }

    /// Returns whether there is a new token with which to repeat a rejected request.
    async fn after_refusal(&self, rejected: RejectedRequest) -> bool {
        let RejectedRequest { status, challenge, used, before } = rejected;
        // A 403 without `insufficient_scope` is the server's decision; no token would change it.
        if status == 403 && !challenge.needs_more_scope() {
            return false;
        }
        // Another request was rejected with the same token and has already obtained a new one.
        let current = self.current();
        let known = !matches!(current, CurrentToken::Unread | CurrentToken::Nothing);
        if known && !current.matches(used.as_ref()) {
            return true;
        }
        if self.server.oauth.grant == GrantType::ClientCredentials {
            return before == 0
                && self.record_failure(self.grant_as_client(&challenge).await.map(|()| true));
        }
        // Another process may have logged in or renewed.
        if self.reload(used.as_ref()).await {
            return true;
        }
        let more = if status == 403 { LoginNeed::More } else { LoginNeed::Any };
        // One renewal per request: a server that rejects the new token too would cause a loop.
        if status == 401 && before == 0 && used.is_some() {
            let renewed = self.renew().await.map(|()| !self.current().matches(used.as_ref()));
            if self.record_failure(renewed) {
                return true;
            }
        }
        let visited = self.visit(challenge, more).await;
        self.record_failure(visited)
    }

    fn record_failure(&self, outcome: Result<bool, LoginError>) -> bool {
        outcome.unwrap_or_else(|error| {
            *self.last_error.lock() = Some(error);
            false
        })
    }

    /// Loads a different token from the store, if there is one.
    async fn reload(&self, used: Option<&HeaderValue>) -> bool {
        let Ok(Some(kept)) = self.logins.find_record(&self.server, &self.url).await else {
            return false;
        };
        let found = CurrentToken::from_record(&kept);
        let is_new = matches!(found, CurrentToken::Token { .. }) && !found.matches(used);
        if is_new {
            self.set(found);
        }
        is_new
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoginNeed {
    Any,
    /// A login with more scopes.
    More,
}

struct RejectedRequest {
    status: u16,
    challenge: Challenge,
    used: Option<HeaderValue>,
    before: u32,
}

impl Authorize for Account {
    fn current(&self) -> CurrentAuthorization {
        self.inner.current.lock().at_hand()
    }

    fn obtain(&self) -> AuthorizeFuture<'_, Result<Option<HeaderValue>, RequestError>> {
        Box::pin(async {
            let obtained = self.run_exclusive(|inner| async move { inner.obtain().await }).await;
            obtained
                .unwrap_or_else(|| Err(RequestError::NotSent("the host is stopping".to_owned())))
        })
    }

    fn on_refusal<'a>(&'a self, refusal: AuthorizationRefusal<'a>) -> AuthorizeFuture<'a, bool> {
        let rejected = RejectedRequest {
            status: refusal.status,
            challenge: Challenge::parse(refusal.challenge.unwrap_or_default()),
            used: refusal.used.cloned(),
            before: refusal.before,
        };
        Box::pin(async {
            let again =
                self.run_exclusive(|inner| async move { inner.after_refusal(rejected).await });
            again.await.unwrap_or(false)
        })
    }
}
