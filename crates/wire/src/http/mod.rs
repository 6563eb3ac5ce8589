//! Peers over HTTP: streamable HTTP in both eras, and the older HTTP+SSE.

mod answer;
mod authorize;
mod client;
mod direct;
mod direct_body;
mod events;
mod headers;
mod identity;
mod link;
mod listen;
mod reply;
mod session;
mod trust;

pub use authorize::{AtHand, Authorize, Authorizing, Refusal, challenges};
pub use client::{Endpoint, HttpClient, client, client_trusting, prepare_tls};
pub use events::{Event, Events};
pub use headers::param_headers;
pub use link::start;
pub use listen::start_sse;
pub use reply::Reply;
pub use trust::{Authorities, BadAuthorities, Distrust};

#[cfg(test)]
pub(crate) use events::events_of;
pub(crate) use link::HttpLink;
