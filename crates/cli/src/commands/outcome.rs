//! Prints the outcome of a call, as text or as JSON.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::Serialize;
use serde_json::value::RawValue;
use switchboard_core::{Item, Outcome, OutcomeKind, Reply, Target, TargetKind, for_person};
use switchboard_files::{DownloadError, DownloadRoots, IfExists, write_download};
use switchboard_store::{CallId, Record};
use switchboard_terminal::{CliError, exit_code};
use switchboard_text::{escape_prose, redact_text, truncate_middle};
use switchboard_views::milliseconds;

use crate::context::CommandContext;

#[derive(Serialize)]
struct OutcomeRow<'a> {
    id: Option<String>,
    server: &'a str,
    kind: &'a str,
    target: &'a str,
    outcome: &'a str,
    reason: Option<&'a str>,
    is_readonly: bool,
    message: Option<Cow<'a, str>>,
    hint: Option<&'a str>,
    milliseconds: f64,
    recorded: bool,
    result: Option<&'a RawValue>,
}

pub(crate) struct FinishedCall {
    pub(crate) id: Option<CallId>,
    pub(crate) outcome: Outcome,
    pub(crate) duration: Duration,
    pub(crate) recorded: bool,
}

impl From<Record> for FinishedCall {
    fn from(record: Record) -> Self {
        let Record { id, outcome, duration, recorded, .. } = record;
        Self { id, outcome, duration, recorded }
    }
}

pub(crate) fn show(
    context: &CommandContext,
    target: &Target,
    record: &FinishedCall,
    save: Option<&Path>,
) -> Result<u8, CliError> {
    let outcome = &record.outcome;
    let code = exit_code::for_outcome(outcome.kind, outcome.reason.as_deref());
    let text = outcome.result.as_ref().map(|bytes| String::from_utf8_lossy(bytes));
    // A result that cannot be parsed is still shown: the server's text may explain why.
    let reply = text.as_deref().map(|text| read(target, text));
    if let (Some(folder), Some(Ok(reply))) = (save, &reply) {
        save_items(context, reply, folder)?;
    }
    if context.printer.json {
        let result = outcome.result.as_ref().and_then(|bytes| serde_json::from_slice(bytes).ok());
        context.printer.json(&OutcomeRow {
            // An unrecorded call has an id too, but `calls show` could not find it.
            id: record.id.filter(|_| !context.shared.no_record).map(|id| id.to_string()),
            server: &target.server,
            kind: target.kind.as_str(),
            target: &target.name,
            outcome: outcome.kind.as_str(),
            reason: outcome.reason.as_deref(),
            is_readonly: outcome.is_read_only(),
            message: outcome.message.as_deref().map(redact_text),
            hint: outcome.hint.as_deref(),
            milliseconds: milliseconds(record.duration),
            recorded: record.recorded,
            result,
        })?;
        return Ok(code);
    }
    match (&reply, &text) {
        (Some(Ok(reply)), _) => print(context, record, &for_person(reply))?,
        (Some(Err(_)), Some(text)) => print(context, record, &escape_prose(text))?,
        _ => {}
    }
    match outcome.kind {
        OutcomeKind::Ok => {}
        OutcomeKind::ToolError => context.printer.say("error: the tool reported an error"),
        _ => {
            let word = outcome.kind.as_str().replace('_', " ");
            let message = outcome.message.as_deref().unwrap_or(&word);
            return Err(CliError { message: message.to_owned(), hint: outcome.hint.clone(), code });
        }
    }
    Ok(code)
}

/// Prints a detached call that continues as a task on the server.
pub(crate) fn show_task(
    context: &CommandContext,
    target: &Target,
    record: &FinishedCall,
) -> Result<u8, CliError> {
    if context.printer.json {
        // The task was started as asked, so the exit code of an unfinished call does not apply.
        show(context, target, record, None)?;
        return Ok(exit_code::OK);
    }
    context.printer.data(&record.id.map(|id| id.to_string()).unwrap_or_default())?;
    for words in [&record.outcome.message, &record.outcome.hint].into_iter().flatten() {
        context.printer.say(&escape_prose(words));
    }
    Ok(exit_code::OK)
}

