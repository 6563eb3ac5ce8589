//! Step 1b: logins of HTTP servers: how one is found, had, kept, renewed and ended.
//!
//! Reading order: `guard` says what may be visited, `fetch` visits it, `challenge` and `discover`
//! find the authorization server, `register` makes us known there, `pending` is a login that waits
//! for a person, `grant` asks for tokens. `vault` and `store` keep them, sealed with a key that
//! `keys` finds. `account` gives requests their token and renews it, `logins` is the handle.
//! `secrets` keeps what entries refer to by name.

mod account;
mod account_renew;
mod challenge;
mod client;
mod discover;
mod error;
mod fetch;
mod form;
mod grant;
mod guard;
mod keyring;
mod keys;
mod lock;
mod logins;
mod logout;
mod metadata;
mod pending;
mod random;
mod register;
mod resolver;
mod scopes;
mod secret;
mod secrets;
mod store;
mod vault;
mod visitor;

pub use challenge::Challenge;
pub use error::LoginError;
pub use logins::{Logins, Step, Wish};
pub use logout::Ended;
pub use pending::Pending;
pub use secret::Secret;
pub use secrets::{SecretName, Secrets, scope_of};
pub use store::Held;
pub use visitor::{Visiting, Visitor};

pub(crate) use account::Account;

#[cfg(test)]
mod login_tests;
#[cfg(test)]
mod test_server;
