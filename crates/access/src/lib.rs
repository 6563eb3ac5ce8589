//! Who a caller is and what it sees, for every listener that accepts tokens.
//!
//! In goes the bearer token of a request. Out comes an [`Access`], which is an identity, a name for
//! the record and a [`View`], or an [`AuthRefusal`] with the status and the challenge of the response.
//! Tokens are named ones of this machine ([`TokenFile`], stored as digests) or JWTs that an OAuth
//! issuer signed for this audience ([`OauthAuthenticator`], which fetches the issuer's keys).
//!
//! A token that cannot be checked is rejected. This crate never listens, never reads a request, never
//! stores or logs a token, and grants no calls: policy decides about those.

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
