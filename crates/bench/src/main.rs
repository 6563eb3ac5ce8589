//! `cargo xtask bench`: Switchboard against a bare client, rmcp, the SDKs and other gateways.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "printing is what this program is for"
)]

mod calls;
mod catalog;
mod client;
mod console;
mod error;
mod forward;
mod gateway;
mod load;
mod memory;
mod meter;
mod parser;
mod policy;
mod prompt;
mod report;
mod restarts;
mod scan;
mod server;
mod soak;
mod start;
mod suite;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use error::Result;

/// The allocator of the shipped program, so that every Rust contestant uses the same one.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Compare Switchboard with a bare client, rmcp, the official SDKs and other gateways.
#[derive(Parser)]
#[command(args_conflicts_with_subcommands = true)]
struct BenchOptions {
    #[command(subcommand)]
    command: Option<BenchCommand>,
    #[command(flatten)]
    suite: suite::SuiteOptions,
}

#[derive(Subcommand)]
enum BenchCommand {
    /// Put the gateway under load while its servers are killed
    Soak(soak::SoakOptions),
    /// Restart a server many times and check for leaks
    Restarts(restarts::RestartOptions),
    #[command(hide = true)]
    RawServer(server::RawServerOptions),
    #[command(hide = true)]
    Client(client::ClientOptions),
    #[command(hide = true)]
    LoadClient(client::LoadClientOptions),
    #[command(hide = true)]
    Forward(forward::ForwardOptions),
    #[command(hide = true)]
    Measure { part: suite::MeasuredPart },
}

fn main() -> ExitCode {
    match dispatch(BenchOptions::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(options: BenchOptions) -> Result<()> {
    // Outside the runtime: the stdio server uses none, and the HTTP server starts its own.
    if let Some(BenchCommand::RawServer(options)) = &options.command {
        return server::run(options);
    }
    tokio::runtime::Runtime::new()?.block_on(async {
        match options.command {
            None => suite::run(options.suite).await,
            Some(BenchCommand::Soak(options)) => soak::run(options).await,
            Some(BenchCommand::Restarts(options)) => restarts::run(options).await,
            Some(BenchCommand::RawServer(options)) => server::run(&options),
            Some(BenchCommand::Client(options)) => client::run(options).await,
            Some(BenchCommand::LoadClient(options)) => client::load(options).await,
            Some(BenchCommand::Forward(options)) => forward::run(options).await,
            Some(BenchCommand::Measure { part }) => suite::measure(part).await,
        }
    })
}
