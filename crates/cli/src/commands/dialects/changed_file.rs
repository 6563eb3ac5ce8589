//! Changes a file of another product: makes a backup, then replaces the file atomically.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use serde_json::json;
use switchboard_dialects::ProductDialect;
use switchboard_files::{FileAccess, canonicalize, parent_folder, replace_synced};
use switchboard_terminal::{CliError, exit_code};
use switchboard_text::{escape_line, hex_digest};

use crate::commands::dialects::sources::read_text;
use crate::context::CommandContext;

/// Maximum number of changes that can be undone; older ones are forgotten.
const MAX_CHANGES: usize = 200;

/// A change to a file that can be undone.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct FileChange {
    pub(super) product: String,
    pub(super) file: PathBuf,
    pub(super) backup: Option<PathBuf>,
    pub(super) digest: String,
}

pub(super) struct FileEdit<'a> {
    pub(super) product: &'a str,
    pub(super) path: &'a Path,
    pub(super) before: Option<&'a str>,
    pub(super) after: &'a str,
}

/// Resolves symbolic links, so that a write replaces the target and keeps the link.
pub(super) fn resolve_link(path: &Path) -> PathBuf {
    canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

pub(super) fn text_digest(text: &str) -> String {
    hex_digest([text.as_bytes()])
}

/// Writes the file if it has not changed since it was read; returns the path of the backup.
pub(super) fn write(
    context: &CommandContext,
    FileEdit { product, path, before, after }: FileEdit<'_>,
) -> Result<Option<PathBuf>, CliError> {
    let real = resolve_link(path);
    let shown = real.display();
    let failed = |what: &str, cause: std::io::Error| {
        CliError::new(exit_code::TROUBLE, format!("`{shown}` cannot be {what}: {cause}"))
    };
    // Copied before the check below, so that the check also covers the text in the backup.
    let backup = match before {
        Some(_) => Some(copy(&real).map_err(|cause| failed("copied", cause))?),
        None => None,
    };
    let attempt = || {
        let now = read_text(&real)
            .map_err(|cause| CliError::new(exit_code::TROUBLE, format!("`{shown}` {cause}")))?;
        if now.as_deref() != before {
            let message = format!("`{shown}` was modified by another program in the meantime");
            return Err(CliError::new(exit_code::TROUBLE, message).with_hint("try again"));
        }
        // Remember first: a needless entry is better than a change that cannot be undone.
        let mut changes = load_changes(context);
        changes.push(FileChange {
            product: product.to_owned(),
            file: real.clone(),
            backup: backup.clone(),
            digest: text_digest(after),
        });
        save_changes(context, &changes)?;
        replace(&real, after).map_err(|cause| {
            changes.pop();
            save_changes(context, &changes).err().unwrap_or_else(|| failed("written", cause))
        })
    };
    if let Err(error) = attempt() {
        if let Some(copy) = &backup {
            fs::remove_file(copy)?;
        }
        return Err(error);
    }
    Ok(backup)
}

pub(super) fn replace(real: &Path, text: &str) -> std::io::Result<()> {
    fs::create_dir_all(parent_folder(real))?;
    replace_synced(real, text.as_bytes(), FileAccess::Kept)
}

fn copy(real: &Path) -> std::io::Result<PathBuf> {
    // The name has a time stamp, so that an earlier backup is never overwritten.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let mut stamp = now;
    loop {
        let backup = real.with_added_extension(format!("switchboard-backup-{stamp}"));
        let mut options = fs::OpenOptions::new();
        match options.write(true).create_new(true).open(&backup) {
            Ok(mut file) => {
                // Set the permissions while the file is still empty.
                file.set_permissions(fs::metadata(real)?.permissions())?;
                file.write_all(&fs::read(real)?)?;
                file.sync_all()?;
                return Ok(backup);
            }
            Err(cause) if cause.kind() == std::io::ErrorKind::AlreadyExists => stamp += 1,
            Err(cause) => return Err(cause),
        }
    }
}

pub(super) fn load_changes(context: &CommandContext) -> Vec<FileChange> {
    let text = fs::read_to_string(changes_file(context)).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

pub(super) fn save_changes(
    context: &CommandContext,
    changes: &[FileChange],
) -> Result<(), CliError> {
    let newest = changes.get(changes.len().saturating_sub(MAX_CHANGES)..).unwrap_or_default();
    let text = serde_json::to_string_pretty(newest)
        .map_err(|cause| CliError::new(exit_code::TROUBLE, cause.to_string()))?;
    replace(&changes_file(context), &text).map_err(|cause| {
        let message = format!("cannot save the undo information: {cause}");
        CliError::new(exit_code::TROUBLE, message)
    })
}

fn changes_file(context: &CommandContext) -> PathBuf {
    context.places.state.join("exports.json")
}

/// Undoes the last change, of one product or of any, unless the file has changed since.
pub(super) fn undo(
    context: &CommandContext,
    product: Option<ProductDialect>,
) -> Result<u8, CliError> {
    let mut changes = load_changes(context);
    let fits = |change: &FileChange| product.is_none_or(|product| product.id() == change.product);
    let Some(place) = changes.iter().rposition(fits) else {
        return Err(CliError::usage("nothing to undo"));
    };
    let change = changes.remove(place);
    let shown = change.file.display().to_string();
    let trouble = |cause: String| CliError::new(exit_code::TROUBLE, format!("`{shown}` {cause}"));
    let now = read_text(&change.file).map_err(trouble)?;
    if now.as_deref().map(text_digest).as_ref() != Some(&change.digest)
        || resolve_link(&change.file) != change.file
    {
        let message = format!("`{shown}` has changed since the export, so it is not restored");
        let error = CliError::new(exit_code::NOT_ALLOWED, message);
        return Err(match &change.backup {
            Some(backup) => {
                error.with_hint(format!("the previous content is in `{}`", backup.display()))
            }
            None => error.with_hint("it did not exist before; remove the added entries by hand"),
        });
    }
    match &change.backup {
        Some(backup) => {
            let before = read_text(backup).ok().flatten().ok_or_else(|| {
                let message = format!("the backup `{}` is missing", backup.display());
                CliError::new(exit_code::TROUBLE, message)
            })?;
            replace(&change.file, &before).map_err(|cause| trouble(cause.to_string()))?;
            save_changes(context, &changes)?;
            fs::remove_file(backup)?;
            context.printer.say(&escape_line(&format!("restored {shown}")));
        }
        None => {
            fs::remove_file(&change.file)?;
            save_changes(context, &changes)?;
            let line = format!("removed {shown}, which did not exist before");
            context.printer.say(&escape_line(&line));
        }
    }
    if context.printer.json {
        let removed = change.backup.is_none();
        context
            .printer
            .json(&json!({"product": change.product, "file": shown, "removed": removed}))?;
    }
    Ok(exit_code::OK)
}
