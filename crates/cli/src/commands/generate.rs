//! `switchboard generate`: writes typed functions for the tools of a server.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use switchboard_catalog::{Lease, ServerStatus};
use switchboard_generate::{ToolSpec, rust};
use switchboard_host::Host;
use switchboard_terminal::{CliError, exit_code, pluralize};

use crate::args::ServerArg;
use crate::commands::tools;
use crate::context::CommandContext;

#[derive(Debug, Args)]
pub(crate) struct GenerateArgs {
    #[command(subcommand)]
    pub(crate) command: GenerateCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum GenerateCommand {
    /// Generate a Rust module with a typed function for each tool
    Rust(GenerateRustArgs),
}

#[derive(Debug, Args)]
pub(crate) struct GenerateRustArgs {
    /// Name of the server
    pub(crate) server: String,
    /// Generate a function for this tool only (can be repeated)
    #[arg(long, short, value_name = "NAME")]
    pub(crate) tool: Vec<String>,
    /// File to write instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

pub(crate) async fn run(context: &CommandContext, args: &GenerateArgs) -> Result<u8, CliError> {
    let GenerateCommand::Rust(wanted) = &args.command;
    let host = tools::start(context, &ServerArg { server: Some(wanted.server.clone()) }).await?;
    let found = wanted_tools(&host, wanted);
    host.stop().await;
    // The servers stop even if a name is wrong; only then is the error reported.
    let found = found?;
    let module = rust(&wanted.server, &found);
    if let Some(file) = &wanted.out {
        write(file, &module)?;
    }
    let names: Vec<&str> = found.iter().map(|tool| tool.name.as_str()).collect();
    match (&wanted.out, context.printer.json) {
        (Some(file), true) => {
            let told = json!({"server": wanted.server, "tools": names, "file": file});
            context.printer.json(&told)?;
        }
        (None, true) => {
            let told = json!({"server": wanted.server, "tools": names, "module": module});
            context.printer.json(&told)?;
        }
        (Some(file), false) => {
            let count = pluralize(found.len(), "function");
            context.printer.say(&format!("wrote {count} to {}", file.display()));
        }
        (None, false) => context.printer.data(&module)?,
    }
    Ok(exit_code::OK)
}

/// Returns the requested tools in the server's order, without quarantined ones.
fn wanted_tools(host: &Host, wanted: &GenerateRustArgs) -> Result<Vec<ToolSpec>, CliError> {
    let server = &wanted.server;
    let fleet = host.fleet().load();
    let ready =
        fleet.servers.get(server.as_str()).is_some_and(|it| it.status == ServerStatus::Ready);
    // An empty module would compile and only fail where its functions are used.
    if !ready {
        return Err(CliError::new(exit_code::NOT_RUN, format!("server `{server}` is not ready"))
            .with_hint(format!("`switchboard doctor {server}` shows details")));
    }
    let all = server_tools(&host.lease(), server);
    for name in &wanted.tool {
        if !all.iter().any(|tool| tool.name == *name) {
            let names = all.iter().map(|tool| tool.name.as_str());
            return Err(tools::unknown_tool(server, name, names));
        }
    }
    let is_wanted = |tool: &ToolSpec| wanted.tool.is_empty() || wanted.tool.contains(&tool.name);
    Ok(all.into_iter().filter(is_wanted).collect())
}

fn server_tools(lease: &Lease, server: &str) -> Vec<ToolSpec> {
    let entries = lease.catalog().tools().filter(|entry| entry.server.id.as_str() == server);
    let value = |raw: &RawValue| serde_json::from_str::<Value>(raw.get()).ok();
    entries
        .map(|entry| {
            let definition = entry.tool.definition();
            ToolSpec {
                name: entry.tool.name().to_owned(),
                input: definition.input_schema.and_then(value).unwrap_or_default(),
                output: definition.output_schema.and_then(value),
                description: definition.description.or(definition.title),
            }
        })
        .collect()
}

fn write(file: &Path, module: &str) -> Result<(), CliError> {
    std::fs::write(file, module).map_err(|error| {
        let message = format!("cannot write `{}`: {error}", file.display());
        CliError::new(exit_code::TROUBLE, message)
    })
}
