//! MCP messages and transports: lossless, tolerant, with little overhead.
//!
//! A [`Peer`] is one side of one connection. It assigns request ids, matches answers to requests,
//! enforces every deadline and puts requests of the other side into the [`Inbound`] queue. A link
//! transports the bytes: lines over a pipe ([`stream`]), streamable HTTP or the older HTTP+SSE
//! ([`http`]). Payloads are never decoded and re-encoded: a result has the server's exact bytes.
//!
//! This crate knows nothing about configuration, policy or processes.

mod envelope;
mod error;
mod handshake;
mod http;
mod limits;
mod list;
mod peer;
mod request;
mod revision;
mod stream;

#[cfg(test)]
mod corpus_tests;
mod dispatch;
mod framing;
mod in_flight;
mod outbox;

pub use envelope::{
    Message, NotAMessage, ResponseBody, notification_text, request_text, response_text,
};
pub use error::{CloseReason, RequestError, RpcError};
pub use handshake::{Agreement, Introduction, discover, initialize, set_modern_protocol};
pub use http::{
    Authorities, AuthorizationRefusal, Authorize, AuthorizeFuture, BadAuthorities,
    CurrentAuthorization, Distrust, HttpClient, HttpEndpoint, SseEvent, SseEvents, WireResponse,
    challenges, new_http_client, new_trusting_http_client, param_headers, parse_retry_after,
    prepare_tls, start_http, start_sse,
};
pub use limits::{UnreadableLines, WireLimits};
pub use list::{ItemKind, ListBounds, ListResult, ListedItem, fetch_list};
pub use peer::{Inbound, Peer, ProtocolState, Stats, TentativePeer};
pub use request::Request;
pub use revision::{Era, Revision};
pub use stream::{start_stream, stream_pair};
pub use switchboard_json::Json;