pub(crate) fn read(target: &Target, text: &str) -> Result<Reply, switchboard_core::InvalidOutput> {
    match target.kind {
        TargetKind::Tool => Reply::from_json(text),
        TargetKind::Resource => Reply::from_resource_json(text),
        TargetKind::Prompt => Reply::from_prompt_json(text),
    }
}

/// Prints a text; on a terminal, a long one is saved to a file and truncated in the middle.
fn print(context: &CommandContext, record: &FinishedCall, text: &str) -> Result<(), CliError> {
    let limit = context.config()?.settings.show_limit_bytes;
    // A pipe gets the whole text: a program cannot follow a notice about a file.
    let Some(short) = truncate_middle(text, limit).filter(|_| context.printer.terminal) else {
        return context.printer.data(text);
    };
    let folder = context.places.state.join("results");
    let name = record.id.map_or_else(|| "result".to_owned(), |id| format!("call-{id}"));
    let file = folder.join(format!("{name}.txt"));
    std::fs::create_dir_all(&folder)?;
    std::fs::write(&file, text)?;
    context.printer.data(&short.with_notice(Some(&file.display().to_string())))
}

fn save_items(context: &CommandContext, reply: &Reply, folder: &Path) -> Result<(), CliError> {
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
        // Numbered: a name from the server could contain a path or overwrite another file.
        let file = PathBuf::from(format!("{number}.{}", ending(mime)));
        let root = [folder.to_owned()];
        let file = download(context, &root, &file, &decode_base64(data)?, IfExists::Replace)?;
        context.printer.say(&format!("wrote {}", file.display()));
    }
    Ok(())
}

pub(crate) fn decode_base64(data: &str) -> Result<Vec<u8>, CliError> {
    BASE64_STANDARD.decode(data.trim()).map_err(|error| {
        CliError::new(exit_code::FAILED, format!("the server's data is not base64: {error}"))
    })
}

pub(crate) fn download(
    context: &CommandContext,
    roots: &[PathBuf],
    file: &Path,
    content: &[u8],
    existing: IfExists,
) -> Result<PathBuf, CliError> {
    let places = &context.places;
    let own = [Some(&places.state), places.user_folder.as_ref(), places.system.as_ref()];
    // A server must not get its content written over configuration, approvals or the record.
    let protected: Vec<PathBuf> = own.into_iter().flatten().cloned().collect();
    let limit_bytes = context.config()?.settings.result_limit_bytes;
    let ground = DownloadRoots { roots, protected: &protected, limit_bytes, existing };
    write_download(&ground, file, content).map_err(|error| {
        let code = match &error {
            DownloadError::NoRoom(_)
            | DownloadError::NotWritten { .. }
            | DownloadError::TooLong { .. } => exit_code::TROUBLE,
            DownloadError::Outside(_)
            | DownloadError::NotPlain { .. }
            | DownloadError::Protected(_)
            | DownloadError::Exists(_)
            | DownloadError::Unreachable { .. } => exit_code::NOT_ALLOWED,
        };
        let hint = error.hint().map(str::to_owned);
        CliError { message: error.to_string(), hint, code }
    })
}

fn ending(mime: &str) -> String {
    let kind = mime.rsplit('/').next().unwrap_or("bin").split(['+', ';']).next().unwrap_or("bin");
    // The MIME type comes from the server, so only letters and digits reach the file name.
    let plain: String = kind.chars().filter(char::is_ascii_alphanumeric).take(8).collect();
    match plain.as_str() {
        "" | "octetstream" => "bin".to_owned(),
        "plain" => "txt".to_owned(),
        "jpeg" => "jpg".to_owned(),
        "mpeg" => "mp3".to_owned(),
        _ => plain,
    }
}
