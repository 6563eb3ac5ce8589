//! What a dead process promised and did not get into the database.

use std::path::Path;
use std::sync::Arc;

use rusqlite::Connection;

use super::group::{Change, Details, NewRow};
use super::journal::{files_of, read};
use super::journal_entry::Replayed;
use super::statements::{apply, insert};

/// Brings in what the journal of `owner` holds. What the database has already stays as it is.
pub(super) fn replay(
    connection: &Connection,
    journals: &Path,
    owner: &str,
) -> rusqlite::Result<()> {
    for file in files_of(journals, owner) {
        // A file that cannot be read stays, for whoever can.
        for entry in read(&file).unwrap_or_default() {
            let Replayed { id, opening, news } = entry;
            if let Some(opening) = opening {
                let row = NewRow {
                    id,
                    opening: Arc::new(opening),
                    details: Details::default(),
                    intent: None,
                    close: None,
                    waiters: Vec::new(),
                    is_held_back: false,
                    digest: None,
                };
                insert(connection, owner, &row)?;
            }
            apply(connection, &Change { id, news, waiter: None, landed: false })?;
        }
    }
    Ok(())
}
