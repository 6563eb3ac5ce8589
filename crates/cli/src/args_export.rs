//! The arguments of `export` and `connect`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use switchboard_dialects::{Dialect, Scope};

use crate::args_import::products;

#[derive(Debug, Args)]
pub(crate) struct Export {
    /// The product to write for
    #[arg(long, value_name = "PRODUCT", value_parser = products(), required_unless_present = "undo")]
    pub(crate) to: Option<Dialect>,
    /// Only these servers, with commas between
    #[arg(long, value_name = "NAMES", value_delimiter = ',', conflicts_with = "gateway")]
    pub(crate) servers: Vec<String>,
    /// One entry that leads to Switchboard, and so to all servers, instead of the servers
    #[arg(long)]
    pub(crate) gateway: bool,
    /// Print links that install the servers, and write nothing (Cursor and VS Code)
    #[arg(long, conflicts_with_all = ["undo", "file"])]
    pub(crate) link: bool,
    #[command(flatten)]
    pub(crate) how: HowToWrite,
}

#[derive(Debug, Args)]
pub(crate) struct Connect {
    /// The product to connect
    #[arg(value_name = "PRODUCT", value_parser = products(), required_unless_present = "undo")]
    pub(crate) product: Option<Dialect>,
    #[command(flatten)]
    pub(crate) how: HowToWrite,
}

/// Where and how to write.
#[derive(Debug, Args)]
pub(crate) struct HowToWrite {
    /// The gateway's address, where `serve` runs by itself; without it the product starts `serve --stdio`
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// This file instead of the product's usual one
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Whose file of the product to change
    #[arg(long, short, value_enum, default_value_t = Whose::User)]
    pub(crate) scope: Whose,
    /// Write nothing; say what would be different
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Put back what was there before the last time, if nobody has changed it since
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) undo: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Whose {
    /// The user's, for every project
    User,
    /// The one of the project in the current folder
    Project,
}

impl From<Whose> for Scope {
    fn from(whose: Whose) -> Self {
        match whose {
            Whose::User => Self::User,
            Whose::Project => Self::Project,
        }
    }
}
