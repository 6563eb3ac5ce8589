//! What a dead process promised and did not get into the database.

use std::path::Path;
use std::sync::Arc;

use rusqlite::Connection;

use crate::group::{CallChange, DecisionDetails, NewRow};
use crate::journal::{owner_files, read};
use crate::journal_entry::JournalEntry;
use crate::statements::{apply, insert};

/// What the journal of `owner` holds, in order; none if a part of it cannot be read.
pub(crate) fn read_journals(journals: &Path, owner: &str) -> Option<Vec<JournalEntry>> {
    let mut entries = Vec::new();
    for file in owner_files(journals, owner) {
        entries.append(&mut read(&file).ok()?);
    }
    Some(entries)
}

/// Brings in what the journal of `owner` held. What the database has already stays as it is.
pub(crate) fn replay(
    connection: &Connection,
    owner: &str,
    entries: Vec<JournalEntry>,
) -> rusqlite::Result<()> {
    for JournalEntry { id, opening, news } in entries {
        if let Some(opening) = opening {
            let row = NewRow {
                id,
                opening: Arc::new(opening),
                details: DecisionDetails::default(),
                intent: None,
                close: None,
                waiters: Vec::new(),
                is_held_back: false,
                digest: None,
            };
            insert(connection, owner, &row)?;
        }
        apply(connection, &CallChange { id, news, waiter: None, landed: false })?;
    }
    Ok(())
}
