//! Checks of credentials, and the reasons to reject them.

use std::pin::Pin;

use crate::access::Access;

/// Checks what a caller presents.
pub trait Authenticator: Send + Sync {
    /// Who it is that presents `bearer`.
    fn authenticate<'a>(&'a self, bearer: Option<&'a str>) -> AuthenticateFuture<'a>;

    /// Whether somebody who was let in before still would be.
    fn is_still_valid(&self, identity: &str) -> bool {
        let _ = identity;
        true
    }

    /// Whether the last proof of somebody who was let in before has not run out. Who comes with a
    /// new one goes on where it was, so only its streams end.
    fn is_current(&self, identity: &str) -> bool {
        let _ = identity;
        true
    }

    /// What is told about how to get in: protected-resource metadata, as JSON.
    fn metadata(&self) -> Option<&str> {
        None
    }
}

/// A check under way.
pub type AuthenticateFuture<'a> =
    Pin<Box<dyn Future<Output = Result<Access, AuthRefusal>> + Send + 'a>>;

/// Why somebody is not let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthRefusal {
    /// The HTTP status.
    pub status: u16,
    /// Why, in a sentence that gives nothing away.
    pub message: String,
    /// What to present instead, as `WWW-Authenticate` says it.
    pub challenge: Option<String>,
}
