//! Writes the configured servers, or an entry for the gateway, to a file of another product.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde::Serialize;
use switchboard_dialects::{
    FileScope, FileSection, Location, Note, NoteWeight, ProductDialect, ServerEntry, WrittenFile,
    cursor_link, vscode_link,
};
use switchboard_terminal::{CliError, exit_code};
use switchboard_text::{escape_line, redact_text};

use crate::commands::dialects::changed_file::{FileEdit, resolve_link, undo, write};
use crate::commands::dialects::fleet;
use crate::commands::dialects::import::products;
use crate::commands::dialects::plan::plain_secrets;
use crate::commands::dialects::sources::{read_text, user_folders};
use crate::context::CommandContext;

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Product to write the configuration for
    #[arg(long, value_name = "PRODUCT", value_parser = products(), required_unless_present = "undo")]
    pub(crate) to: Option<ProductDialect>,
    /// Export only these servers, comma-separated
    #[arg(long, value_name = "NAMES", value_delimiter = ',', conflicts_with = "gateway")]
    pub(crate) servers: Vec<String>,
    /// Write one entry for Switchboard instead of the servers
    #[arg(long)]
    pub(crate) gateway: bool,
    /// Print install links instead of writing a file (Cursor and VS Code)
    #[arg(long, conflicts_with_all = ["undo", "file"])]
    pub(crate) link: bool,
    #[command(flatten)]
    pub(crate) how: WriteArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ConnectArgs {
    /// Product to connect to Switchboard
    #[arg(value_name = "PRODUCT", value_parser = products(), required_unless_present = "undo")]
    pub(crate) product: Option<ProductDialect>,
    #[command(flatten)]
    pub(crate) how: WriteArgs,
}

/// Options for the file to write.
#[derive(Debug, Args)]
pub(crate) struct WriteArgs {
    /// URL of a running gateway (default: the product starts `serve --stdio`)
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// File to write instead of the product's usual one
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Configuration file of the product to change
    #[arg(long, short, value_enum, default_value_t = FileOwner::User)]
    pub(crate) scope: FileOwner,
    /// Show the changes without writing them
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Restore the file from before the last export, unless it has changed since
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) undo: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FileOwner {
    /// The user's file, for all projects
    User,
    /// The file of the project in the current folder
    Project,
}

impl From<FileOwner> for FileScope {
    fn from(whose: FileOwner) -> Self {
        match whose {
            FileOwner::User => Self::User,
            FileOwner::Project => Self::Project,
        }
    }
}

#[derive(Serialize)]
struct ExportOutput<'a> {
    product: &'static str,
    file: String,
    changed: bool,
    written: bool,
    backup: Option<String>,
    /// Each server with its name in the product; `None` if the product cannot express it.
    servers: Vec<(&'a str, Option<&'a str>)>,
    notes: &'a [Note],
}

pub(crate) fn export(context: &CommandContext, export: &ExportArgs) -> Result<u8, CliError> {
    let Some(dialect) = export.to.filter(|_| !export.how.undo) else {
        return undo(context, export.to);
    };
    if export.how.url.is_some() && !export.gateway {
        return Err(CliError::usage("`--url` requires `--gateway`"));
    }
    let link = export.link.then(|| link_maker(dialect)).transpose()?;
    let entries = match export.gateway {
        true => vec![fleet::gateway(context, export.how.url.as_deref())?],
        false => fleet::servers(context, &export.servers)?,
    };
    match link {
        Some(link) => links(context, dialect, link, &entries),
        None => into_file(context, dialect, &entries, &export.how),
    }
}

pub(crate) fn connect(context: &CommandContext, connect: &ConnectArgs) -> Result<u8, CliError> {
    let Some(dialect) = connect.product.filter(|_| !connect.how.undo) else {
        return undo(context, connect.product);
    };
    let entry = fleet::gateway(context, connect.how.url.as_deref())?;
    into_file(context, dialect, &[entry], &connect.how)
}

fn into_file(
    context: &CommandContext,
    dialect: ProductDialect,
    entries: &[ServerEntry],
    how: &WriteArgs,
) -> Result<u8, CliError> {
    let location = location(context, dialect, how)?;
    let path = &location.file;
    let shown = path.display().to_string();
    let wrong = |message: String| CliError::new(exit_code::CONFIG, message);
    let before = read_text(path).map_err(|cause| wrong(format!("`{shown}` {cause}")))?;
    let text = before.as_deref().unwrap_or_default();
    let written = dialect.write(text, &location.section, entries).map_err(|cause| {
        wrong(format!("`{shown}` cannot be changed: {cause}")).with_hint(cause.hint())
    })?;
    report_notes(context, dialect, &written.notes);
    // An entry that is left out is only noted, but an export without any entry is a mistake.
    if !entries.is_empty() && written.names.iter().all(Option::is_none) {
        let message = format!("{} supports none of these servers", dialect.title());
        return Err(wrong(message));
    }
    let target = resolve_link(path);
    // The target of a dangling link is unknown, and replacing the link itself would break a
    // dotfiles setup.
    if path.is_symlink() && !path.exists() {
        return Err(wrong(format!("`{shown}` is a dangling symbolic link")));
    }
    if path.is_symlink() {
        let line = format!("{shown} is a symbolic link to {}", target.display());
        context.printer.say(&escape_line(&line));
    }
    warn_of_secrets(context, entries, how.scope.into());
    if before.is_none() && path.parent().is_some_and(|folder| !folder.exists()) {
        let line = format!("{} does not seem to be installed here", dialect.title());
        context.printer.say(&escape_line(&line));
    }
    let changed = before.as_deref() != Some(written.text.as_str());
    let mut backup = None;
    if !changed {
        context.printer.say(&escape_line(&format!("{shown} is up to date")));
    } else if how.dry_run {
        show_difference(context, text, &written.text)?;
    } else {
        let before = before.as_deref();
        let edit = FileEdit { product: dialect.id(), path, before, after: &written.text };
        backup = write(context, edit)?;
        report_written(context, dialect, &shown, backup.as_ref(), &written);
    }
    if context.printer.json {
        let servers = entries.iter().map(|entry| entry.name.as_str());
        context.printer.json(&ExportOutput {
            product: dialect.id(),
            file: target.display().to_string(),
            changed,
            written: changed && !how.dry_run,
            backup: backup.map(|backup| backup.display().to_string()),
            servers: servers.zip(written.names.iter().map(Option::as_deref)).collect(),
            notes: &written.notes,
        })?;
    }
    Ok(exit_code::OK)
}

