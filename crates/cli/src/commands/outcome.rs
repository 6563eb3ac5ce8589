//! How a call ended, shown to a person or a program.

use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::Serialize;
use serde_json::value::RawValue;
use switchboard_host::format::{Item, Reply, escape, for_person, shorten};
use switchboard_host::{OutcomeKind, Record, Target, TargetKind};

use crate::context::Context;
use crate::error::CliError;
use crate::exit_code;

#[derive(Serialize)]
struct Shown<'a> {
    id: Option<String>,
    server: &'a str,
    kind: &'a str,
    target: &'a str,
    outcome: &'a str,
    reason: Option<&'a str>,
    message: Option<&'a str>,
    hint: Option<&'a str>,
    milliseconds: f64,
    recorded: bool,
    result: Option<&'a RawValue>,
}

/// Shows a record; gives the exit code.
pub(crate) fn show(
    context: &Context,
    target: &Target,
    record: &Record,
    save: Option<&Path>,
) -> Result<u8, CliError> {
    let outcome = &record.outcome;
    let code = exit_code::of(outcome.kind, outcome.reason.as_deref());
    let text = outcome.result.as_ref().map(|bytes| String::from_utf8_lossy(bytes));
    let reply = text.as_deref().map(|text| read(target, text));
    if let (Some(folder), Some(Ok(reply))) = (save, &reply) {
        save_items(context, reply, folder)?;
    }
    if context.printer.json {
        let result = outcome.result.as_ref().and_then(|bytes| serde_json::from_slice(bytes).ok());
        context.printer.json(&Shown {
            id: record.id.filter(|_| !context.shared.no_record).map(|id| id.to_string()),
            server: &target.server,
            kind: target.kind.as_str(),
            target: &target.name,
            outcome: outcome.kind.as_str(),
            reason: outcome.reason.as_deref(),
            message: outcome.message.as_deref(),
            hint: outcome.hint.as_deref(),
            milliseconds: milliseconds(record.duration),
            recorded: record.recorded,
            result,
        })?;
        return Ok(code);
    }
    match (&reply, &text) {
        (Some(Ok(reply)), _) => print(context, record, &for_person(reply))?,
        (Some(Err(_)), Some(text)) => print(context, record, &escape(text))?,
        _ => {}
    }
    match outcome.kind {
        OutcomeKind::Ok => {}
        OutcomeKind::ToolError => context.printer.say("error: the tool reports a failure"),
        _ => {
            let word = outcome.kind.as_str().replace('_', " ");
            let message = outcome.message.as_deref().unwrap_or(&word);
            return Err(CliError { message: message.to_owned(), hint: outcome.hint.clone(), code });
        }
    }
    Ok(code)
}

/// Shows a call that the server goes on with, as its caller wanted.
pub(crate) fn show_left(
    context: &Context,
    target: &Target,
    record: &Record,
) -> Result<u8, CliError> {
    if context.printer.json {
        show(context, target, record, None)?;
        return Ok(exit_code::OK);
    }
    context.printer.data(&record.id.map(|id| id.to_string()).unwrap_or_default())?;
    for words in [&record.outcome.message, &record.outcome.hint].into_iter().flatten() {
        context.printer.say(&escape(words));
    }
    Ok(exit_code::OK)
}

/// A duration in milliseconds, to the microsecond.
pub(crate) fn milliseconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1_000_000.0).round() / 1_000.0
}

/// Reads a result by what was asked for.
pub(crate) fn read(
    target: &Target,
    text: &str,
) -> Result<Reply, switchboard_host::format::InvalidOutput> {
    match target.kind {
        TargetKind::Tool => Reply::from_json(text),
        TargetKind::Resource => Reply::from_resource_json(text),
        TargetKind::Prompt => Reply::from_prompt_json(text),
    }
}

/// Prints a text; one that is too long for a terminal goes to a file, with head and tail shown.
fn print(context: &Context, record: &Record, text: &str) -> Result<(), CliError> {
    let limit = context.config()?.settings.show_limit_bytes;
    let Some(short) = shorten(text, limit).filter(|_| context.printer.terminal) else {
        return context.printer.data(text);
    };
    let folder = context.places.state.join("results");
    let name = record.id.map_or_else(|| "result".to_owned(), |id| format!("call-{id}"));
    let file = folder.join(format!("{name}.txt"));
    std::fs::create_dir_all(&folder)?;
    std::fs::write(&file, text)?;
    context.printer.data(&short.with_notice(Some(&file.display().to_string())))
}

/// Writes what is not text into a folder.
fn save_items(context: &Context, reply: &Reply, folder: &Path) -> Result<(), CliError> {
    std::fs::create_dir_all(folder)?;
    for (number, item) in (1..).zip(&reply.items) {
        let (mime, data) = match item {
            Item::Image { mime, data } | Item::Audio { mime, data } => {
                (mime.as_str(), data.as_str())
            }
            Item::Resource { mime, blob: Some(blob), .. } => {
                (mime.as_deref().unwrap_or("application/octet-stream"), blob.as_str())
            }
            _ => continue,
        };
        let file = folder.join(format!("{number}.{}", ending(mime)));
        write_base64(&file, data)?;
        context.printer.say(&format!("wrote {}", file.display()));
    }
    Ok(())
}

/// Writes what base64 text stands for.
pub(crate) fn write_base64(file: &PathBuf, data: &str) -> Result<(), CliError> {
    let bytes = BASE64_STANDARD.decode(data.trim()).map_err(|error| {
        CliError::new(exit_code::FAILED, format!("the server's data is not base64: {error}"))
    })?;
    std::fs::write(file, bytes).map_err(|error| {
        CliError::new(exit_code::TROUBLE, format!("cannot write `{}`: {error}", file.display()))
    })
}

fn ending(mime: &str) -> String {
    let kind = mime.rsplit('/').next().unwrap_or("bin").split(['+', ';']).next().unwrap_or("bin");
    let plain: String = kind.chars().filter(char::is_ascii_alphanumeric).take(8).collect();
    match plain.as_str() {
        "" | "octetstream" => "bin".to_owned(),
        "plain" => "txt".to_owned(),
        "jpeg" => "jpg".to_owned(),
        "mpeg" => "mp3".to_owned(),
        _ => plain,
    }
}
