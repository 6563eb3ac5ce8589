//! What callers prove themselves with: named tokens of ours, and tokens of an OAuth issuer.

mod any_of;
mod error;
mod issuer;
mod jwks;
mod jwt;
mod oauth;
mod token;
mod token_file;
mod tokens;
mod views;

pub use any_of::AnyOf;
pub use error::KeyError;
pub use oauth::{Oauth, OauthOptions};
pub use token::Token;
pub use token_file::{NewToken, TokenFile};
pub use tokens::Tokens;
