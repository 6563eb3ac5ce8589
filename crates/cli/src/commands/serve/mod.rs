//! `switchboard serve`: one MCP server for any client.

mod at_console;
mod command;
mod console;
mod door;
mod grpc;
mod notices;
mod registry;
mod wishes;

pub(crate) use command::{ServeArgs, run};
