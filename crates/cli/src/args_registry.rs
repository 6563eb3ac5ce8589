//! The arguments of `registry`, `add` and `bundle`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::args_servers::Place;

#[derive(Debug, Args)]
pub(crate) struct RegistryArguments {
    #[command(subcommand)]
    pub(crate) command: RegistryCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RegistryCommand {
    /// Find servers by words in their name, title or description
    Search {
        /// The words
        #[arg(required = true)]
        words: Vec<String>,
        /// At most so many
        #[arg(long, short = 'n', default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=1_000))]
        limit: u16,
        #[command(flatten)]
        of: OfRegistry,
    },
    /// Show a server, its versions, and what adding it would run
    #[command(disable_version_flag = true)]
    Show {
        /// Its name, such as `io.github.owner/server`
        name: String,
        /// This version instead of the newest
        #[arg(long, value_name = "VERSION")]
        version: Option<String>,
        #[command(flatten)]
        of: OfRegistry,
    },
    /// List the servers that are known for the domain of a web address
    Known {
        /// Only the one for this address
        url: Option<String>,
    },
}

/// Which registry.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct OfRegistry {
    /// The registry to ask, in place of those of the settings
    #[arg(long, value_name = "URL")]
    pub(crate) registry: Option<String>,
}

/// What to add, and how.
#[derive(Debug, Args)]
pub(crate) struct AddArguments {
    /// A name in the registry such as `io.github.owner/server`, a bundle `FILE.mcpb`, or a known server
    #[arg(value_name = "NAME | FILE")]
    pub(crate) what: String,
    /// The name for the entry; the last part of its own name by default
    #[arg(long = "as", value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// This version instead of the newest
    #[arg(long, value_name = "VERSION")]
    pub(crate) version: Option<String>,
    /// Run its package of this kind: `npm`, `pypi`, `oci`, `nuget` or `mcpb`
    #[arg(long, value_name = "KIND", conflicts_with = "remote")]
    pub(crate) package: Option<String>,
    /// Use the server where it runs already
    #[arg(long)]
    pub(crate) remote: bool,
    /// An answer to something that it asks for; `NAME=@FILE` reads it from a file (may be given several times)
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
    /// The SHA-256 that the bundle must have
    #[arg(long, value_name = "HEX")]
    pub(crate) digest: Option<String>,
    /// Add it without a question; what is dangerous about it is asked all the same
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Show what would be added, and add nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Replace a server of that name
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) of: OfRegistry,
    #[command(flatten)]
    pub(crate) place: Place,
}

#[derive(Debug, Args)]
pub(crate) struct BundleArguments {
    #[command(subcommand)]
    pub(crate) command: BundleCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BundleCommand {
    /// Show what a bundle holds and would run, without unpacking it
    Show {
        /// The file, `.mcpb` or `.dxt`
        file: PathBuf,
        /// The SHA-256 that it must have
        #[arg(long, value_name = "HEX")]
        digest: Option<String>,
    },
}
