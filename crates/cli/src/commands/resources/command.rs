//! Lists and reads resources.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use switchboard_catalog::definition;
use switchboard_core::{Item, ProposedCall, Reply};
use switchboard_files::{IfExists, file_name_for};
use switchboard_host::Host;
use switchboard_terminal::{CliError, exit_code, table};
use switchboard_wire::list::ListedItem as Listed;

use crate::args::ServerArg;
use crate::commands::resources::watch;
use crate::commands::resources::watch::WatchResourceArgs;
use crate::commands::{call, outcome, tools};
use crate::context::CommandContext;
use crate::running::offers;
use crate::running::offers::InstanceItem;

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

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ResourcesArgs {
    #[command(subcommand)]
    pub(crate) command: Option<ResourcesCommand>,
    #[command(flatten)]
    pub(crate) list: ServerArg,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ResourcesCommand {
    /// List resources and templates
    #[command(visible_alias = "ls")]
    List(ServerArg),
    /// Read a resource
    Read {
        /// The server
        server: String,
        /// The resource's address
        uri: String,
        #[command(flatten)]
        to: Output,
    },
    /// Print each change of a resource, until interrupted
    Watch(WatchResourceArgs),
}

/// Runs `switchboard resources`.
pub(crate) async fn run(context: &CommandContext, args: ResourcesArgs) -> Result<u8, CliError> {
    match args.command.unwrap_or(ResourcesCommand::List(args.list)) {
        ResourcesCommand::List(of) => list(context, &of).await,
        ResourcesCommand::Read { server, uri, to } => read(context, &server, &uri, &to).await,
        ResourcesCommand::Watch(wanted) => watch::watch(context, &wanted).await,
    }
}

/// Lists resources and templates.
async fn list(context: &CommandContext, of: &ServerArg) -> Result<u8, CliError> {
    let running = offers::instance_items(context, of, "resources").await?;
    let offered: Vec<(String, String, Listed)> = match running {
        Some(all) => {
            let parts = |one: InstanceItem| (one.server.clone(), one.kind.clone(), one.item());
            all.into_iter().map(parts).collect()
        }
        None => {
            let host = tools::start(context, of).await?;
            let offered = own_resources(&host);
            host.stop().await;
            offered
        }
    };
    let mut rows = Vec::new();
    let mut all = Vec::new();
    for (server, kind, item) in offered {
        let about = definition(&item);
        let name = about.title.or(about.name).unwrap_or_default();
        let mime = about.mime_type.unwrap_or_default();
        let raw: Value = serde_json::from_str(item.raw.get()).unwrap_or_default();
        all.push(json!({"server": server, "kind": kind, "definition": raw}));
        rows.push([server, kind, item.key.to_string(), mime, name]);
    }
    let shown = if context.printer.json {
        context.printer.json(&all)
    } else {
        let heading = ["server", "kind", "address", "type", "name"];
        context.printer.data(&table(context.printer.reader(), heading, &rows))
    };
    shown.map(|()| exit_code::OK)
}

/// What the servers of a host of our own offer.
fn own_resources(host: &Host) -> Vec<(String, String, Listed)> {
    let lease = host.lease();
    let mut offered = Vec::new();
    for server in lease.catalog().servers() {
        let resources = server.offers.resources.iter().map(|item| (item, "resource"));
        let templates = server.offers.templates.iter().map(|item| (item, "template"));
        let both = resources.chain(templates);
        offered.extend(
            both.map(|(item, kind)| (server.id.to_string(), kind.to_owned(), item.clone())),
        );
    }
    offered
}

/// Reads a resource, to the terminal or to a file.
async fn read(
    context: &CommandContext,
    server: &str,
    uri: &str,
    to: &Output,
) -> Result<u8, CliError> {
    let proposed = ProposedCall::resource(server, uri);
    let named = to.download.then(|| PathBuf::from(file_name_for(uri)));
    let file = to.output.clone().or(named);
    let existing = if to.force { IfExists::Replace } else { IfExists::Keep };
    let target = proposed.target.clone();
    let how = call::CallSettings::person();
    let ended = call::run_anywhere(context, proposed, &how).await?;
    let text = ended.outcome.result.as_ref().map(|bytes| String::from_utf8_lossy(bytes));
    if let (Some(file), Some(text)) = (&file, &text)
        && let Ok(reply) = outcome::read(&target, text)
    {
        let roots = context.roots(&context.silent_config());
        let code = write(context, &reply, file, &roots, existing)?;
        if !context.printer.json {
            return Ok(code);
        }
    }
    call::show(context, &target, &ended, &how)
}

fn write(
    context: &CommandContext,
    reply: &Reply,
    file: &Path,
    roots: &[PathBuf],
    existing: IfExists,
) -> Result<u8, CliError> {
    let mut content = Vec::new();
    for item in &reply.items {
        match item {
            Item::Resource { blob: Some(blob), .. } => {
                content = outcome::decode_base64(blob)?;
                break;
            }
            Item::Resource { text: Some(part), .. } => content.extend_from_slice(part.as_bytes()),
            _ => {}
        }
    }
    let path = outcome::download(context, roots, file, &content, existing)?;
    context.printer.say(&format!("wrote {}", path.display()));
    Ok(exit_code::OK)
}
