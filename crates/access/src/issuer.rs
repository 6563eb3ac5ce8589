//! The cached keys of an issuer, fetched on first use and refreshed when an unknown key appears.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use parking_lot::Mutex;
use reqwest::{Client, Url, redirect};
use serde::Deserialize;
use switchboard_net::is_loopback;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};

use crate::error::KeyError;
use crate::jwks::{self, PublicKey};

/// How long fetched keys are used without a refresh.
const REFRESH_AFTER: Duration = Duration::from_secs(60 * 60);
/// How long keys are used while refreshes fail; older ones may have been revoked.
const MAX_KEY_AGE: Duration = Duration::from_secs(24 * 60 * 60);
/// Minimum time between refreshes caused by unknown keys, which anyone can put into a token.
const MIN_FETCH_INTERVAL: Duration = Duration::from_secs(60);
/// Time between attempts while there are no usable keys.
const RETRY_DELAY: Duration = Duration::from_secs(5);
/// Timeout of all requests of one refresh together.
const FETCH_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_BODY_BYTES: usize = 1 << 20;

/// Receives the reason when a refresh fails, and `None` once one succeeds again.
pub(crate) type ProblemCallback = Box<dyn Fn(Option<&str>) + Send + Sync>;

pub(crate) struct Issuer {
    inner: Arc<IssuerState>,
}

struct IssuerState {
    name: String,
    /// The configured URL of the keys; discovered by default.
    keys_url: Option<Url>,
    client: Client,
    cache: Mutex<KeyCache>,
    /// Held by the task that fetches; other tasks wait for it.
    fetch_lock: Arc<Semaphore>,
    on_problem: OnceLock<ProblemCallback>,
}

#[derive(Clone, Default)]
struct KeyCache {
    keys: Arc<Vec<PublicKey>>,
    fetched: Option<Instant>,
    tried: Option<Instant>,
    problem: Option<String>,
}

#[derive(Deserialize)]
struct IssuerMetadata {
    issuer: String,
    jwks_uri: String,
}

