//! Clients over HTTP: streamable HTTP of both eras, and the older HTTP+SSE.

mod access_control;
mod body;
mod cors;
mod directory;
mod legacy;
mod modern;
mod not_found;
mod router;
mod serve;
mod sse;
mod write_timeout;

pub use access_control::{AccessControl, AuthRefusal, AuthenticateFuture, Authenticator};
pub use directory::{Directory, directory};
pub use not_found::{NotFoundPage, Pages};
pub use router::router;
pub use serve::serve;
