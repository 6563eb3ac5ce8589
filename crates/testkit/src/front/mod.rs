//! A loopback proxy in front of a server: TLS, bad network conditions, and HTTP/2 refusals.

#[expect(clippy::module_inception, reason = "the front is what this folder is about")]
mod front;
mod streams;
mod weather;

pub use front::ProxyFront;
pub use streams::Farewell;
pub use weather::Weather;
