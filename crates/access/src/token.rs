//! A named token as it is stored: its digest, never the token itself.

use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use switchboard_core::long_random_token;
use switchboard_rules::Pattern;

use crate::access::View;

/// Prefix of every token, by which people and scanners recognize it.
pub(crate) const TOKEN_PREFIX: &str = "sb_";

/// A token as it is stored in the token file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NamedToken {
    pub(crate) sha256: String,
    /// The patterns that the caller sees; an empty list covers everything.
    #[serde(default)]
    pub sees: Vec<String>,
    /// Seconds since the Unix epoch.
    pub created_at: u64,
    /// Seconds since the Unix epoch; `None` for a token that never expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<u64>,
}

impl NamedToken {
    /// Generates a token and its text, which is shown once.
    pub(crate) fn generate(sees: Vec<String>, expires_at: Option<u64>) -> Option<(Self, String)> {
        // 256 random bits cannot be guessed, so a fast digest is as safe as a password hash.
        let text = format!("{TOKEN_PREFIX}{}", long_random_token()?);
        let token = Self { sha256: token_digest(&text), sees, created_at: unix_now(), expires_at };
        Some((token, text))
    }

    /// Returns whether the token has expired.
    #[must_use]
    pub fn is_expired(&self) -> bool {
        self.expires_at.is_some_and(|end| end <= unix_now())
    }

    /// Returns the view of the token's caller.
    #[must_use]
    pub fn view(&self) -> View {
        View { patterns: self.sees.iter().map(|text| Pattern::new(text)).collect() }
    }
}

/// Returns the digest that is stored instead of a token.
pub(crate) fn token_digest(text: &str) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(digest(&SHA256, text.as_bytes()))
}

pub(crate) fn unix_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
