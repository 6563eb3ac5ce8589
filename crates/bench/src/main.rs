//! `cargo xtask bench`: Switchboard beside a bare client, rmcp, the official SDKs and other gateways.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "printing is what this program is for"
)]

mod calls;
mod catalog;
mod child;
mod client;
mod command_words;
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
mod statistics;
mod suite;

use std::process::ExitCode;

use command_words::CommandWords;
use error::Result;

/// The allocator of the shipped program, for every contestant that is Rust.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const HELP: &str = "\
Usage: switchboard-bench [all|calls|start|memory|catalog|parser|policy|prompt|scan|gateway|console] [options]

  --quick          one short pass without the largest payload, less than a minute in all
  --passes N       how many turns each client has (20; with --quick 3); the rest at most 5
  --testenv DIR    where the other SDKs and the tokenizer are; `SWITCHBOARD_TESTENV` if not given
  --catalog FILE   the servers and tools of `prompt` and `scan` as JSON; made up if not given
  --corpus FILE    attacks for `scan`, a JSON object per line: {\"text\": …} or a definition; may be
                   given several times; corpora/agentdojo.py makes one
  --no-peers       `gateway` without the gateways of others, which it installs below target/bench-peers
  --crate-peer     `gateway` with the crate mcp-proxy too, whose build takes minutes
  --rows N         calls in the record of `console` (1000000; with --quick 50000)
  --json           every number as JSON instead of tables

`all` leaves `gateway` and `console` out.

Usage: switchboard-bench soak [options]: the gateway under load while its servers are killed

  --clients N --servers N --tools N    how many (1000, 100, 5000)
  --minutes N | --seconds N            how long the clients call (10 minutes)
  --kills N                            servers that are killed meanwhile (30 a minute)
  --pause-ms N                         how long a client rests between calls, on average (500)
  --seed N                             what all choices follow from (1)
  --growth PERCENT                     by how much memory may grow after a quarter (20)

Usage: switchboard-bench restarts [options]: a server starts and stops, and nothing is left behind

  --cycles N                           how often (10,000)
  --growth PERCENT                     by how much memory may grow after a tenth (5)

Parts of itself that it starts: raw-server stdio|http, client <contestant>, measure <part>,
forward, load-client.";

fn main() -> ExitCode {
    match dispatch(CommandWords::new(std::env::args().skip(1))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(mut words: CommandWords) -> Result<()> {
    if words.switch("--help") || words.switch("-h") {
        println!("{HELP}");
        return Ok(());
    }
    if words.command("raw-server") {
        return server::run(words);
    }
    tokio::runtime::Runtime::new()?.block_on(async {
        if words.command("client") {
            client::run(words).await
        } else if words.command("load-client") {
            client::load(words).await
        } else if words.command("forward") {
            forward::run(words).await
        } else if words.command("soak") {
            soak::run(words).await
        } else if words.command("restarts") {
            restarts::run(words).await
        } else if words.command("measure") {
            suite::measure(words).await
        } else {
            suite::run(words).await
        }
    })
}
