//! Access to the record of calls, and warnings about its state.

use switchboard_core::Durability;
use switchboard_host::Host;
use switchboard_host::ledger_file;
use switchboard_store::{Ledger, LedgerError, LedgerReader, OpenReport};
use switchboard_terminal::{CliError, Printer};
use tokio_util::sync::CancellationToken;

use crate::context::CommandContext;

/// Opens the record for reading, after assigning outcomes to the calls of crashed instances.
pub(crate) async fn reader(context: &CommandContext) -> Result<LedgerReader, CliError> {
    let file = ledger_file(&context.places.state);
    match Ledger::open(&file, Durability::Process) {
        Ok(ledger) => {
            if let Some(opened) = ledger.open_report() {
                warn_opened(&context.printer, opened);
            }
            ledger.stop().await;
        }
        // A read-only record, as in a copied home, can still be read as it is.
        Err(error @ (LedgerError::Open { .. } | LedgerError::Unavailable { .. }))
            if file.is_file() =>
        {
            let what = "cannot determine the outcome of interrupted calls";
            context.printer.warn(&format!("{what}: {error}"), error.hint());
        }
        Err(error) => return Err(error.into()),
    }
    Ok(LedgerReader::at(&file))
}

/// Reports when calls can no longer be recorded, and when they can again, until `stop`.
pub(crate) async fn report_trouble(printer: Printer, host: Host, stop: CancellationToken) {
    let Some(trouble) = host.ledger().trouble() else { return };
    let mut changes = trouble.changes();
    while let Some(trouble) = stop.run_until_cancelled(changes.changed()).await {
        match &*trouble {
            Some(error) => printer.warn(&format!("calls are refused: {error}"), error.hint()),
            None => printer.say("calls are recorded again"),
        }
    }
}

pub(crate) fn warn_opened(printer: &Printer, opened: &OpenReport) {
    if let Some(aside) = &opened.quarantined {
        let aside = aside.display();
        let text = format!("the record of calls was damaged and was moved to {aside}");
        printer.warn(&text, None);
    }
    if opened.recovered_unknown > 0 {
        let count = opened.recovered_unknown;
        printer.warn(
            &format!("a switchboard process crashed; {count} of its calls may have run"),
            Some("`switchboard calls --outcome unknown` lists them"),
        );
    }
}
