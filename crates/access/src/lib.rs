//! Authentication of callers and their catalog views, for every listener that accepts tokens.
//!
//! An [`Authenticator`] takes the bearer token of a request. It returns an [`Access`] (an identity,
//! a name for the record and a [`View`]) or an [`AuthRefusal`] with the status and the challenge of
//! the response. Tokens are either named tokens of this machine ([`TokenFile`], stored as digests)
//! or JWTs that an OAuth issuer signed for this audience ([`OauthAuthenticator`]).
//!
//! A token that cannot be checked is rejected. This crate never listens, never reads a request and
//! never stores or logs a token. It does not permit calls; that is the job of policy.

mod access;
mod authenticator;
mod error;
mod issuer;
mod jwks;
mod jwt;
mod oauth;
mod token;
mod token_file;
mod tokens;
mod views;

pub use access::{Access, LOCAL_IDENTITY, View};
pub use authenticator::{AuthRefusal, AuthenticateFuture, Authenticator, CombinedAuthenticator};
pub use error::KeyError;
pub use oauth::{OauthAuthenticator, OauthOptions};
pub use token::NamedToken;
pub use token_file::{NewToken, TokenFile};
pub use tokens::TokenAuthenticator;
