//! Clients over HTTP: streamable HTTP of both eras, and the older HTTP+SSE.

mod access_control;
mod body;
mod cors;
mod legacy;
mod modern;
mod not_found;
mod router;
mod serve;
mod sse;

pub use access_control::AccessControl;
pub use not_found::{NotFoundPage, Pages};
pub use router::{Directory, directory_router, http_router};
pub use serve::serve_http;
