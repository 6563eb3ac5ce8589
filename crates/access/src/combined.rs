//! Named tokens and an issuer's tokens side by side.

use crate::authenticator::{AuthenticateFuture, Authenticator};
use crate::oauth::OauthAuthenticator;
use crate::token::TOKEN_PREFIX;
use crate::tokens::TokenAuthenticator;

/// Whatever of the two is accepted.
pub struct CombinedAuthenticator {
    /// Named tokens.
    pub tokens: TokenAuthenticator,
    /// Tokens of an issuer.
    pub oauth: Option<OauthAuthenticator>,
}

impl CombinedAuthenticator {
    /// Who is to say whether this is a token: one of ours is told by how it begins.
    fn authenticator_for(&self, bearer: Option<&str>) -> &dyn Authenticator {
        match &self.oauth {
            Some(oauth) if !bearer.is_some_and(|text| text.starts_with(TOKEN_PREFIX)) => oauth,
            _ => &self.tokens,
        }
    }
}

impl Authenticator for CombinedAuthenticator {
    fn authenticate<'a>(&'a self, bearer: Option<&'a str>) -> AuthenticateFuture<'a> {
        self.authenticator_for(bearer).authenticate(bearer)
    }

    fn is_still_valid(&self, identity: &str) -> bool {
        if identity.starts_with("token:") { self.tokens.is_still_valid(identity) } else { true }
    }

    fn is_current(&self, identity: &str) -> bool {
        let named = identity.starts_with("token:");
        named || self.oauth.as_ref().is_none_or(|oauth| oauth.is_current(identity))
    }

    fn metadata(&self) -> Option<&str> {
        self.oauth.as_ref().and_then(Authenticator::metadata)
    }
}
