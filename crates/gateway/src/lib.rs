//! Face: all servers behind one MCP endpoint, for clients of every revision.
//!
//! A client's request becomes one call along the host's line, on the catalog that the client was
//! shown ([`Gateway`]). What a server asks in the middle of a call goes back to the client that made
//! it: as a request where its revision has those, else as a result that asks for more, while the
//! call waits. Payloads are passed on as the bytes they are.
//!
//! How messages travel is the business of [`http`] and of [`Gateway::serve_pipe`].

mod access;
mod addresses;
mod answer;
mod arriving;
mod asked;
mod calls;
mod client;
mod complete;
mod cursor;
mod dispatch;
mod envelope;
mod gateway;
mod held;
pub mod http;
pub mod keys;
mod limits;
mod listeners;
mod listing;
mod lists;
mod members;
mod meta;
mod named;
mod naming;
mod notices;
mod owners;
mod parked;
mod relay;
mod search;
mod session;
mod stdio;
mod tasks;
mod used;
mod view;
mod wanted_messages;

pub use access::Access;
pub use gateway::{Gateway, Options, ToolMode};
pub use limits::CallerLimits;
pub use named::Collision;
pub use naming::NameMode;
pub use view::View;
