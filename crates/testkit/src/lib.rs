//! Fixtures for tests: real MCP and model servers as processes, and temporary homes.
//!
//! The servers are part of the binary `switchboard-testkit`; `switchboard-testkit --help` lists its
//! kinds, flags and faults. They speak hand-written JSON-RPC and share no code with the crate
//! `wire`, so a bug there cannot be masked by the same bug here.
#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a fixture that cannot be set up must stop the test loudly"
)]

mod background;
mod binary;
mod certificates;
mod front;
mod home;
mod http_fixture;
mod model_fixture;
mod oauth_fixture;
mod reference;
mod registry_fixture;
#[cfg(unix)]
#[expect(clippy::indexing_slicing, reason = "a member that a JSON value does not have is null")]
pub mod soak;

pub use binary::{binary, build};
pub use certificates::{ServerCertificate, TestAuthority, Validity};
pub use front::{Farewell, ProxyFront, Weather};
pub use home::Home;
pub use http_fixture::HttpFixture;
pub use model_fixture::{ModelFixture, ModelVendor};
pub use oauth_fixture::OauthFixture;

pub use reference::check_reference;
pub use registry_fixture::{RegistryFixture, RegistryMood};