/// Warns of plain-text secrets in a project's file, which all contributors can read.
fn warn_of_secrets(context: &CommandContext, entries: &[ServerEntry], scope: FileScope) {
    for entry in entries.iter().filter(|_| scope == FileScope::Project) {
        for key in plain_secrets(entry) {
            let message = format!("`{key}` of `{}` is a plain-text secret", entry.name);
            context.printer.warn(&message, Some("others can read this file; use a variable"));
        }
    }
}

/// Returns the file to change: the one named by `--file`, or the product's first existing one.
fn location(
    context: &CommandContext,
    dialect: ProductDialect,
    how: &WriteArgs,
) -> Result<Location, CliError> {
    let scope = how.scope.into();
    if let Some(file) = &how.file {
        let file = context.environment.current_dir.join(file);
        return Ok(Location { scope, file, section: FileSection::Top });
    }
    let all = user_folders(&context.environment, &context.places)
        .into_iter()
        .flat_map(|around| dialect.locations(&around));
    let fitting: Vec<Location> = all
        .filter(|location| location.scope == scope && location.section == FileSection::Top)
        .collect();
    let there = fitting.iter().find(|location| location.file.exists());
    there.or(fitting.first()).cloned().ok_or_else(|| {
        let whose = if scope == FileScope::User { "user" } else { "project" };
        let message = format!("{} has no configuration file for a {whose} here", dialect.title());
        CliError::usage(message).with_hint("name one with `--file`")
    })
}

fn links(
    context: &CommandContext,
    dialect: ProductDialect,
    link: MakeLink,
    entries: &[ServerEntry],
) -> Result<u8, CliError> {
    let mut made = Vec::new();
    for entry in entries {
        let (link, notes) = link(entry);
        report_notes(context, dialect, &notes);
        made.extend(link);
    }
    match context.printer.json {
        true => context.printer.json(&made)?,
        false => context.printer.data(&made.join("\n"))?,
    }
    Ok(exit_code::OK)
}

type MakeLink = fn(&ServerEntry) -> (Option<String>, Vec<Note>);

fn link_maker(dialect: ProductDialect) -> Result<MakeLink, CliError> {
    match dialect {
        ProductDialect::Cursor => Ok(cursor_link),
        ProductDialect::Vscode => Ok(vscode_link),
        other => {
            let message = format!("{} has no install links", other.title());
            Err(CliError::usage(message).with_hint("install links exist for `cursor` and `vscode`"))
        }
    }
}

fn report_notes(context: &CommandContext, dialect: ProductDialect, notes: &[Note]) {
    for note in notes {
        let kind = match note.weight {
            NoteWeight::Changed => "changed",
            NoteWeight::Lost => "lost",
            NoteWeight::LeftOut => "left out",
        };
        context.printer.say(&escape_line(&format!("{kind} for {}: {note}", dialect.title())));
    }
}

fn report_written(
    context: &CommandContext,
    dialect: ProductDialect,
    shown: &str,
    backup: Option<&PathBuf>,
    written: &WrittenFile,
) {
    let names: Vec<String> =
        written.names.iter().flatten().map(|name| format!("`{name}`")).collect();
    let say = |line: String| context.printer.say(&escape_line(&line));
    say(format!("wrote {} to {shown}", names.join(", ")));
    if let Some(backup) = backup {
        say(format!("the previous content is in {}", backup.display()));
    }
    say(format!("hint: `switchboard export --undo --to {}` reverts this", dialect.id()));
}

/// Prints the lines that would change, with secrets redacted.
fn show_difference(context: &CommandContext, before: &str, after: &str) -> Result<(), CliError> {
    let old: Vec<&str> = before.lines().collect();
    let new: Vec<&str> = after.lines().collect();
    let same = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let rest = |lines: &[&str]| lines.len().saturating_sub(same);
    let backwards = old.iter().rev().zip(new.iter().rev());
    let end = backwards.take_while(|(old, new)| old == new).count();
    let end = end.min(rest(&old)).min(rest(&new));
    let part = |lines: &[&str], sign: &str| -> String {
        let changed = lines.iter().skip(same).take(rest(lines).saturating_sub(end));
        changed.map(|line| format!("{sign} {}\n", escape_line(&redact_text(line)))).collect()
    };
    if context.printer.json {
        return Ok(());
    }
    context.printer.data(&format!("{}{}", part(&old, "-"), part(&new, "+")))
}
