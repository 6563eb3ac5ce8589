//! What a person and a script are shown of servers that come or go.

use serde::Serialize;
use switchboard_dialects::{Entry, Note, Reach};
use switchboard_terminal::{CliError, finding_line, table};
use switchboard_text::{escape_line, redact};
use switchboard_vetting::Finding;

use crate::commands::consent;
use crate::commands::dialects::plan::{Action, Item};
use crate::commands::dialects::sources::{Source, Unreadable};
use crate::context::Context;

/// One server for scripts.
#[derive(Serialize)]
struct ShownItem<'a> {
    name: &'a str,
    from: &'static str,
    place: &'a str,
    scope: &'static str,
    how: String,
    action: &'static str,
    /// The name under which it is taken, or of the server that it is already.
    under: Option<&'a str>,
    reason: Option<&'a str>,
    findings: &'a [Finding],
    plain_secrets: &'a [String],
    notes: &'a [Note],
}

#[derive(Serialize)]
struct ShownPlan<'a> {
    servers: Vec<ShownItem<'a>>,
    left_out: Vec<&'a Note>,
    unreadable: Vec<ShownFile<'a>>,
    written: Option<String>,
}

#[derive(Serialize)]
struct ShownFile<'a> {
    place: &'a str,
    message: &'a str,
    hint: &'static str,
}

/// Prints everything as one document.
pub(super) fn as_json(
    context: &Context,
    items: &[Item],
    (sources, unreadable): (&[Source], &[Unreadable]),
    written: Option<String>,
) -> Result<(), CliError> {
    let servers = items.iter().filter_map(|item| {
        let source = sources.get(item.source)?;
        let (action, under, reason) = match &item.action {
            Action::Add(name) => ("add", Some(name.as_str()), None),
            Action::Duplicate(of) => ("duplicate", Some(of.as_str()), None),
            Action::Ourselves => ("ourselves", None, None),
            Action::Refuse(reason) => ("refuse", None, Some(reason.as_str())),
        };
        Some(ShownItem {
            name: &item.entry.name,
            from: source.dialect.id(),
            place: &source.place,
            scope: source.scope,
            how: how(&item.entry),
            action,
            under,
            reason,
            findings: &item.findings,
            plain_secrets: &item.plain_secrets,
            notes: &item.notes,
        })
    });
    let unreadable = unreadable.iter();
    let unreadable = unreadable.map(|file| ShownFile {
        place: &file.place,
        message: &file.message,
        hint: file.hint,
    });
    context.printer.json(&ShownPlan {
        servers: servers.collect(),
        left_out: sources.iter().flat_map(|source| &source.notes).collect(),
        unreadable: unreadable.collect(),
        written,
    })
}

/// Prints a table of what would happen, and beside it what there is to know.
pub(super) fn to_person(
    context: &Context,
    items: &[Item],
    (sources, unreadable): (&[Source], &[Unreadable]),
) -> Result<(), CliError> {
    let rows: Vec<[String; 5]> = items
        .iter()
        .filter_map(|item| {
            let source = sources.get(item.source)?;
            let what = match &item.action {
                Action::Add(name) if *name == item.entry.name => "take".to_owned(),
                Action::Add(name) => format!("take as `{name}`"),
                Action::Duplicate(of) => format!("there already as `{of}`"),
                Action::Ourselves => "leads to Switchboard itself".to_owned(),
                Action::Refuse(reason) => format!("cannot be taken: {reason}"),
            };
            let from = format!("{} ({})", source.dialect.title(), source.scope);
            Some([item.entry.name.clone(), what, from, how(&item.entry), source.place.clone()])
        })
        .collect();
    let heading = ["server", "what", "from", "how", "file"];
    context.printer.data(&table(context.printer.reader(), heading, &rows))?;
    for item in items.iter().filter(|item| matches!(item.action, Action::Add(_))) {
        about(context, item);
    }
    for source in sources {
        for note in &source.notes {
            context.printer.say(&escape_line(&format!("left out: {note} ({})", source.place)));
        }
    }
    for file in unreadable {
        let message = format!("`{}`: {}", file.place, file.message);
        context.printer.warn(&message, Some(file.hint));
    }
    Ok(())
}

/// What there is to know about a server that would be taken.
fn about(context: &Context, item: &Item) {
    let name = match &item.action {
        Action::Add(name) => name.as_str(),
        _ => item.entry.name.as_str(),
    };
    let say = |words: &str| context.printer.say(&escape_line(words));
    // Whole, since a table cuts what is long.
    say(&format!("`{name}`{} {}", reached(&item.entry), how(&item.entry)));
    for (key, _) in item.entry.named_values() {
        say(&format!("  with {key}"));
    }
    for note in &item.notes {
        say(&format!("note: {note}"));
    }
    for finding in &item.findings {
        context.printer.say(&format!("`{}`: {}", escape_line(name), finding_line(finding)));
    }
    if item.findings.iter().any(Finding::is_danger) {
        say(&format!("hint: it does not run before `switchboard servers approve {name}`"));
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
        say(&format!("note: `{name}`: `{key}` is a secret that everybody can read in the file"));
        say(&format!(
            "hint: `switchboard secrets set {variable} --server {name}`, then write \
             `${{keyring:{variable}}}` in its place"
        ));
    }
}

/// What a server that would be taken does besides, and what it needs.
pub(super) fn advice(item: &Item) -> Vec<String> {
    let name = match &item.action {
        Action::Add(name) => name.as_str(),
        _ => item.entry.name.as_str(),
    };
    let mut lines = Vec::new();
    if item.entry.is_of_any_folder() {
        lines.push(format!("note: `{name}` runs what the folder holds in which you work"));
    }
    if let Some(url) = item.entry.bridged() {
        let url = redact::text(&url.in_our_words()).into_owned();
        lines.push(format!(
            "hint: `{name}` only stands in for {url}, which can be reached without it"
        ));
    }
    lines.extend(item.entry.secrets().into_iter().map(|secret| {
        format!("hint: `{name}` needs a secret: `switchboard secrets set {secret} --server {name}`")
    }));
    lines
}

fn reached(entry: &Entry) -> &'static str {
    match entry.reach {
        Reach::Stdio { .. } => " runs:",
        Reach::Http { .. } => " is at:",
    }
}

/// How a server is reached, in one line and without secrets.
pub(super) fn how(entry: &Entry) -> String {
    let text = match &entry.reach {
        Reach::Stdio { command, args, .. } => {
            let words = std::iter::once(command).chain(args);
            let words: Vec<String> =
                words.map(|word| consent::quoted(&word.in_our_words())).collect();
            words.join(" ")
        }
        Reach::Http { url, .. } => {
            let url = url.in_our_words();
            url.split('?').next().unwrap_or_default().to_owned()
        }
    };
    redact::text(&text).into_owned()
}
