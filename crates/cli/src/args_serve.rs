//! The arguments of `serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use switchboard_editor::Place;

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Talk to one client over standard input and output
    #[arg(long, conflicts_with_all = ["listen", "allow_host", "allow_origin", "require_token", "oauth_issuer"])]
    pub(crate) stdio: bool,
    /// Where to listen, 127.0.0.1:8808 by default; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = address)]
    pub(crate) listen: Option<SocketAddr>,
    /// Only these servers (may be given several times)
    #[arg(long, value_name = "SERVER")]
    pub(crate) server: Vec<String>,
    /// How tools and prompts of servers without a `prefix` are named, `prefixed` by default
    #[arg(long, value_enum)]
    pub(crate) names: Option<NameChoice>,
    /// Which tools are listed, `auto` by default
    #[arg(long, value_enum)]
    pub(crate) tools: Option<ToolChoice>,
    /// Who approves calls that no rule allows, `client` by default
    #[arg(long, value_enum)]
    pub(crate) review: Option<ReviewChoice>,
    /// A name under which we are reached, beside those of this machine (may be given several times)
    #[arg(long, value_name = "NAME")]
    pub(crate) allow_host: Vec<String>,
    /// An origin whose pages may talk to us (may be given several times)
    #[arg(long, value_name = "ORIGIN")]
    pub(crate) allow_origin: Vec<String>,
    /// Let in only who presents a token; always so where other machines can reach us
    #[arg(long)]
    pub(crate) require_token: bool,
    /// Leave the web console out
    #[arg(long)]
    pub(crate) no_console: bool,
    /// The address of a proxy with TLS through which the console is reached; without it, the console is for this machine only
    #[arg(long, value_name = "URL", conflicts_with_all = ["no_console", "stdio"])]
    pub(crate) console_url: Option<String>,
    /// Also answer as a registry, with the servers that are allowed here, below `/v0.1`
    #[arg(long, conflicts_with = "stdio")]
    pub(crate) registry: bool,
    #[command(flatten)]
    pub(crate) editor: EditorArguments,
    #[command(flatten)]
    pub(crate) oauth: OauthArguments,
    #[command(flatten)]
    pub(crate) limits: LimitArguments,
}

#[derive(Debug, Args)]
pub(crate) struct EditorArguments {
    /// Serve editors and agents over gRPC: on a Unix socket, by default one in the folder for state, or on a port of this machine with a token. The MCP endpoint is then there only with `--listen`
    #[arg(long, value_name = "unix:PATH | ADDRESS:PORT", num_args = 0..=1, default_missing_value = "unix:", conflicts_with = "stdio")]
    pub(crate) grpc: Option<Place>,
    /// A JSON file with servers and the sites that they are for, for editors to suggest
    #[arg(long, value_name = "FILE", requires = "grpc")]
    pub(crate) known_servers: Option<PathBuf>,
    /// Keep the definitions of tools, resources and prompts as files below this folder; with `--grpc`, in the folder for state by default
    #[arg(long, value_name = "DIR")]
    pub(crate) index: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct OauthArguments {
    /// Accept the tokens of this OAuth issuer
    #[arg(long, value_name = "URL", requires = "oauth_audience")]
    pub(crate) oauth_issuer: Option<String>,
    /// The address under which clients reach us, for which the tokens must be made
    #[arg(long, value_name = "URL", requires = "oauth_issuer")]
    pub(crate) oauth_audience: Option<String>,
    /// A scope that the tokens must have (may be given several times)
    #[arg(long, value_name = "SCOPE", requires = "oauth_issuer")]
    pub(crate) oauth_scope: Vec<String>,
    /// Where the issuer's keys are; found out by default
    #[arg(long, value_name = "URL", requires = "oauth_issuer")]
    pub(crate) oauth_jwks: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct LimitArguments {
    /// Requests of one caller at the same time; 256 by default, without tokens 4096 for all together
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_in_flight: Option<u32>,
    /// Sessions of one caller; 1000 by default, without tokens 10000 for all together
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) max_sessions: Option<u32>,
    /// Requests of one caller per second; no limit by default
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_rate: Option<u32>,
    /// The largest message, in bytes; 4194304 by default
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(1_024..))]
    pub(crate) max_body: Option<u32>,
    /// Seconds that a client may take to send its headers or a message, or to go on reading, 60 by default
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) read_timeout: Option<u64>,
    /// Seconds that calls may go on after we were asked to end, 30 by default
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(0..=3600))]
    pub(crate) drain: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum NameChoice {
    /// `server__tool`
    #[value(alias = "server")]
    Prefixed,
    /// As the servers name them; two of one name are refused
    Plain,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ToolChoice {
    /// All up to 500 and 1 MiB of definitions, else as `search`
    Auto,
    /// All
    All,
    /// Three that find, describe and call all others, and those that are used most
    Search,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReviewChoice {
    /// The client asks its own person, as the protocol has it
    Client,
    /// We ask, where `autoApprove` does not allow it
    Ask,
}

/// An address and a port; this machine may be called by its name.
fn address(text: &str) -> Result<SocketAddr, String> {
    let numbers = match text.split_once(':') {
        Some((name, port)) if name.eq_ignore_ascii_case("localhost") => format!("127.0.0.1:{port}"),
        _ => text.to_owned(),
    };
    numbers
        .parse()
        .map_err(|_| "write it as 127.0.0.1:8808, [::1]:8808 or localhost:8808".to_owned())
}
