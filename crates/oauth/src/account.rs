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

/// How long before its expiry a token is renewed, in seconds.
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
    /// State of the store at the last check for a new login.
    looked_at: Mutex<Option<StoreStamp>>,
    /// Why the last attempt to obtain a token failed.
    last_error: Mutex<Option<LoginError>>,
}

/// The token as known in memory.
#[derive(Clone, Debug)]
pub(crate) enum CurrentToken {
    /// The store was not read yet.
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

    /// Returns the authorization for a request sent now.
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
        let trouble = self.inner.last_error.lock().clone();
        match trouble {
            Some(trouble) => Some(trouble),
            None => self.inner.logins.shared.store.read().await.err(),
        }
    }

    /// Runs `work` exclusively and to completion: a cancelled request must not lose a new refresh
    /// token.
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
        let unusable = |error: &LoginError| {
            RequestError::NotSent(format!("there is no login to send it with: {error}"))
        };
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
            Err(error) => match current.unexpired_token() {
                Some(value) => Ok(Some(value)),
                None => Err(unusable(&error)),
            },
        }
    }

    /// Returns whether there is a new token with which to repeat a rejected request.
    async fn after_refusal(&self, turned_down: RejectedRequest) -> bool {
        let RejectedRequest { status, challenge, used, before } = turned_down;
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
        if self.reload(used.as_ref()).await {
            return true;
        }
        let more = if status == 403 { LoginNeed::More } else { LoginNeed::Any };
        if status == 401 && before == 0 && used.is_some() {
            let renewed = self.renew().await.map(|()| !self.current().matches(used.as_ref()));
            if self.record_failure(renewed) {
                return true;
            }
        }
        let visited = self.visit(challenge, more).await;
        self.record_failure(visited)
    }

    /// Records the error of a failed attempt.
    fn record_failure(&self, outcome: Result<bool, LoginError>) -> bool {
        match outcome {
            Ok(again) => again,
            Err(error) => {
                *self.last_error.lock() = Some(error);
                false
            }
        }
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

/// The kind of login that a server requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoginNeed {
    Any,
    /// One with more scopes.
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
            let gone = || RequestError::NotSent("the host is being stopped".to_owned());
            obtained.unwrap_or_else(|| Err(gone()))
        })
    }

    fn on_refusal<'a>(&'a self, refusal: AuthorizationRefusal<'a>) -> AuthorizeFuture<'a, bool> {
        let turned_down = RejectedRequest {
            status: refusal.status,
            challenge: Challenge::parse(refusal.challenge.unwrap_or_default()),
            used: refusal.used.cloned(),
            before: refusal.before,
        };
        Box::pin(async {
            let again =
                self.run_exclusive(|inner| async move { inner.after_refusal(turned_down).await });
            again.await.unwrap_or(false)
        })
    }
}
