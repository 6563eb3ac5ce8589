//! HTTP on loopback: streamable HTTP in both eras and the older HTTP+SSE.

mod endpoint;
mod modern;
mod post;
mod raw;
mod reply;
mod request_faults;
mod serve;
mod two_endpoints;

pub(crate) use endpoint::FixtureEndpoint;
pub(crate) use raw::{HttpSite, serve as serve_raw};
pub(crate) use reply::{FixtureReply, FixtureRequest, ReplyBody};
pub(crate) use serve::{listen, serve};
