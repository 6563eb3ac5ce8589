//! One named token as it is kept: never itself, only its digest.

use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use switchboard_core::random;
use switchboard_rules::Pattern;

use crate::access::View;

/// What every token begins with, so that people and scanners know what it is.
pub(crate) const TOKEN_PREFIX: &str = "sb_";

/// A token as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NamedToken {
    /// The SHA-256 of the token.
    sha256: String,
    /// Patterns of what its caller sees; none for everything.
    #[serde(default)]
    pub sees: Vec<String>,
    /// When it was made, in seconds since 1970.
    pub created_at: u64,
    /// From when on it does not count, in seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<u64>,
}

impl NamedToken {
    /// A token with the text that is told once.
    pub(crate) fn generate(sees: Vec<String>, expires_at: Option<u64>) -> Option<(Self, String)> {
        // 256 bits: nobody finds it by trying, so a fast digest is enough.
        let text = format!("{TOKEN_PREFIX}{}", random::long_token()?);
        let token = Self { sha256: token_digest(&text), sees, created_at: unix_now(), expires_at };
        Some((token, text))
    }

    /// The digest by which it is found.
    pub(crate) fn digest(&self) -> &str {
        &self.sha256
    }

    /// Whether its time is over.
    #[must_use]
    pub fn is_expired(&self) -> bool {
        self.expires_at.is_some_and(|end| end <= unix_now())
    }

    /// What its caller sees.
    #[must_use]
    pub fn view(&self) -> View {
        View { patterns: self.sees.iter().map(|text| Pattern::new(text)).collect() }
    }
}

/// What is kept of a token in its place.
pub(crate) fn token_digest(text: &str) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(digest(&SHA256, text.as_bytes()))
}

/// Seconds since 1970.
pub(crate) fn unix_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
