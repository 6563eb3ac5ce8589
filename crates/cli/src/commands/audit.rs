//! Lists the audit log of definitions and entries.

use serde_json::{Value, json};
use switchboard_store::{Audit, AuditNote, AuditRow};
use switchboard_terminal::{CliError, exit_code};

use crate::context::CommandContext;

pub(crate) fn list(context: &CommandContext) -> Result<u8, CliError> {
    let rows = Audit::in_state_folder(&context.places.state).list()?;
    if rows.is_empty() && !context.printer.json {
        context.printer.say("the audit log is empty");
    }
    let heading = ["when", "event", "server", "what", "name", "detail"];
    context.printer.list(&rows, as_json, heading, |row| {
        let at = row.at.strftime("%Y-%m-%d %H:%M:%S").to_string();
        [&*at, &row.event, &row.server, &row.kind, &row.name, &row.detail].map(str::to_owned)
    })?;
    // Last, so that a log that was tampered with is shown before the command fails.
    verify_untouched(context).map(|()| exit_code::OK)
}

pub(crate) fn verify_untouched(context: &CommandContext) -> Result<(), CliError> {
    match Audit::in_state_folder(&context.places.state).find_tampering()? {
        None => Ok(()),
        Some(what) => {
            let message = format!("the audit log was tampered with: {what}");
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
