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
    /// Protocol eras that are spoken; dual unless the fault exists only in legacy servers
    #[arg(long)]
    pub(crate) era: Option<FixtureEra>,
    /// Legacy revision answered to `initialize` (the requested one, if known)
    #[arg(long)]
    pub(crate) revision: Option<String>,
    #[arg(long, default_value = "stdio")]
    pub(crate) transport: FixtureTransport,
    /// Loopback port for HTTP; 0 takes any free port
    #[arg(long, default_value_t = 0)]
    pub(crate) port: u16,
    /// Lists come in pages
    #[arg(long)]
    pub(crate) page_size: Option<usize>,
    /// Adds tools `tool_0001` to `tool_N`; of a journal, `echo_001`, `slow_001` and so on
    #[arg(long, default_value_t = 0)]
    pub(crate) tools: usize,
    /// Side effects and cancellations, one line each; of a model, every request as JSON
    #[arg(long)]
    pub(crate) journal: Option<PathBuf>,
    /// The start and every message that arrives, one JSON object per line
    #[arg(long)]
    pub(crate) trace: Option<PathBuf>,
    /// Changes each list by what the file says at that moment
    #[arg(long)]
    pub(crate) overlay: Option<PathBuf>,
    /// 405 for GET
    #[arg(long)]
    pub(crate) no_get_stream: bool,
    /// Answers over HTTP are event streams
    #[arg(long)]
    pub(crate) sse_answers: bool,
    /// An HTTP server ends with its parent
    #[arg(long)]
    pub(crate) until_stdin_closes: bool,
    /// Adds tools that run as tasks, and one that needs a visit first
    #[arg(long)]
    pub(crate) tasks: bool,
    /// How often clients shall ask about a task
    #[arg(long, default_value_t = 250)]
    pub(crate) task_poll_ms: u64,
    /// github: the issues that were created, one JSON object per line
    #[arg(long)]
    pub(crate) store: Option<PathBuf>,
    /// given: lists, instructions, `results` and `notices` of calls, `contents` of addresses
    #[arg(long)]
    pub(crate) offers: Option<PathBuf>,
    /// hostile: some of its parts
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
    /// The contents of a file
    Given,
    Weather,
    Github,
    /// The server that the official suite expects
    Conformance,
    /// The server behind `oauth`
    Protected,
    /// Notes its start and the `id` of every call before the answer
    Journal,
    /// A scripted model
    Model,
    /// An authorization server with `protected` at /mcp; /control reports what it has seen
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
