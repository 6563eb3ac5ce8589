//! The command line of what looks at offers more closely: watching resources, completing arguments.

use std::path::PathBuf;

use clap::Args;

/// Watching a resource.
#[derive(Debug, Args)]
pub(crate) struct WatchResource {
    /// The server
    pub(crate) server: String,
    /// The resource's address
    pub(crate) uri: String,
    /// Read the resource at each change and print what is new
    #[arg(long)]
    pub(crate) read: bool,
}

/// Completing an argument.
#[derive(Debug, Args)]
pub(crate) struct Complete {
    /// The server
    pub(crate) server: String,
    /// A prompt, or a template of resources such as `file:///{path}`
    pub(crate) name: String,
    /// The argument and what is written of its value, as NAME=VALUE
    #[arg(value_name = "NAME=VALUE")]
    pub(crate) argument: String,
    /// The value of another argument, as NAME=VALUE (may be given several times)
    #[arg(long, short, value_name = "NAME=VALUE")]
    pub(crate) given: Vec<String>,
}

/// Where the content of a resource goes.
#[derive(Debug, Args)]
pub(crate) struct Output {
    /// Write the content to this file, below the current folder or a `--root`
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Write the content to a file with a name made of the address
    #[arg(long, conflicts_with = "output")]
    pub(crate) download: bool,
    /// Replace a file that is there
    #[arg(long)]
    pub(crate) force: bool,
}
