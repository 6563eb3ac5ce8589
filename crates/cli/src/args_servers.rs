//! The arguments of `servers`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct Servers {
    #[command(subcommand)]
    pub(crate) command: Option<ServersCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ServersCommand {
    /// List servers and their state
    #[command(visible_alias = "ls")]
    List {
        /// Go on and show every change
        #[arg(long, short)]
        watch: bool,
    },
    /// Add a server: an address, or a command after `--`
    Add(Add),
    /// Remove a server
    #[command(visible_alias = "rm")]
    Remove {
        /// Its name
        name: String,
        #[command(flatten)]
        place: Place,
    },
    /// Switch a server on
    Enable {
        /// Its name
        name: String,
    },
    /// Switch a server off
    Disable {
        /// Its name
        name: String,
    },
    /// Show a server's entry and what to know about it, without starting it
    Show {
        /// Its name
        name: String,
    },
    /// Agree to a server of the project's file, or to a dangerous one, as it stands there now
    Approve {
        /// Its name
        name: String,
        /// Agree to what is dangerous about it without a question
        #[arg(long, short)]
        yes: bool,
    },
    /// Watch a server while it runs unconfined, and propose a `sandbox` for it
    Sandbox {
        /// Its name
        name: String,
        /// So long, in seconds
        #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=3600))]
        seconds: u64,
        /// Write it into the server's entry, so that the server is confined from its next start on
        #[arg(long)]
        enforce: bool,
    },
    /// Start a server afresh and say how it went
    Restart {
        /// Its name
        name: String,
    },
    /// Show what a server wrote to its standard error, or the messages it sent
    Logs {
        /// Its name
        name: String,
        /// The messages that it sent as the protocol has them
        #[arg(long, short)]
        messages: bool,
        /// Only the last lines
        #[arg(long, short = 'n', default_value_t = 200)]
        lines: usize,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Add {
    /// A name for the server
    pub(crate) name: String,
    /// The server's address, or the command to start it with
    #[arg(required = true, trailing_var_arg = true, value_name = "URL | COMMAND")]
    pub(crate) target: Vec<String>,
    /// A variable for the command, as NAME=VALUE
    #[arg(long, short, value_name = "NAME=VALUE")]
    pub(crate) env: Vec<String>,
    /// A header for the address, as "Name: value"
    #[arg(long, short = 'H', value_name = "NAME: VALUE")]
    pub(crate) header: Vec<String>,
    /// How to talk to it; found out by default
    #[arg(long, short, value_enum)]
    pub(crate) transport: Option<TransportName>,
    /// The folder to start the command in
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Seconds that a call may take
    #[arg(long, value_name = "SECONDS")]
    pub(crate) timeout: Option<u64>,
    /// Replace a server of that name
    #[arg(long)]
    pub(crate) force: bool,
    /// Agree to what is dangerous about it without a question
    #[arg(long, short)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) place: Place,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum TransportName {
    /// A command
    Stdio,
    /// Streamable HTTP
    Http,
    /// The older HTTP+SSE
    Sse,
}

#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Place {
    /// Which file to change
    #[arg(long, short, value_enum, default_value_t = Scope::User)]
    pub(crate) scope: Scope,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scope {
    /// The user's file
    User,
    /// The project's file, `switchboard.json`
    Project,
}
