//! The arguments of `generate`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct Generate {
    #[command(subcommand)]
    pub(crate) command: GenerateCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum GenerateCommand {
    /// A Rust module with a typed function for each tool, from its schemas
    Rust(GenerateRust),
}

#[derive(Debug, Args)]
pub(crate) struct GenerateRust {
    /// The server
    pub(crate) server: String,
    /// Only this tool (may be given several times)
    #[arg(long, short, value_name = "NAME")]
    pub(crate) tool: Vec<String>,
    /// Write it into this file; standard output otherwise
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}
