//! Face: all servers behind one MCP endpoint, for clients of every revision.
//!
//! A client's request becomes one call along the host's line, on the catalog that the client was
//! shown ([`Gateway`]). What a server asks in the middle of a call goes back to the client that made
//! it: as a request where its revision has those, else as a result that asks for more, while the
//! call waits. Payloads are passed on as the bytes they are.
//!
//! How messages travel is the business of [`http`] and of [`Gateway::serve_pipe`].

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
