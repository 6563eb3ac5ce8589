//! The clients that are measured, each in a process of its own, and the one that gateways are
//! measured with.

mod endpoint;
mod floor_http;
mod floor_stdio;
mod http_connection;
mod line;
mod load_client;
mod rmcp_client;
mod run;
mod server_process;
mod wire;

pub(crate) use endpoint::{Endpoint, Speech, meta};
pub(crate) use line::{Server, ready, start_host, start_kept_host};
pub(crate) use load_client::{Order, load};
pub(crate) use run::{run, start_bare};
pub(crate) use server_process::HttpServer;
