//! Named tokens and an issuer's tokens side by side.

use super::oauth::Oauth;
use super::token::PREFIX;
use super::tokens::Tokens;
use crate::http::{Admitting, Keys};

/// Whatever of the two is accepted.
pub struct AnyOf {
    /// Named tokens.
    pub tokens: Tokens,
    /// Tokens of an issuer.
    pub oauth: Option<Oauth>,
}

impl AnyOf {
    /// Who is to say whether this is a token: one of ours is told by how it begins.
    fn judge(&self, bearer: Option<&str>) -> &dyn Keys {
        match &self.oauth {
            Some(oauth) if !bearer.is_some_and(|text| text.starts_with(PREFIX)) => oauth,
            _ => &self.tokens,
        }
    }
}

impl Keys for AnyOf {
    fn admit<'a>(&'a self, bearer: Option<&'a str>) -> Admitting<'a> {
        self.judge(bearer).admit(bearer)
    }

    fn holds(&self, identity: &str) -> bool {
        if identity.starts_with("token:") { self.tokens.holds(identity) } else { true }
    }

    fn is_current(&self, identity: &str) -> bool {
        let named = identity.starts_with("token:");
        named || self.oauth.as_ref().is_none_or(|oauth| oauth.is_current(identity))
    }

    fn metadata(&self) -> Option<&str> {
        self.oauth.as_ref().and_then(Keys::metadata)
    }
}
