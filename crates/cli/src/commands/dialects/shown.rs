//! Output of imports and exports, as text and as JSON.

use serde::Serialize;
use switchboard_dialects::{EntryTransport, Note, ServerEntry};
use switchboard_terminal::{CliError, finding_line};
use switchboard_text::{escape_line, redact_text};
use switchboard_vetting::EntryFinding;

use crate::commands::consent;
use crate::commands::dialects::plan::{ImportAction, ImportItem};
use crate::commands::dialects::sources::{ImportSource, UnreadableFile};
use crate::context::CommandContext;

#[derive(Serialize)]
struct ImportItemOutput<'a> {
    name: &'a str,
    from: &'static str,
    place: &'a str,
    scope: &'static str,
    how: String,
    action: &'static str,
    /// The name to add it under, or the name of the server that it duplicates.
    under: Option<&'a str>,
    reason: Option<&'a str>,
    findings: &'a [EntryFinding],
    plain_secrets: &'a [String],
    notes: &'a [Note],
}

#[derive(Serialize)]
struct ImportPlanOutput<'a> {
    servers: Vec<ImportItemOutput<'a>>,
    left_out: Vec<&'a Note>,
    unreadable: Vec<UnreadFileOutput<'a>>,
    written: Option<String>,
}

#[derive(Serialize)]
struct UnreadFileOutput<'a> {
    place: &'a str,
    message: &'a str,
    hint: &'static str,
}

pub(super) fn as_json(
    context: &CommandContext,
    items: &[ImportItem],
    sources: &[ImportSource],
    unreadable: &[UnreadableFile],
    written: Option<String>,
) -> Result<(), CliError> {
    let servers = items.iter().filter_map(|item| {
        let source = sources.get(item.source)?;
        let (action, under, reason) = match &item.action {
            ImportAction::Add(name) => ("add", Some(name.as_str()), None),
            ImportAction::Duplicate(of) => ("duplicate", Some(of.as_str()), None),
            ImportAction::Ourselves => ("ourselves", None, None),
            ImportAction::Refuse(reason) => ("refuse", None, Some(reason.as_str())),
        };
        Some(ImportItemOutput {
            name: &item.entry.name,
            from: source.dialect.id(),
            place: &source.place,
            scope: source.scope,
            how: launch_text(&item.entry),
            action,
            under,
            reason,
            findings: &item.findings,
            plain_secrets: &item.plain_secrets,
            notes: &item.notes,
        })
    });
    let unreadable = unreadable.iter();
    let unreadable = unreadable.map(|file| UnreadFileOutput {
        place: &file.place,
        message: &file.message,
        hint: file.hint,
    });
    context.printer.json(&ImportPlanOutput {
        servers: servers.collect(),
        left_out: sources.iter().flat_map(|source| &source.notes).collect(),
        unreadable: unreadable.collect(),
        written,
    })
}

pub(super) fn to_person(
    context: &CommandContext,
    items: &[ImportItem],
    sources: &[ImportSource],
    unreadable: &[UnreadableFile],
) -> Result<(), CliError> {
    let rows: Vec<[String; 5]> = items
        .iter()
        .filter_map(|item| {
            let source = sources.get(item.source)?;
            let what = match &item.action {
                ImportAction::Add(name) if *name == item.entry.name => "import".to_owned(),
                ImportAction::Add(name) => format!("import as `{name}`"),
                ImportAction::Duplicate(of) => format!("already configured as `{of}`"),
                ImportAction::Ourselves => "points at Switchboard itself".to_owned(),
                ImportAction::Refuse(reason) => format!("cannot be imported: {reason}"),
            };
            let from = format!("{} ({})", source.dialect.title(), source.scope);
            Some([
                item.entry.name.clone(),
                what,
                from,
                launch_text(&item.entry),
                source.place.clone(),
            ])
        })
        .collect();
    context.printer.table(["server", "what", "from", "how", "file"], &rows)?;
    for item in items.iter().filter(|item| matches!(item.action, ImportAction::Add(_))) {
        about(context, item);
    }
    for source in sources {
        for note in &source.notes {
            context.printer.say(&escape_line(&format!("left out: {note} ({})", source.place)));
        }
    }
    // One broken file must not hide the servers of the others.
    for file in unreadable {
        let message = format!("`{}`: {}", file.place, file.message);
        context.printer.warn(&message, Some(file.hint));
    }
    Ok(())
}

fn about(context: &CommandContext, item: &ImportItem) {
    let name = match &item.action {
        ImportAction::Add(name) => name.as_str(),
        _ => item.entry.name.as_str(),
    };
    let say = |words: &str| context.printer.say(&escape_line(words));
    // Print the full command: the table truncates long values.
    say(&format!("`{name}`{} {}", transport_word(&item.entry), launch_text(&item.entry)));
    for (key, _) in item.entry.named_values() {
        say(&format!("  with {key}"));
    }
    for note in &item.notes {
        say(&format!("note: {note}"));
    }
    for finding in &item.findings {
        context.printer.say(&format!("`{}`: {}", escape_line(name), finding_line(finding)));
    }
    if item.findings.iter().any(EntryFinding::is_danger) {
        say(&format!("hint: it does not start until you run `switchboard servers approve {name}`"));
    }
    for line in advice(item) {
        say(&line);
    }
    for key in &item.plain_secrets {
        let variable = key.split_once('.').map_or(key.as_str(), |(_, variable)| variable);
        let variable: String = variable
            .chars()
            .map(|one| if one.is_ascii_alphanumeric() { one } else { '_' })
            .collect();
        say(&format!("note: `{name}`: `{key}` is a plain-text secret"));
        say(&format!(
            "hint: run `switchboard secrets set {variable} --server {name}`, then replace the \
             value with `${{keyring:{variable}}}`"
        ));
    }
}

pub(super) fn advice(item: &ImportItem) -> Vec<String> {
    let name = match &item.action {
        ImportAction::Add(name) => name.as_str(),
        _ => item.entry.name.as_str(),
    };
    let mut lines = Vec::new();
    if item.entry.depends_on_folder() {
        lines.push(format!("note: `{name}` runs files from your working folder"));
    }
    if let Some(url) = item.entry.bridged_address() {
        let url = redact_text(&url.to_own_syntax()).into_owned();
        lines.push(format!("hint: `{name}` is a bridge to {url}, which can be reached directly"));
    }
    lines.extend(item.entry.secrets().into_iter().map(|secret| {
        format!("hint: `{name}` needs a secret: `switchboard secrets set {secret} --server {name}`")
    }));
    lines
}

fn transport_word(entry: &ServerEntry) -> &'static str {
    match entry.reach {
        EntryTransport::Stdio { .. } => " runs:",
        EntryTransport::Http { .. } => " is at:",
    }
}

/// Returns the command line or the URL of a server in one line, with secrets redacted.
pub(super) fn launch_text(entry: &ServerEntry) -> String {
    let text = match &entry.reach {
        EntryTransport::Stdio { command, args, .. } => {
            let words = std::iter::once(command).chain(args);
            let words: Vec<String> =
                words.map(|word| consent::quote_word(&word.to_own_syntax())).collect();
            words.join(" ")
        }
        EntryTransport::Http { url, .. } => {
            let url = url.to_own_syntax();
            url.split('?').next().unwrap_or_default().to_owned()
        }
    };
    redact_text(&text).into_owned()
}
