//! GET requests with limits for time, size and redirects.

use std::time::Duration;

use reqwest::header::{ACCEPT, ETAG, IF_NONE_MATCH};
use reqwest::{Client, Url, redirect};
use switchboard_wire::prepare_tls;

use crate::client::address::RegistryReach;

/// Maximum number of redirects.
const MAX_REDIRECTS: usize = 5;

/// Limits for requests to a registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FetchLimits {
    /// Timeout of one request, including its response.
    pub answer: Duration,
    /// Maximum size of a response, in bytes.
    pub answer_bytes: usize,
    /// Maximum number of pages read from a list.
    pub pages: usize,
}

impl Default for FetchLimits {
    fn default() -> Self {
        Self { answer: Duration::from_secs(20), answer_bytes: 8 * 1024 * 1024, pages: 20 }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct RegistryFetcher {
    client: Client,
    limits: FetchLimits,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FetchOutcome {
    Answer { bytes: Vec<u8>, etag: Option<String> },
    Unchanged,
    Status(u16),
    Elsewhere,
    TooLong,
    Failed(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Redirects {
    SameOrigin,
    /// Redirects to any permitted URL, because the content is verified by its digest.
    Within(RegistryReach),
}

impl RegistryFetcher {
    pub(crate) fn new(limits: FetchLimits, redirects: Redirects) -> Result<Self, String> {
        prepare_tls();
        let follow = redirect::Policy::custom(move |attempt| {
            let few = attempt.previous().len() <= MAX_REDIRECTS;
            let from = attempt.previous().last();
            let same = from.is_some_and(|from| from.origin() == attempt.url().origin());
            let allowed = match redirects {
                Redirects::SameOrigin => same,
                Redirects::Within(reach) => reach.check(attempt.url().as_str()).is_ok(),
            };
            if few && allowed { attempt.follow() } else { attempt.stop() }
        });
        let client = Client::builder()
            .connect_timeout(limits.answer.min(Duration::from_secs(10)))
            .timeout(limits.answer)
            .redirect(follow)
            .user_agent(concat!("switchboard/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| error_text(&error))?;
        Ok(Self { client, limits })
    }

    pub(crate) async fn get(&self, url: Url, etag: Option<&str>) -> FetchOutcome {
        let mut request = self.client.get(url).header(ACCEPT, "application/json, */*;q=0.1");
        if let Some(etag) = etag {
            request = request.header(IF_NONE_MATCH, etag);
        }
        let mut response = match request.send().await {
            Ok(response) => response,
            Err(error) => return FetchOutcome::Failed(error_text(&error)),
        };
        match response.status().as_u16() {
            200 => {}
            304 if etag.is_some() => return FetchOutcome::Unchanged,
            // The redirect policy has stopped, or the status has no `Location`.
            300..=399 => return FetchOutcome::Elsewhere,
            status => return FetchOutcome::Status(status),
        }
        // Saves the download of a body that is announced as too long; the loop enforces the limit.
        let announced = response.content_length().unwrap_or_default();
        if usize::try_from(announced).unwrap_or(usize::MAX) > self.limits.answer_bytes {
            return FetchOutcome::TooLong;
        }
        let etag = response.headers().get(ETAG).and_then(|etag| etag.to_str().ok());
        // The ETag is stored and sent back, so an absurd one is dropped.
        let etag = etag.filter(|etag| etag.len() <= 1_024).map(str::to_owned);
        let mut bytes = Vec::new();
        loop {
            match response.chunk().await {
                Ok(Some(chunk)) => bytes.extend_from_slice(&chunk),
                Ok(None) => return FetchOutcome::Answer { bytes, etag },
                Err(error) => return FetchOutcome::Failed(error_text(&error)),
            }
            if bytes.len() > self.limits.answer_bytes {
                return FetchOutcome::TooLong;
            }
        }
    }
}

/// Returns the root cause of an error, without the URL, whose query may contain secrets.
fn error_text(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "timed out".to_owned();
    }
    let mut last = None;
    let mut next = std::error::Error::source(error);
    while let Some(cause) = next {
        last = Some(cause.to_string());
        next = cause.source();
    }
    last.unwrap_or_else(|| "the request failed".to_owned())
}
