//! Logins and secrets: obtains, stores and renews the credentials that servers require.
//!
//! Takes a server that requires a login. Returns a token for its requests, sealed on disk and
//! shared by all processes of the user. A token is sent only to the server it was issued for. Never
//! decides whether a call may run.

mod account;
mod account_renew;
mod challenge;
mod client;
mod discover;
mod error;
mod fetch;
mod form;
mod grant;
mod keyring;
mod keys;
#[cfg(test)]
mod login_tests;
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
#[cfg(test)]
mod test_server;
mod vault;

pub use account::Account;
pub use challenge::Challenge;
pub use error::LoginError;
pub use logins::{LoginOptions, LoginStep, Logins, VisitFuture, Visitor};
pub use logout::LogoutReport;
pub use pending::PendingLogin;
pub use secret::Secret;
pub use secrets::{SecretName, SecretStore, secret_scope};
pub use store::StoredLogin;
