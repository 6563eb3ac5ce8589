//! Fetches the keys of an issuer: when they are first needed, and again when a new one appears.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use reqwest::{Client, Url, redirect};
use serde::Deserialize;
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::error::KeyError;
use super::jwks::{self, Key};
use crate::session::locked;

/// Keys are fetched anew after so long.
const FRESH: Duration = Duration::from_secs(60 * 60);
/// A key that is not known makes us fetch no more often than this.
const PAUSE: Duration = Duration::from_secs(60);
/// While there are no keys at all, we try more often.
const FIRST_PAUSE: Duration = Duration::from_secs(5);
const PATIENCE: Duration = Duration::from_secs(10);
const LIMIT_BYTES: usize = 1 << 20;

/// An issuer and the keys that we know of it.
pub(super) struct Issuer {
    name: String,
    /// Where its keys are, if that need not be found out.
    keys_at: Option<Url>,
    client: Client,
    kept: Mutex<Kept>,
    /// One fetches, the others wait for it.
    turn: Semaphore,
}

#[derive(Clone, Default)]
struct Kept {
    keys: Arc<Vec<Key>>,
    fetched: Option<Instant>,
    tried: Option<Instant>,
}

#[derive(Deserialize)]
struct Metadata {
    issuer: String,
    jwks_uri: String,
}

impl Issuer {
    pub(super) fn new(name: &str, keys_at: Option<&str>) -> Result<Self, KeyError> {
        let address = safe_address(name)?;
        let keys_at = keys_at.map(safe_address).transpose()?;
        // Somebody else in this process may have chosen a provider already; theirs is as good.
        rustls::crypto::ring::default_provider().install_default().ok();
        let builder = Client::builder()
            .timeout(PATIENCE)
            // Keys come from the place that was named, or not at all.
            .redirect(redirect::Policy::none())
            .user_agent(concat!("switchboard/", env!("CARGO_PKG_VERSION")));
        let builder = if is_loopback(&address) { builder.no_proxy() } else { builder };
        let client = builder.build().map_err(|error| KeyError::NoClient(error.to_string()))?;
        let kept = Mutex::default();
        Ok(Self { name: name.to_owned(), keys_at, client, kept, turn: Semaphore::new(1) })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The keys, fetched again if none `fits`; nothing if there have never been any.
    pub(super) async fn keys(&self, fits: impl Fn(&[Key]) -> bool) -> Option<Arc<Vec<Key>>> {
        if let Some(keys) = self.settled(&fits) {
            return keys;
        }
        let Ok(_turn) = self.turn.acquire().await else { return None };
        // Whoever had the turn before may have fetched what is needed.
        if let Some(keys) = self.settled(&fits) {
            return keys;
        }
        locked(&self.kept).tried = Some(Instant::now());
        let fetched = self.fetch().await;
        let mut kept = locked(&self.kept);
        if let Some(keys) = fetched {
            kept.keys = Arc::new(keys);
            kept.fetched = Some(Instant::now());
        }
        kept.answer()
    }

    /// What is to be answered without fetching, if so.
    fn settled(&self, fits: impl Fn(&[Key]) -> bool) -> Option<Option<Arc<Vec<Key>>>> {
        let kept = locked(&self.kept).clone();
        let fresh = kept.fetched.is_some_and(|at| at.elapsed() < FRESH);
        let pause = if kept.fetched.is_some() { PAUSE } else { FIRST_PAUSE };
        let waits = kept.tried.is_some_and(|at| at.elapsed() < pause);
        (fresh && fits(&kept.keys) || waits).then(|| kept.answer())
    }

    async fn fetch(&self) -> Option<Vec<Key>> {
        let address = match &self.keys_at {
            Some(address) => address.clone(),
            None => self.discover().await?,
        };
        jwks::read(&self.text(address).await?)
    }

    /// Finds out where the keys are, from what the issuer says about itself.
    async fn discover(&self) -> Option<Url> {
        let issuer: Url = self.name.parse().ok()?;
        for place in places(&issuer) {
            let Some(text) = self.text(place).await else { continue };
            let Ok(metadata) = serde_json::from_str::<Metadata>(&text) else { continue };
            if metadata.issuer != self.name {
                continue;
            }
            let address = safe_address(&metadata.jwks_uri).ok()?;
            // Somebody elsewhere does not send us to a port of this machine.
            return (!is_loopback(&address) || is_loopback(&issuer)).then_some(address);
        }
        None
    }

    async fn text(&self, address: Url) -> Option<String> {
        let mut response = self.client.get(address).send().await.ok()?;
        if !response.status().is_success() {
            return None;
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.ok()? {
            if body.len() + chunk.len() > LIMIT_BYTES {
                return None;
            }
            body.extend_from_slice(&chunk);
        }
        String::from_utf8(body).ok()
    }
}

impl Kept {
    fn answer(&self) -> Option<Arc<Vec<Key>>> {
        self.fetched.is_some().then(|| Arc::clone(&self.keys))
    }
}

/// Where an issuer tells about itself, in the order in which it is looked for.
fn places(issuer: &Url) -> Vec<Url> {
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

/// An address that nobody on the way can change: `https`, or `http` on this machine.
pub(super) fn safe_address(text: &str) -> Result<Url, KeyError> {
    let unsafe_address = || KeyError::Address(text.to_owned());
    let address: Url = text.parse().map_err(|_| unsafe_address())?;
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

fn is_loopback(address: &Url) -> bool {
    address.host_str().is_some_and(|host| {
        let host = host.trim_start_matches('[').trim_end_matches(']');
        host == "localhost" || host.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback())
    })
}

#[cfg(test)]
mod tests {
    use super::{places, safe_address};

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
            assert_eq!(safe_address(address).is_ok(), expected, "{address}");
        }
    }

    #[test]
    fn an_issuer_is_looked_for_in_the_order_of_the_protocol() {
        let shown = |issuer: &str| -> Vec<String> {
            places(&issuer.parse().unwrap()).iter().map(ToString::to_string).collect()
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
