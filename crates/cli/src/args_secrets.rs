//! The command line of secrets.

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct Secrets {
    #[command(subcommand)]
    pub(crate) command: Option<SecretsCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SecretsCommand {
    /// List the names of secrets and whose they are, never their values
    #[command(visible_alias = "ls")]
    List,
    /// Keep a secret for a server, read from standard input or typed unseen
    Set(OfSecret),
    /// Forget a secret
    #[command(visible_alias = "rm")]
    Remove(OfSecret),
}

/// Which secret.
#[derive(Debug, Args)]
pub(crate) struct OfSecret {
    /// Its name, as in `${keyring:NAME}`
    pub(crate) name: String,
    /// The only server that gets it
    #[arg(long, short, value_name = "NAME")]
    pub(crate) server: String,
}
