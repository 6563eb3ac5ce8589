//! The command line of the fixture.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

use crate::faults::FaultOptions;
use crate::model::ModelOptions;
use crate::oauth::OauthSiteSettings;

/// MCP and model servers for tests.
#[derive(Clone, Debug, Parser)]
#[command(args_override_self = true)]
pub(crate) struct FixtureOptions {
    pub(crate) kind: ServerKind,
    /// Protocol eras to speak (default: dual, or legacy if the fault exists only in legacy servers)
    #[arg(long)]
    pub(crate) era: Option<FixtureEra>,
    /// Legacy revision in the answer to `initialize` (default: the requested one, if known)
    #[arg(long)]
    pub(crate) revision: Option<String>,
    #[arg(long, default_value = "stdio")]
    pub(crate) transport: FixtureTransport,
    /// Loopback port for HTTP; 0 takes any free port
    #[arg(long, default_value_t = 0)]
    pub(crate) port: u16,
    /// Maximum number of items on a page of a list
    #[arg(long)]
    pub(crate) page_size: Option<usize>,
    /// Add tools `tool_0001` to `tool_N`; for `journal`, `echo_001`, `slow_001` and so on
    #[arg(long, default_value_t = 0)]
    pub(crate) tools: usize,
    /// File for side effects and cancellations, one line each; for `model`, every request as JSON
    #[arg(long)]
    pub(crate) journal: Option<PathBuf>,
    /// File for the start and every incoming message, one JSON object per line
    #[arg(long)]
    pub(crate) trace: Option<PathBuf>,
    /// File with changes to lists and instructions, read for each answer
    #[arg(long)]
    pub(crate) overlay: Option<PathBuf>,
    /// Answer GET with 405
    #[arg(long)]
    pub(crate) no_get_stream: bool,
    /// Send answers over HTTP as event streams
    #[arg(long)]
    pub(crate) sse_answers: bool,
    /// Exit an HTTP server when standard input closes
    #[arg(long)]
    pub(crate) until_stdin_closes: bool,
    /// Add tools that run as tasks, and one that needs a visit to a URL first
    #[arg(long)]
    pub(crate) tasks: bool,
    /// Poll interval that tasks suggest to clients, in milliseconds
    #[arg(long, default_value_t = 250)]
    pub(crate) task_poll_ms: u64,
    /// github: file for the created issues, one JSON object per line
    #[arg(long)]
    pub(crate) store: Option<PathBuf>,
    /// given: file with lists, instructions, `results` and `notices` of calls, `contents` of URIs
    #[arg(long)]
    pub(crate) offers: Option<PathBuf>,
    /// hostile: only these of its parts
    #[arg(long, value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    #[command(flatten)]
    pub(crate) fault: FaultOptions,
    #[command(flatten)]
    pub(crate) model: ModelOptions,
    #[command(flatten)]
    pub(crate) oauth: OauthSiteSettings,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ServerKind {
    Echo,
    Asker,
    /// The echo server with `--fault`
    Flaky,
    Hostile,
    /// Serves the contents of the file `--offers`
    Given,
    Weather,
    Github,
    /// The server that the official conformance suite expects
    Conformance,
    /// The server behind `oauth`
    Protected,
    /// Journals its start, and the `id` of every call before the answer
    Journal,
    /// A scripted model
    Model,
    /// An authorization server with `protected` at /mcp; /control reports its observations
    Oauth,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FixtureEra {
    Legacy,
    Modern,
    Dual,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FixtureTransport {
    Stdio,
    Http,
    /// HTTP+SSE of 2024-11-05
    Sse,
}
