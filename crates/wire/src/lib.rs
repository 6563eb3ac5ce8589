//! MCP messages and how they travel: lossless, tolerant, close to the floor.
//!
//! A [`Peer`] is one side of one connection. It numbers requests, matches answers to them, keeps
//! every deadline and hands what the other side asks to whoever holds the [`Inbound`] queue. How the
//! bytes travel is the business of a link: lines over a pipe ([`stream`]), streamable HTTP or the
//! older HTTP+SSE ([`http`]). Payloads are never decoded and encoded again on the way: a result is
//! the very bytes that the server sent.
//!
//! This crate knows no configuration, no policy and no processes.

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
