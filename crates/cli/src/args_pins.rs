//! The arguments of `pins`.

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Pins {
    #[command(subcommand)]
    pub(crate) command: Option<PinsCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PinsCommand {
    /// List definitions, those that are held first
    #[command(visible_alias = "ls")]
    List(Which),
    /// Show what is different about definitions that are held
    Diff(Which),
    /// Show what was found in definitions, with all that they say
    Show {
        /// A server with all that it offers, or one definition
        #[arg(value_name = "SERVER[/NAME]")]
        which: String,
    },
    /// Stand by held definitions from now on, exactly as they are shown
    Approve {
        /// A server with all that is held of it, or one definition
        #[arg(value_name = "SERVER[/NAME]")]
        which: String,
        /// Also by those in which the scanner found an attack
        #[arg(long)]
        despite_findings: bool,
    },
    /// Take approvals back: the definitions are held again
    Revoke {
        /// A server with all that it offers, or one definition
        #[arg(value_name = "SERVER[/NAME]")]
        which: String,
    },
}

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Which {
    /// Only of this server, or only this definition
    #[arg(value_name = "SERVER[/NAME]")]
    pub(crate) which: Option<String>,
    /// Only what is held
    #[arg(long)]
    pub(crate) held: bool,
}
