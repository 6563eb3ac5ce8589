//! Peers over HTTP: streamable HTTP in both eras, and the older HTTP+SSE.

mod answer;
mod authorize;
mod client;
mod direct;
mod direct_body;
mod events;
mod headers;
mod link;
mod listen;
mod reply;
mod retry_after;
mod session;
mod trust;

pub use authorize::{
    AuthorizationRefusal, Authorize, AuthorizeFuture, CurrentAuthorization, challenges,
};
pub use client::{
    HttpClient, HttpEndpoint, new_http_client, new_trusting_http_client, prepare_tls,
};
pub use events::{SseEvent, SseEvents};
pub use headers::param_headers;
pub use link::start_http;
pub use listen::start_sse;
pub use reply::WireResponse;
pub use retry_after::parse_retry_after;
pub use trust::{Authorities, BadAuthorities, Distrust};

#[cfg(test)]
pub(crate) use events::parse_events;
pub(crate) use link::HttpLink;
