//! MCP messages and how they travel: lossless, tolerant, close to the floor.
//!
//! A [`Peer`] is one side of one connection. It numbers requests, matches answers to them, keeps
//! every deadline and hands what the other side asks to whoever holds the [`Inbound`] queue. How the
//! bytes travel is the business of a link: lines over a pipe ([`stream`]), streamable HTTP or the
//! older HTTP+SSE ([`http`]). Payloads are never decoded and encoded again on the way: a result is
//! the very bytes that the server sent.
//!
//! This crate knows no configuration, no policy and no processes.

pub mod envelope;
pub mod error;
pub mod handshake;
pub mod http;
pub mod limits;
pub mod list;
pub mod peer;
pub mod request;
pub mod revision;
pub mod stream;

#[cfg(test)]
mod corpus_tests;
mod dispatch;
mod framing;
mod in_flight;
mod outbox;

pub use error::{CloseReason, RequestError, RpcError};
pub use limits::{UnreadableLines, WireLimits};
pub use peer::{Inbound, Peer, ProtocolState, Stats, TentativePeer};
pub use request::Request;
pub use revision::{Era, Revision};
pub use switchboard_json::Json;
