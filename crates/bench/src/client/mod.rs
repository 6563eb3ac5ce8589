//! The measured clients, each in a separate process, and the client that gateways are measured
//! with.

mod endpoint;
mod engine_client;
mod floor;
mod http_connection;
mod load_client;
mod run;
mod wire_client;

pub(crate) use endpoint::{BenchEndpoint, EndpointProtocol, meta};
pub(crate) use engine_client::{EngineServer, require_ready, start_host, start_kept_host};
pub(crate) use load_client::{LoadClientOptions, LoadOrder, load};
pub(crate) use run::{
    ClientOptions, HttpServer, PipedProcess, each_line, piped_server, run, start_bare, start_piped,
};
