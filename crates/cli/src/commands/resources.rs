//! `switchboard resources`: lists, reads and watches resources.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use switchboard_catalog::definition;
use switchboard_core::{Caller, EventKind, Item, ProposedCall, Reply};
use switchboard_files::{IfExists, file_name_for};
use switchboard_host::Host;
use switchboard_terminal::{CliError, exit_code};
use switchboard_text::escape_line;
use switchboard_views::{CatalogItem, ItemList};
use tokio::sync::broadcast::error::RecvError;

use crate::args::ServerArg;
use crate::commands::{call, outcome, tools};
use crate::context::CommandContext;
use crate::running;

/// Options for the destination of the content.
#[derive(Debug, Args)]
pub(crate) struct Output {
    /// Write the content to this file, below the current folder or a `--root`
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Write the content to a file named after the URI
    #[arg(long, conflicts_with = "output")]
    pub(crate) download: bool,
    /// Overwrite an existing file
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
    /// List resources and resource templates
    #[command(visible_alias = "ls")]
    List(ServerArg),
    /// Read a resource and print its content
    Read {
        /// Name of the server
        server: String,
        /// URI of the resource
        uri: String,
        #[command(flatten)]
        to: Output,
    },
    /// Print every change of a resource until interrupted
    Watch(WatchResourceArgs),
}

pub(crate) async fn run(context: &CommandContext, args: ResourcesArgs) -> Result<u8, CliError> {
    match args.command.unwrap_or(ResourcesCommand::List(args.list)) {
        ResourcesCommand::List(of) => list(context, &of).await,
        ResourcesCommand::Read { server, uri, to } => read(context, &server, &uri, &to).await,
        ResourcesCommand::Watch(wanted) => watch(context, &wanted).await,
    }
}

async fn list(context: &CommandContext, of: &ServerArg) -> Result<u8, CliError> {
    let all = running::items(context, of, ItemList::Resources).await?;
    let json = |one: &CatalogItem| json!({"server": one.server, "kind": one.kind, "definition": one.definition});
    let heading = ["server", "kind", "address", "type", "name"];
    let shown = context.printer.list(&all, json, heading, |one| {
        let item = one.item();
        let about = definition(&item);
        let name = about.title.or(about.name).unwrap_or_default();
        let mime = about.mime_type.unwrap_or_default();
        [one.server.clone(), one.kind.clone(), one.key.clone(), mime, name]
    });
    shown.map(|()| exit_code::OK)
}

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
        // The name may be derived from a server's URI, so the file is confined to the roots.
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
                // A blob is the whole content; text may come in several parts.
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

#[derive(Debug, Args)]
pub(crate) struct WatchResourceArgs {
    /// Name of the server
    pub(crate) server: String,
    /// URI of the resource
    pub(crate) uri: String,
    /// Read the resource at each change and print its content
    #[arg(long)]
    pub(crate) read: bool,
}

async fn watch(context: &CommandContext, wanted: &WatchResourceArgs) -> Result<u8, CliError> {
    let only = ServerArg { server: Some(wanted.server.clone()) };
    let host = tools::start(context, &only).await?;
    // Before the subscription, so that its confirmation is not missed.
    let mut events = host.events().watch();
    let watching = async {
        let _subscription = host
            .subscribe(&wanted.server, &wanted.uri)
            .map_err(|error| CliError::new(exit_code::NOT_RUN, error.to_string()))?;
        loop {
            match events.recv().await {
                Ok(event) => handle_event(context, &host, wanted, event.what).await?,
                Err(RecvError::Lagged(missed)) => {
                    context.printer.say(&format!("{missed} events were missed"));
                }
                Err(RecvError::Closed) => return Ok(()),
            }
        }
    };
    let ended = context.watch(watching).await;
    host.stop().await;
    ended
}

async fn handle_event(
    context: &CommandContext,
    host: &Host,
    wanted: &WatchResourceArgs,
    what: EventKind,
) -> Result<(), CliError> {
    match what {
        EventKind::ResourceSubscribed { server, uri, problem } if server == wanted.server => {
            let uri = escape_line(&uri);
            match problem {
                None => context.printer.say(&format!("watching {uri} of {server}")),
                Some(why) => {
                    let why = format!("cannot watch `{uri}` of `{server}`: {}", escape_line(&why));
                    return Err(CliError::new(exit_code::NOT_RUN, why));
                }
            }
            Ok(())
        }
        EventKind::ResourceUpdated { server, uri } if server == wanted.server => {
            if wanted.read {
                show_content(context, host, &server, &uri).await
            } else if context.printer.json {
                let line = json!({"event": "resource_updated", "server": server, "uri": uri});
                context.printer.data(&line.to_string())
            } else {
                context.printer.data(&escape_line(&uri))
            }
        }
        _ => Ok(()),
    }
}

async fn show_content(
    context: &CommandContext,
    host: &Host,
    server: &str,
    uri: &str,
) -> Result<(), CliError> {
    let proposed = ProposedCall::resource(server, uri);
    if !context.printer.json {
        // A failed read does not end the watch: the next one may succeed.
        return call::execute(context, host, proposed, call::CallSettings::person())
            .await
            .map(|_| ());
    }
    let record = host.call(&host.lease(), proposed, &Caller::person()).await;
    let result = record.outcome.result.as_ref();
    let result: Value =
        result.and_then(|bytes| serde_json::from_slice(bytes).ok()).unwrap_or_default();
    let line = json!({
        "event": "resource_updated",
        "server": server,
        "uri": uri,
        "outcome": record.outcome.kind.as_str(),
        "message": record.outcome.message,
        "result": result,
    });
    context.printer.data(&line.to_string())
}
