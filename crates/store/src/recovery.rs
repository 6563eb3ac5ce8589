//! Recovery of the calls that dead processes left open.

use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use rusqlite::{Connection, TransactionBehavior};
use switchboard_files::{FolderLock, is_alive, owners_in, remove_owner};

use crate::entry::OpenReport;
use crate::group::{CallChange, NewRow};
use crate::journal;
use crate::journal::{owner_files, read};
use crate::journal_entry::JournalEntry;
use crate::statements::{apply, insert};

/// Closes the calls of dead processes, except tasks, and removes the locks of these processes.
pub(crate) fn recover(
    connection: &mut Connection,
    owners: &Path,
    gate: &FolderLock,
    journals: &Path,
    opened: &mut OpenReport,
) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut names = owners_in(owners);
    names.extend(journal::owners(journals));
    {
        let mut statement =
            transaction.prepare("SELECT DISTINCT owner FROM calls WHERE outcome IS NULL")?;
        for name in statement.query_map([], |row| row.get::<_, String>(0))? {
            names.insert(name?);
        }
    }
    // The caller holds the folder lock, so no process can start with one of these names.
    names.retain(|name| !is_alive(owners, name));
    let mut dead = Vec::new();
    let now = Timestamp::now().as_microsecond();
    for name in &names {
        // An unreadable journal is left for a later process: it may contain the missing outcomes.
        let Some(entries) = read_journals(journals, name) else { continue };
        replay(&transaction, name, entries)?;
        dead.push(name);
        // A call with an intent may have run, so it must not look as if a retry were safe.
        opened.recovered_unknown += transaction.execute(
            "UPDATE calls SET outcome = 'unknown', reason = 'host_crash', finished_at = ?2,
                 message = 'the host ended before an answer came; the call may have run'
             WHERE owner = ?1 AND outcome IS NULL AND intent_at IS NOT NULL
                 AND id NOT IN (SELECT call FROM tasks)",
            (name, now),
        )?;
        opened.recovered_not_sent += transaction.execute(
            "UPDATE calls SET outcome = 'not_sent', reason = 'host_crash', finished_at = ?2,
                 message = 'the host ended before the call was sent'
             WHERE owner = ?1 AND outcome IS NULL AND intent_at IS NULL",
            (name, now),
        )?;
    }
    // Only after the commit: until then the journals are the only copy of these entries.
    transaction.commit()?;
    for name in dead {
        for file in owner_files(journals, name) {
            // A leftover file is read again at the next start, which changes nothing.
            let _left = std::fs::remove_file(file);
        }
        remove_owner(owners, name, gate);
    }
    Ok(())
}

/// Returns the journal entries of `owner`, in order, or `None` if a file cannot be read.
fn read_journals(journals: &Path, owner: &str) -> Option<Vec<JournalEntry>> {
    let mut entries = Vec::new();
    for file in owner_files(journals, owner) {
        entries.append(&mut read(&file).ok()?);
    }
    Some(entries)
}

/// Applies journal entries. Rows that the database already has are not changed.
fn replay(
    connection: &Connection,
    owner: &str,
    entries: Vec<JournalEntry>,
) -> rusqlite::Result<()> {
    for JournalEntry { id, opening, news } in entries {
        if let Some(opening) = opening {
            insert(connection, owner, &NewRow::new(id, Arc::new(opening)))?;
        }
        apply(connection, &CallChange { id, news, waiter: None, landed: false })?;
    }
    Ok(())
}
