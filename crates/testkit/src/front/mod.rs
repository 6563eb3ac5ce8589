//! A proxy on loopback before a server: TLS, bad weather on the way, and farewells of HTTP/2.

#[expect(clippy::module_inception, reason = "the front is what this folder is about")]
mod front;
mod streams;
mod weather;

pub use front::ProxyFront;
pub use streams::Farewell;
pub use weather::Weather;
