//! Lists the audit log of definitions and entries.

use serde_json::{Value, json};
use switchboard_store::{Audit, AuditNote, AuditRow};
use switchboard_terminal::{CliError, exit_code};

use crate::context::CommandContext;

/// Lists all notes of the audit log, oldest first.
pub(crate) fn list(context: &CommandContext) -> Result<u8, CliError> {
    let rows = Audit::in_state_folder(&context.places.state).list()?;
    if context.printer.json {
        context.printer.json(&rows.iter().map(as_json).collect::<Vec<_>>())?;
        verify_untouched(context)?;
        return Ok(exit_code::OK);
    }
    if rows.is_empty() {
        context.printer.say("nothing is recorded about definitions and entries");
    }
    let rows: Vec<[String; 6]> = rows
        .into_iter()
        .map(|row| {
            let at = row.at.strftime("%Y-%m-%d %H:%M:%S").to_string();
            [at, row.event, row.server, row.kind, row.name, row.detail]
        })
        .collect();
    context.printer.table(["when", "event", "server", "what", "name", "detail"], &rows)?;
    verify_untouched(context)?;
    Ok(exit_code::OK)
}

/// Fails if the audit log was tampered with.
pub(crate) fn verify_untouched(context: &CommandContext) -> Result<(), CliError> {
    match Audit::in_state_folder(&context.places.state).find_tampering()? {
        None => Ok(()),
        Some(what) => {
            let message = format!("the record was changed: {what}");
            Err(CliError::new(exit_code::TROUBLE, message))
        }
    }
}

/// Adds notes to the audit log, unless recording is off.
pub(crate) fn note(context: &CommandContext, notes: &[AuditNote]) -> Result<(), CliError> {
    if context.shared.no_record {
        return Ok(());
    }
    Ok(Audit::in_state_folder(&context.places.state).add(notes)?)
}

fn as_json(row: &AuditRow) -> Value {
    json!({
        "seq": row.seq,
        "at": row.at.to_string(),
        "event": row.event,
        "server": row.server,
        "kind": row.kind,
        "name": row.name,
        "digest": row.digest,
        "detail": row.detail,
    })
}
