//! Clients over HTTP: streamable HTTP of both eras, and the older HTTP+SSE.

mod body;
mod directory;
mod door;
mod elsewhere;
mod legacy;
mod modern;
mod nowhere;
mod patient;
mod post;
mod serve;
mod sse;

pub use directory::{Directory, directory};
pub use door::{Admitting, Door, Keys, Refusal};
pub use nowhere::{Nowhere, Pages};
pub use post::router;
pub use serve::serve;
