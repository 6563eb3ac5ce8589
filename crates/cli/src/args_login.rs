//! The command line of logins.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Login {
    /// The server
    pub(crate) server: String,
    /// Do not open a browser: show the address, and take the answer's address from standard input
    #[arg(long)]
    pub(crate) no_browser: bool,
    /// Ask for this scope as well (may be given several times)
    #[arg(long, value_name = "SCOPE")]
    pub(crate) scope: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Logout {
    /// The server
    #[arg(required_unless_present = "all")]
    pub(crate) server: Option<String>,
    /// End all logins and forget them, also those that cannot be read
    #[arg(long, conflicts_with = "server")]
    pub(crate) all: bool,
}
