//! The clients that are measured, each in a process of its own.

mod floor_http;
mod floor_stdio;
mod line;
mod rmcp_client;
mod run;
mod server_process;
mod wire;

pub(crate) use line::{Server, ready, start_host};
pub(crate) use run::{run, start_bare};
pub(crate) use server_process::HttpServer;
