//! The command line of what looks at offers more closely: watching resources, completing arguments.

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
