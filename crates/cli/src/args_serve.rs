//! The arguments of `serve`.

use std::net::SocketAddr;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Talk to one client over standard input and output
    #[arg(long, conflicts_with_all = ["listen", "allow_host", "allow_origin"])]
    pub(crate) stdio: bool,
    /// Where to listen; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8808")]
    pub(crate) listen: SocketAddr,
    /// Only these servers (may be given several times)
    #[arg(long, value_name = "SERVER")]
    pub(crate) server: Vec<String>,
    /// How tools and prompts are named
    #[arg(long, value_enum, default_value_t = NameChoice::Prefixed)]
    pub(crate) names: NameChoice,
    /// Which tools are listed
    #[arg(long, value_enum, default_value_t = ToolChoice::Auto)]
    pub(crate) tools: ToolChoice,
    /// Who approves calls that no rule allows
    #[arg(long, value_enum, default_value_t = ReviewChoice::Client)]
    pub(crate) review: ReviewChoice,
    /// A name under which we are reached, beside those of this machine (may be given several times)
    #[arg(long, value_name = "NAME")]
    pub(crate) allow_host: Vec<String>,
    /// An origin whose pages may talk to us (may be given several times)
    #[arg(long, value_name = "ORIGIN")]
    pub(crate) allow_origin: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum NameChoice {
    /// `server__tool`
    Prefixed,
    /// As the servers name them; two of one name are refused
    Plain,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ToolChoice {
    /// All up to 500, else as `search`
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
