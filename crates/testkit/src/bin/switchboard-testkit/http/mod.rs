//! HTTP on loopback: streamable HTTP in both eras and the older HTTP+SSE.

mod door;
mod endpoint;
mod get;
mod modern;
mod post;
mod raw;
mod raw_request;
mod reply;
mod serve;
mod steady;
mod two_endpoints;

pub(crate) use endpoint::Endpoint;
pub(crate) use raw::{Site, serve as serve_raw};
pub(crate) use reply::{Asked, Body, Reply};
pub(crate) use serve::{listen, serve};
