//! Puts back what was in a file of another product before we changed it.

use std::fs;

use serde_json::json;
use switchboard_dialects::ProductDialect;
use switchboard_terminal::{CliError, exit_code};
use switchboard_text::escape_line;

use crate::commands::dialects::changed_file::{
    FileChange, load_changes, replace, resolve_link, save_changes, text_digest,
};
use crate::commands::dialects::sources::read_text;
use crate::context::CommandContext;

/// Undoes the last change, of one product or of any, unless somebody has changed the file since.
pub(super) fn undo(
    context: &CommandContext,
    product: Option<ProductDialect>,
) -> Result<u8, CliError> {
    let mut changes = load_changes(context);
    let fits = |change: &FileChange| product.is_none_or(|product| product.id() == change.product);
    let Some(place) = changes.iter().rposition(fits) else {
        return Err(CliError::usage("there is nothing to undo"));
    };
    let change = changes.remove(place);
    let shown = change.file.display().to_string();
    let trouble = |cause: String| CliError::new(exit_code::TROUBLE, format!("`{shown}` {cause}"));
    let now = read_text(&change.file).map_err(trouble)?;
    if now.as_deref().map(text_digest).as_ref() != Some(&change.digest)
        || resolve_link(&change.file) != change.file
    {
        let message = format!("`{shown}` was changed since, so it is left as it is");
        let error = CliError::new(exit_code::NOT_ALLOWED, message);
        return Err(match &change.backup {
            Some(backup) => {
                error.with_hint(format!("what was there before is in `{}`", backup.display()))
            }
            None => error.with_hint("there was no file before; take out by hand what is too much"),
        });
    }
    match &change.backup {
        Some(backup) => {
            let before = read_text(backup).ok().flatten().ok_or_else(|| {
                let message = format!("the copy `{}` is gone", backup.display());
                CliError::new(exit_code::TROUBLE, message)
            })?;
            replace(&change.file, &before).map_err(|cause| trouble(cause.to_string()))?;
            save_changes(context, &changes)?;
            fs::remove_file(backup)?;
            context.printer.say(&escape_line(&format!("{shown} is as it was before")));
        }
        None => {
            fs::remove_file(&change.file)?;
            save_changes(context, &changes)?;
            let line = format!("{shown} was not there before and is removed");
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
