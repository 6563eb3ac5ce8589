//! What a dead process promised and did not get into the database.

use std::path::Path;
use std::sync::Arc;

use rusqlite::Connection;

use crate::group::{Change, Details, NewRow};
use crate::journal::{files_of, read};
use crate::journal_entry::Replayed;
use crate::statements::{apply, insert};

/// What the journal of `owner` holds, in order; none if a part of it cannot be read.
pub(crate) fn left_by(journals: &Path, owner: &str) -> Option<Vec<Replayed>> {
    let mut entries = Vec::new();
    for file in files_of(journals, owner) {
        entries.append(&mut read(&file).ok()?);
    }
    Some(entries)
}

/// Brings in what the journal of `owner` held. What the database has already stays as it is.
pub(crate) fn replay(
    connection: &Connection,
    owner: &str,
    entries: Vec<Replayed>,
) -> rusqlite::Result<()> {
    for Replayed { id, opening, news } in entries {
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
    Ok(())
}