impl Issuer {
    pub(crate) fn new(name: &str, keys_at: Option<&str>) -> Result<Self, KeyError> {
        let address = parse_secure_url(name)?;
        let keys_at = keys_at.map(parse_secure_url).transpose()?;
        // Fails if the process has installed a provider already, which serves as well.
        rustls::crypto::ring::default_provider().install_default().ok();
        let builder = Client::builder()
            .timeout(FETCH_TIMEOUT)
            // A redirect could lead to a server that was not configured, or to plain `http`.
            .redirect(redirect::Policy::none())
            .user_agent(concat!("switchboard/", env!("CARGO_PKG_VERSION")));
        // A proxy would connect to its own loopback address instead of this machine's.
        let builder = if is_loopback(&address) { builder.no_proxy() } else { builder };
        let client = builder.build().map_err(|error| KeyError::NoClient(error.to_string()))?;
        let inner = IssuerState {
            name: name.to_owned(),
            keys_url: keys_at,
            client,
            cache: Mutex::default(),
            fetch_lock: Arc::new(Semaphore::new(1)),
            on_problem: OnceLock::new(),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    pub(crate) fn name(&self) -> &str {
        &self.inner.name
    }

    pub(crate) fn set_problem_callback(&self, callback: ProblemCallback) {
        // Only the first callback is kept, and there is only one caller.
        self.inner.on_problem.set(callback).ok();
    }

    /// Returns whether the keys satisfy `fits`, after a refresh if the cached ones do not. Returns
    /// `None` if there are no usable keys.
    pub(crate) async fn has_keys(&self, fits: impl Fn(&[PublicKey]) -> bool) -> Option<bool> {
        let inner = &self.inner;
        if let Some(settled) = inner.cached_answer(&fits) {
            return settled;
        }
        // A token with a known key does not wait for the refresh of another one.
        let others_fetch = inner.fetch_lock.available_permits() == 0;
        if others_fetch && inner.cache.lock().clone().satisfies(&fits) {
            return Some(true);
        }
        let Ok(turn) = Arc::clone(&inner.fetch_lock).acquire_owned().await else { return None };
        // The task that held the permit before may have fetched the key.
        if let Some(settled) = inner.cached_answer(&fits) {
            return settled;
        }
        let fetching = Arc::clone(inner);
        // In a separate task: if the client hangs up, other requests still wait for the same keys.
        let fetched = tokio::spawn(async move {
            fetching.refresh().await;
            drop(turn);
        });
        // If the task panics, the cache still holds the previous keys.
        fetched.await.ok();
        let kept = inner.cache.lock().clone();
        kept.is_usable().then(|| kept.satisfies(&fits))
    }
}

impl IssuerState {
    /// Returns the answer if the cache can give it without a refresh.
    fn cached_answer(&self, fits: impl Fn(&[PublicKey]) -> bool) -> Option<Option<bool>> {
        let kept = self.cache.lock().clone();
        let counts = kept.is_usable();
        let fresh = kept.fetched.is_some_and(|at| at.elapsed() < REFRESH_AFTER);
        let pause = if counts { MIN_FETCH_INTERVAL } else { RETRY_DELAY };
        let waits = kept.tried.is_some_and(|at| at.elapsed() < pause);
        if (fresh || waits) && kept.satisfies(&fits) {
            return Some(Some(true));
        }
        waits.then(|| counts.then_some(false))
    }

    async fn refresh(&self) {
        let fetched = timeout(FETCH_TIMEOUT, self.fetch()).await.unwrap_or_else(|_| {
            Err(format!("no response within {} seconds", FETCH_TIMEOUT.as_secs()))
        });
        let mut kept = self.cache.lock();
        kept.tried = Some(Instant::now());
        let problem = match fetched {
            Ok(keys) => {
                kept.keys = Arc::new(keys);
                kept.fetched = kept.tried;
                None
            }
            Err(problem) => Some(problem),
        };
        let is_news = kept.problem != problem;
        kept.problem.clone_from(&problem);
        // The callback is foreign code and may take its own locks.
        drop(kept);
        if let Some(callback) = self.on_problem.get().filter(|_| is_news) {
            callback(problem.as_deref());
        }
    }

    async fn fetch(&self) -> Result<Vec<PublicKey>, String> {
        let address = match &self.keys_url {
            Some(address) => address.clone(),
            None => self.discover().await?,
        };
        let text = self.fetch_text(&address).await?;
        jwks::parse_jwks(&text).ok_or_else(|| format!("`{address}` is not a JSON Web Key Set"))
    }

    /// Reads the URL of the keys from the issuer's metadata.
    async fn discover(&self) -> Result<Url, String> {
        let issuer: Url = self.name.parse().map_err(|_| "the issuer is not a URL".to_owned())?;
        let mut problem = String::new();
        for place in metadata_urls(&issuer) {
            let metadata = self.fetch_text(&place).await.and_then(|text| {
                serde_json::from_str::<IssuerMetadata>(&text)
                    .map_err(|error| format!("`{place}` is not issuer metadata: {error}"))
            });
            match metadata {
                // RFC 8414 requires the exact name: another one may be a mix-up attack.
                Ok(metadata) if metadata.issuer == self.name => {
                    let address =
                        parse_secure_url(&metadata.jwks_uri).map_err(|error| error.to_string())?;
                    // A remote issuer must not make the gateway send requests to a local port.
                    if is_loopback(&address) && !is_loopback(&issuer) {
                        return Err(format!("`{place}` refers to keys on this machine"));
                    }
                    return Ok(address);
                }
                Ok(other) => {
                    problem = format!("`{place}` names another issuer, `{}`", other.issuer);
                }
                Err(cause) => problem = cause,
            }
        }
        Err(problem)
    }

    async fn fetch_text(&self, address: &Url) -> Result<String, String> {
        let broken = |error: reqwest::Error| format!("`{address}`: {}", root_cause(&error));
        let mut response = self.client.get(address.clone()).send().await.map_err(broken)?;
        if !response.status().is_success() {
            return Err(format!("`{address}` answered with status {}", response.status().as_u16()));
        }
        // Read in chunks: `Content-Length` may be missing or wrong.
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(broken)? {
            if body.len() + chunk.len() > MAX_BODY_BYTES {
                return Err(format!("`{address}` has more than {MAX_BODY_BYTES} bytes"));
            }
            body.extend_from_slice(&chunk);
        }
        String::from_utf8(body).map_err(|_| format!("`{address}` is not valid UTF-8"))
    }
}

/// Returns the innermost cause; the outer errors add no detail.
fn root_cause(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}

impl KeyCache {
    fn is_usable(&self) -> bool {
        self.fetched.is_some_and(|at| at.elapsed() < MAX_KEY_AGE)
    }

    fn satisfies(&self, fits: impl Fn(&[PublicKey]) -> bool) -> bool {
        self.is_usable() && fits(&self.keys)
    }
}

/// Returns the URLs of an issuer's metadata, in the order in which they are tried.
fn metadata_urls(issuer: &Url) -> Vec<Url> {
    // RFC 8414 inserts the well-known part before the path; OpenID Connect appends it.
    let path = issuer.path().trim_end_matches('/');
    let at = |path: String| {
        let mut place = issuer.clone();
        place.set_path(&path);
        place
    };
    let mut places = vec![
        at(format!("/.well-known/oauth-authorization-server{path}")),
        at(format!("/.well-known/openid-configuration{path}")),
    ];
    if !path.is_empty() {
        places.push(at(format!("{path}/.well-known/openid-configuration")));
    }
    places
}

/// Parses a URL whose responses cannot be changed in transit: `https`, or `http` on this machine.
pub(crate) fn parse_secure_url(text: &str) -> Result<Url, KeyError> {
    let unsafe_address = || KeyError::Address(text.to_owned());
    let address: Url = text.parse().map_err(|_| unsafe_address())?;
    // Credentials in a URL would end up in logs and metadata.
    let plain = address.username().is_empty()
        && address.password().is_none()
        && address.fragment().is_none();
    let safe = match address.scheme() {
        "https" => address.host_str().is_some(),
        "http" => is_loopback(&address),
        _ => false,
    };
    if plain && safe { Ok(address) } else { Err(unsafe_address()) }
}

#[cfg(test)]
mod tests {
    use super::{metadata_urls, parse_secure_url};

    #[test]
    fn only_addresses_that_nobody_can_change_are_used() {
        for (address, expected) in [
            ("https://issuer.example/realm", true),
            ("http://127.0.0.1:9000", true),
            ("http://localhost:9000/x", true),
            ("http://[::1]:9000", true),
            ("http://issuer.example", false),
            ("http://localhost.evil.example", false),
            ("http://127.0.0.1@evil.example", false),
            ("https://user@issuer.example", false),
            ("https://issuer.example/#x", false),
            ("file:///etc/passwd", false),
            ("javascript:alert(1)", false),
            ("issuer.example", false),
        ] {
            assert_eq!(parse_secure_url(address).is_ok(), expected, "{address}");
        }
    }

    #[test]
    fn an_issuer_is_looked_for_in_the_order_of_the_protocol() {
        let shown = |issuer: &str| -> Vec<String> {
            metadata_urls(&issuer.parse().unwrap()).iter().map(ToString::to_string).collect()
        };
        assert_eq!(
            shown("https://a.example"),
            [
                "https://a.example/.well-known/oauth-authorization-server",
                "https://a.example/.well-known/openid-configuration",
            ]
        );
        assert_eq!(
            shown("https://a.example/t/1/"),
            [
                "https://a.example/.well-known/oauth-authorization-server/t/1",
                "https://a.example/.well-known/openid-configuration/t/1",
                "https://a.example/t/1/.well-known/openid-configuration",
            ]
        );
    }
}
