//! The clients that are measured, each in a process of its own, and the one that gateways are
//! measured with.

mod endpoint;
mod engine_client;
mod floor_http;
mod floor_stdio;
mod http_connection;
mod load_client;
mod rmcp_client;
mod run;
mod server_process;
mod wire_client;

pub(crate) use endpoint::{BenchEndpoint, EndpointProtocol, meta};
pub(crate) use engine_client::{EngineServer, require_ready, start_host, start_kept_host};
pub(crate) use load_client::{LoadOrder, load};
pub(crate) use run::{run, start_bare};
pub(crate) use server_process::HttpServer;
