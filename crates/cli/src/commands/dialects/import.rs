//! `switchboard import`: copies servers of other products to the user's file.

use std::io::IsTerminal as _;
use std::path::Path;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use switchboard_config::{Places, Replace};
use switchboard_dialects::{ProductDialect, ServerEntry, read_ours};
use switchboard_terminal::{CliError, ask_line, exit_code, is_yes};
use switchboard_text::escape_line;

use crate::commands::dialects::plan::{ImportAction, ImportItem, plan};
use crate::commands::dialects::sources::{ImportSource, read_text};
use crate::commands::dialects::{shown, sources};
use crate::commands::servers::edit::{Scope, scope_file};
use crate::context::CommandContext;

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// Configuration file of another product, or an install link (default: all installed products)
    #[arg(value_name = "FILE | LINK")]
    pub(crate) source: Option<String>,
    /// Import only from this product
    #[arg(long, value_name = "PRODUCT", value_parser = products())]
    pub(crate) from: Option<ProductDialect>,
    /// Show what would be imported without writing it
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Skip the confirmation; dangerous servers still need `servers approve`
    #[arg(long, short)]
    pub(crate) yes: bool,
}

pub(crate) fn products() -> impl TypedValueParser<Value = ProductDialect> {
    let ids = PossibleValuesParser::new(ProductDialect::ALL.map(ProductDialect::id));
    ids.try_map(|id| ProductDialect::from_id(&id).ok_or("unknown product"))
}

/// Shows the servers found, asks for confirmation and writes them. Does not start any server.
pub(crate) async fn import(context: &CommandContext, import: &ImportArgs) -> Result<u8, CliError> {
    let file = scope_file(context, Scope::User)?;
    let (mut sources, unreadable) = match &import.source {
        Some(name) => (vec![sources::named_source(context, name, import.from)?], Vec::new()),
        None => sources::installed_sources(&context.environment, &context.places, import.from),
    };
    let there = own_entries(&context.places, &file)?;
    let mut items = plan(&file, &there, &mut sources);
    if import.yes && import.source.is_none() {
        leave_to_others(&sources, &mut items);
    }
    let count = items.iter().filter(|item| matches!(item.action, ImportAction::Add(_))).count();
    if !context.printer.json {
        shown::to_person(context, &items, &sources, &unreadable)?;
        if items.is_empty() {
            context.printer.say("no servers found");
        } else if count == 0 {
            context.printer.say("nothing to import");
        }
    }
    if import.dry_run || count == 0 {
        if context.printer.json {
            shown::as_json(context, &items, &sources, &unreadable, None)?;
        }
        return Ok(exit_code::OK);
    }
    if !import.yes {
        agree(context, &file, count).await?;
    }
    let failed = write_items(context, &file, &items);
    if context.printer.json {
        shown::as_json(context, &items, &sources, &unreadable, Some(file.display().to_string()))?;
    }
    Ok(if failed { exit_code::CONFIG } else { exit_code::OK })
}

fn leave_to_others(sources: &[ImportSource], items: &mut [ImportItem]) {
    // Other people wrote the files of a project, so `--yes` covers them only if the user names one.
    for item in items.iter_mut().filter(|item| matches!(item.action, ImportAction::Add(_))) {
        if let Some(source) = sources.get(item.source).filter(|source| source.scope == "project") {
            let reason = format!("from a project's file; to import it, name `{}`", source.place);
            item.action = ImportAction::Refuse(reason);
        }
    }
}

pub(super) fn own_entries(places: &Places, file: &Path) -> Result<Vec<ServerEntry>, CliError> {
    let mut entries = Vec::new();
    let project = places.project.as_deref().filter(|project| *project != file);
    for path in [Some(file), project].into_iter().flatten() {
        let wrong = |cause: String| {
            CliError::new(exit_code::CONFIG, format!("`{}` {cause}", path.display()))
        };
        let text = read_text(path).map_err(wrong)?.unwrap_or_default();
        match read_ours(&text) {
            Ok(read) => entries.extend(read.entries),
            // A broken project file must not block an import to the user's file.
            Err(cause) if path == file => {
                return Err(wrong(format!("cannot be read: {cause}")).with_hint(cause.hint()));
            }
            Err(_) => {}
        }
    }
    Ok(entries)
}

async fn agree(context: &CommandContext, file: &Path, count: usize) -> Result<(), CliError> {
    let refused = |message: &str| CliError::new(exit_code::NOT_ALLOWED, message);
    // With `--json`, no plan was shown that the user could agree to.
    if context.printer.json || !std::io::stdin().is_terminal() {
        return Err(refused("approval needed, but there is no terminal to ask on")
            .with_hint("review it with `--dry-run`, then pass `--yes`"));
    }
    let servers = if count == 1 { "this server" } else { "these servers" };
    let place = file.display().to_string();
    let question = format!("Import {servers} into {}? [y/N] ", escape_line(&place));
    match ask_line(&question).await {
        Some(said) if is_yes(said.trim()) => Ok(()),
        _ => Err(refused("you did not approve it")),
    }
}

/// Writes the servers to add and returns whether any failed; a failure does not stop the others.
fn write_items(context: &CommandContext, file: &Path, items: &[ImportItem]) -> bool {
    let mut failed = false;
    for item in items {
        let ImportAction::Add(name) = &item.action else { continue };
        match switchboard_config::add_server(file, name, &item.value, Replace::Refuse) {
            Ok(()) => {
                let line = format!("added `{name}` to {}", file.display());
                context.printer.say(&escape_line(&line));
            }
            Err(error) => {
                failed = true;
                context.printer.warn(&error.to_string(), error.hint.as_deref());
            }
        }
    }
    failed
}
