//! The arguments of `hooks`.

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct Hooks {
    #[command(subcommand)]
    pub(crate) command: Option<HooksCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum HooksCommand {
    /// List the files of hooks and what is in them
    #[command(visible_alias = "ls")]
    List,
    /// Put a made-up call to every hook and show what each says; no tool is called
    Test(TestHooks),
    /// Agree to the project's hooks, as they stand there now
    Approve,
    /// Take back the agreement to the project's hooks
    Revoke,
}

#[derive(Debug, Args)]
pub(crate) struct TestHooks {
    /// The server of the made-up call
    #[arg(default_value = "example")]
    pub(crate) server: String,
    /// Its tool
    #[arg(default_value = "example")]
    pub(crate) tool: String,
    /// All arguments as one JSON object
    #[arg(long, value_name = "JSON", default_value = "{}")]
    pub(crate) json_args: String,
}
