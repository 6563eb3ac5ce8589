//! HTTP on loopback: streamable HTTP in both eras and the older HTTP+SSE.

mod axum_server;
mod endpoint;
mod get;
mod modern;
mod post;
mod raw;
mod raw_request;
mod reply;
mod request_faults;
mod serve;
mod two_endpoints;

pub(crate) use endpoint::FixtureEndpoint;
pub(crate) use raw::{HttpSite, serve as serve_raw};
pub(crate) use reply::{FixtureReply, FixtureRequest, ReplyBody};
pub(crate) use serve::{listen, serve};
