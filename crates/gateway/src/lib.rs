//! Face: all servers behind one MCP endpoint, for clients of every revision.
//!
//! A client's request becomes one call in the host's pipeline, on the catalog that the client saw
//! ([`Gateway`]). Questions of a server during a call go back to the client that made it: as a
//! request if its revision has those, otherwise as an `input_required` result while the call is
//! parked. Payloads are forwarded byte for byte.
//!
//! The transports are [`serve_http`] and [`Gateway::serve_pipe`].

mod calls;
mod catalog_view;
mod client;
mod client_request;
mod complete;
mod cursor;
mod dispatch;
mod gateway;
mod http;
mod late_servers;
mod limits;
mod lists;
mod log_subscribers;
mod members;
mod meta;
mod name_owners;
mod name_table;
mod notices;
mod parked_calls;
mod relay;
mod reply;
mod search;
mod session;
mod stdio;
mod tasks;
mod tool_usage;
mod uri_rewrite;

pub use gateway::{Gateway, GatewayOptions, ToolMode};
pub use http::{
    AccessControl, Directory, NotFoundPage, Pages, directory_router, http_router, serve_http,
};
pub use limits::CallerLimits;
pub use name_table::{Collision, NameMode};
