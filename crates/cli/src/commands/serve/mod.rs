//! `switchboard serve`: one MCP server for any client.

mod command;
mod console;
mod door;
mod grpc;
mod notices;
mod wishes;

pub(crate) use command::{ServeArgs, run};
