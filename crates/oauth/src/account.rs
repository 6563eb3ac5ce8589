//! Gives the requests to one server their token, out of memory wherever that is possible.

use std::sync::{Arc, Mutex, PoisonError};

use reqwest::Url;
use reqwest::header::HeaderValue;
use switchboard_config::{Grant, ServerConfig};
use switchboard_wire::RequestError;
use switchboard_wire::http::{AtHand, Authorize, Authorizing, Refusal};
use tokio::sync::{Semaphore, oneshot};

use crate::challenge::Challenge;
use crate::error::LoginError;
use crate::grant::{Tokens, now};
use crate::logins::Logins;
use crate::secret::Secret;
use crate::store::{Kept, Stamp};

/// A token that ends so soon is renewed first, in seconds.
const SKEW: i64 = 30;

/// The login that requests to one address of a server are made with.
pub struct Account {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub logins: Logins,
    pub server: ServerConfig,
    pub url: Url,
    pub current: Mutex<Current>,
    /// Whoever changes the token does so alone; the others find what came of it.
    pub alone: Semaphore,
    /// Logins that a visitor made for this account, so that this ends some day.
    pub visits: Mutex<u32>,
    /// How the store looked when somebody last looked for a new login.
    looked_at: Mutex<Option<Stamp>>,
    /// Why the last attempt to come to a token failed.
    trouble: Mutex<Option<LoginError>>,
}

/// What is known of the token.
#[derive(Clone, Debug)]
pub(crate) enum Current {
    /// Nobody has looked yet.
    Unread,
    /// There is none.
    Nothing,
    /// This one; `renew` is the moment from which on it is renewed before it is used.
    Token { value: HeaderValue, access: Secret, ends: Option<i64>, renew: Option<i64> },
}

impl Current {
    pub(crate) fn of_kept(kept: &Kept) -> Self {
        if kept.over {
            return Self::Nothing;
        }
        let renew = kept.refresh.as_ref().and(kept.ends).map(|ends| ends - SKEW);
        Self::new(&kept.access, kept.ends, renew)
    }

