//! Authentication of callers, and the reasons to reject them.

use std::pin::Pin;

use crate::access::Access;
use crate::oauth::OauthAuthenticator;
use crate::token::TOKEN_PREFIX;
use crate::tokens::{TOKEN_IDENTITY, TokenAuthenticator};

/// Checks the credentials of callers.
pub trait Authenticator: Send + Sync {
    /// Returns the caller that presents `bearer`, or the reason to reject it.
    fn authenticate<'a>(&'a self, bearer: Option<&'a str>) -> AuthenticateFuture<'a>;

    /// Returns whether a caller that was admitted before would still be admitted.
    fn is_still_valid(&self, identity: &str) -> bool;

    /// Returns whether the last token of an admitted caller has not expired. The caller resumes its
    /// session with a new token, so an expired one only ends its streams.
    fn is_current(&self, identity: &str) -> bool;

    /// Returns the protected-resource metadata (RFC 9728) as JSON.
    fn metadata(&self) -> Option<&str> {
        None
    }
}

/// The future of [`Authenticator::authenticate`].
pub type AuthenticateFuture<'a> =
    Pin<Box<dyn Future<Output = Result<Access, AuthRefusal>> + Send + 'a>>;

/// Why a caller is not admitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthRefusal {
    pub status: u16,
    /// The reason, worded so that it does not help an attacker.
    pub message: String,
    /// The value of the `WWW-Authenticate` header.
    pub challenge: Option<String>,
}

/// Accepts named tokens, and JWTs if an issuer is configured.
pub struct CombinedAuthenticator {
    pub tokens: TokenAuthenticator,
    pub oauth: Option<OauthAuthenticator>,
}

impl CombinedAuthenticator {
    fn authenticator_for(&self, bearer: Option<&str>) -> &dyn Authenticator {
        match &self.oauth {
            // A request without a token goes to OAuth, whose challenge tells clients how to log in.
            Some(oauth) if !bearer.is_some_and(|text| text.starts_with(TOKEN_PREFIX)) => oauth,
            _ => &self.tokens,
        }
    }

    fn admitted_by(&self, identity: &str) -> Option<&dyn Authenticator> {
        // OAuth identities have another prefix, so a subject cannot pose as a named token.
        if identity.starts_with(TOKEN_IDENTITY) {
            return Some(&self.tokens);
        }
        self.oauth.as_ref().map(|oauth| oauth as &dyn Authenticator)
    }
}

impl Authenticator for CombinedAuthenticator {
    fn authenticate<'a>(&'a self, bearer: Option<&'a str>) -> AuthenticateFuture<'a> {
        self.authenticator_for(bearer).authenticate(bearer)
    }

    fn is_still_valid(&self, identity: &str) -> bool {
        self.admitted_by(identity).is_some_and(|keys| keys.is_still_valid(identity))
    }

    fn is_current(&self, identity: &str) -> bool {
        self.admitted_by(identity).is_some_and(|keys| keys.is_current(identity))
    }

    fn metadata(&self) -> Option<&str> {
        self.oauth.as_ref().and_then(Authenticator::metadata)
    }
}
