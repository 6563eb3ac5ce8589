//! What callers prove themselves with: named tokens of ours, and tokens of an OAuth issuer.

mod combined;
mod error;
mod issuer;
mod jwks;
mod jwt;
mod oauth;
mod token;
mod token_file;
mod tokens;
mod views;

pub use combined::CombinedAuthenticator;
pub use error::KeyError;
pub use oauth::{OauthAuthenticator, OauthOptions};
pub use token::NamedToken;
pub use token_file::{NewToken, TokenFile};
pub use tokens::TokenAuthenticator;