    /// Tokens that were just given. One that lives no longer than the skew would have to be
    /// renewed before every request, so half its life is used.
    pub(crate) fn of_tokens(tokens: &Tokens) -> Self {
        let renew = tokens.ends.map(|ends| ends - SKEW.min((ends - now()) / 2));
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

    /// What a request is sent with at this moment.
    pub(crate) fn at_hand(&self) -> AtHand {
        match self {
            Self::Unread => AtHand::Unknown,
            Self::Nothing => AtHand::Nothing,
            Self::Token { renew: Some(renew), .. } if *renew <= now() => AtHand::Unknown,
            Self::Token { value, .. } => AtHand::Value(value.clone()),
        }
    }

    fn is(&self, used: Option<&HeaderValue>) -> bool {
        match self {
            Self::Unread | Self::Nothing => used.is_none(),
            Self::Token { value, .. } => used == Some(value),
        }
    }

    /// The token although it ends soon, unless it has ended.
    fn last_resort(&self) -> Option<HeaderValue> {
        match self {
            Self::Token { value, ends, .. } if ends.is_none_or(|ends| ends > now()) => {
                Some(value.clone())
            }
            Self::Unread | Self::Nothing | Self::Token { .. } => None,
        }
    }
}

impl Account {
    pub(crate) fn new(logins: Logins, server: ServerConfig, url: Url) -> Self {
        let inner = Inner {
            logins,
            server,
            url,
            current: Mutex::new(Current::Unread),
            alone: Semaphore::new(1),
            visits: Mutex::default(),
            looked_at: Mutex::default(),
            trouble: Mutex::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Whether somebody has logged in with a token that was not tried yet.
    pub async fn has_new_login(&self) -> bool {
        let stamp = self.inner.logins.shared.store.stamp();
        if lock(&self.inner.looked_at).replace(stamp) == Some(stamp) {
            return false;
        }
        let kept = self.inner.logins.kept(&self.inner.server, &self.inner.url).await;
        let Ok(Some(kept)) = kept else { return false };
        let found = Current::of_kept(&kept);
        let is_new = match (&found, &*lock(&self.inner.current)) {
            (Current::Token { value, .. }, known) => !known.is(Some(value)),
            (Current::Unread | Current::Nothing, _) => false,
        };
        if is_new {
            self.inner.set(found);
        }
        is_new
    }

    /// Why there is no login, where there is more to say than that.
    pub async fn trouble(&self) -> Option<LoginError> {
        let trouble = lock(&self.inner.trouble).clone();
        match trouble {
            Some(trouble) => Some(trouble),
            None => self.inner.logins.shared.store.read().await.err(),
        }
    }

    /// Does something to the token, alone, and to the end: a request that is given up half-way
    /// must not take a new refresh token with it.
    async fn alone<T, F>(&self, work: impl FnOnce(Arc<Inner>) -> F + Send + 'static) -> Option<T>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send,
    {
        let (done, result) = oneshot::channel();
        let inner = Arc::clone(&self.inner);
        self.inner.logins.shared.tasks.spawn(async move {
            let Ok(_permit) = inner.alone.acquire().await else { return };
            // Whoever wanted it may have left.
            done.send(work(Arc::clone(&inner)).await).ok();
        });
        result.await.ok()
    }
}

impl Inner {
    pub(crate) fn current(&self) -> Current {
        lock(&self.current).clone()
    }

    pub(crate) fn set(&self, current: Current) {
        if matches!(current, Current::Token { .. }) {
            *lock(&self.trouble) = None;
        }
        *lock(&self.current) = current;
    }

    async fn obtain(&self) -> Result<Option<HeaderValue>, RequestError> {
        let unusable = |error: &LoginError| {
            RequestError::NotSent(format!("there is no login to send it with: {error}"))
        };
        if matches!(self.current(), Current::Unread) {
            // Stored logins that cannot be read are as good as none: the server says whether it
            // wants one.
            let kept = self.logins.kept(&self.server, &self.url).await.unwrap_or_default();
            self.set(kept.as_ref().map_or(Current::Nothing, Current::of_kept));
        }
        let current = self.current();
        match current.at_hand() {
            AtHand::Value(value) => return Ok(Some(value)),
            AtHand::Nothing => return Ok(None),
            AtHand::Unknown => {}
        }
        match self.renew().await {
            Ok(()) | Err(LoginError::Over) => Ok(self.current().last_resort()),
            Err(error) => match current.last_resort() {
                Some(value) => Ok(Some(value)),
                None => Err(unusable(&error)),
            },
        }
    }

    /// Whether there is anything new to send a request with that was turned down.
    async fn after_refusal(&self, turned_down: TurnedDown) -> bool {
        let TurnedDown { status, challenge, used, before } = turned_down;
        if status == 403 && !challenge.wants_more() {
            return false;
        }
        // Somebody else was turned down with the same token and has found another.
        let current = self.current();
        let known = !matches!(current, Current::Unread | Current::Nothing);
        if known && !current.is(used.as_ref()) {
            return true;
        }
        if self.server.oauth.grant == Grant::ClientCredentials {
            return before == 0 && self.noted(self.ask_as_client(&challenge).await.map(|()| true));
        }
        if self.reread(used.as_ref()).await {
            return true;
        }
        let more = if status == 403 { Need::More } else { Need::Any };
        if status == 401 && before == 0 && used.is_some() {
            let renewed = self.renew().await.map(|()| !self.current().is(used.as_ref()));
            if self.noted(renewed) {
                return true;
            }
        }
        let visited = self.visit(challenge, more).await;
        self.noted(visited)
    }

    /// Keeps in mind why something failed.
    fn noted(&self, outcome: Result<bool, LoginError>) -> bool {
        match outcome {
            Ok(again) => again,
            Err(error) => {
                *lock(&self.trouble) = Some(error);
                false
            }
        }
    }

    /// Takes another token out of the store, if there is one.
    async fn reread(&self, used: Option<&HeaderValue>) -> bool {
        let Ok(Some(kept)) = self.logins.kept(&self.server, &self.url).await else { return false };
        let found = Current::of_kept(&kept);
        let is_new = matches!(found, Current::Token { .. }) && !found.is(used);
        if is_new {
            self.set(found);
        }
        is_new
    }
}

/// What kind of login a server wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// One at all.
    Any,
    /// One that is good for more.
    More,
}

struct TurnedDown {
    status: u16,
    challenge: Challenge,
    used: Option<HeaderValue>,
    before: u32,
}

impl Authorize for Account {
    fn at_hand(&self) -> AtHand {
        lock(&self.inner.current).at_hand()
    }

    fn obtain(&self) -> Authorizing<'_, Result<Option<HeaderValue>, RequestError>> {
        Box::pin(async {
            let obtained = self.alone(|inner| async move { inner.obtain().await }).await;
            let gone = || RequestError::NotSent("the host is being stopped".to_owned());
            obtained.unwrap_or_else(|| Err(gone()))
        })
    }

    fn refused<'a>(&'a self, refusal: Refusal<'a>) -> Authorizing<'a, bool> {
        let turned_down = TurnedDown {
            status: refusal.status,
            challenge: Challenge::read(refusal.challenge.unwrap_or_default()),
            used: refusal.used.cloned(),
            before: refusal.before,
        };
        Box::pin(async {
            let again = self.alone(|inner| async move { inner.after_refusal(turned_down).await });
            again.await.unwrap_or(false)
        })
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
