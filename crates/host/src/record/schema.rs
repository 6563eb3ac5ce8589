//! The tables of the ledger, how a connection is set up, and how older files are brought up to date.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use super::error::LedgerError;
use super::ledger::{Durability, LedgerOptions};

/// Marks the file as ours, so that another program's database is never touched: `SWBD`.
const APPLICATION: i64 = 0x5357_4244;

/// What brings a file from one format to the next; the number of steps is the newest format.
const MIGRATIONS: [&str; 1] = [FORMAT_1];

// Large values come last, so that reading the short ones does not walk through them.
const FORMAT_1: &str = "
    CREATE TABLE calls (
        id INTEGER PRIMARY KEY,
        owner TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        face TEXT NOT NULL,
        caller TEXT NOT NULL,
        server TEXT NOT NULL,
        kind TEXT NOT NULL,
        target TEXT NOT NULL,
        definition_digest TEXT,
        verdict TEXT,
        verdict_by TEXT,
        intent_at INTEGER,
        instance TEXT,
        attempts INTEGER NOT NULL DEFAULT 0,
        fallback TEXT,
        outcome TEXT,
        reason TEXT,
        message TEXT,
        hint TEXT,
        finished_at INTEGER,
        duration_us INTEGER,
        result_bytes INTEGER,
        result_head INTEGER,
        result_file TEXT,
        arguments TEXT NOT NULL,
        sent_arguments TEXT,
        result BLOB,
        late BLOB
    ) STRICT;
    CREATE INDEX calls_by_time ON calls (created_at);
    CREATE INDEX calls_by_server ON calls (server, created_at);
    CREATE INDEX calls_without_outcome ON calls (owner) WHERE outcome IS NULL;
    CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    INSERT INTO counters (name, value) VALUES ('next_id', 1), ('probe', 0);
";

/// Opens the file for writing, in the mode that lets readers and other processes in.
pub(super) fn connect(path: &Path, options: &LedgerOptions) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(options.busy_wait)?;
    connection.set_prepared_statement_cache_capacity(32);
    let _mode: String =
        connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))?;
    let synchronous = match options.durability {
        Durability::Process => "normal",
        Durability::Power => "full",
    };
    connection.pragma_update(None, "synchronous", synchronous)?;
    connection.pragma_update(None, "journal_size_limit", 64 << 20)?;
    if let Some(pages) = options.max_pages {
        let _pages: i64 =
            connection.pragma_update_and_check(None, "max_page_count", pages, |row| row.get(0))?;
    }
    Ok(connection)
}

/// Opens the file for reading only.
pub(super) fn connect_to_read(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    Ok(connection)
}

/// Brings the file to the newest format.
pub(super) fn migrate(connection: &mut Connection, path: &Path) -> Result<(), LedgerError> {
    let failed = |error: rusqlite::Error| LedgerError::from_open(path, &error);
    let known = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    let found = number(&transaction, "PRAGMA user_version").map_err(failed)?;
    if found > known {
        return Err(LedgerError::TooNew { path: path.to_owned(), found, known });
    }
    if !is_ours(&transaction, found).map_err(failed)? {
        return Err(LedgerError::Open {
            path: path.to_owned(),
            reason: "it is the database of another program".to_owned(),
            hint: "use another state folder",
        });
    }
    for step in MIGRATIONS.iter().skip(usize::try_from(found).unwrap_or(0)) {
        transaction.execute_batch(step).map_err(failed)?;
    }
    if found < known {
        transaction.pragma_update(None, "application_id", APPLICATION).map_err(failed)?;
        transaction.pragma_update(None, "user_version", known).map_err(failed)?;
    }
    transaction.commit().map_err(failed)
}

fn is_ours(transaction: &Transaction<'_>, format: i64) -> rusqlite::Result<bool> {
    if format > 0 {
        return Ok(number(transaction, "PRAGMA application_id")? == APPLICATION);
    }
    Ok(number(transaction, "SELECT count(*) FROM sqlite_schema")? == 0)
}

fn number(connection: &Connection, query: &str) -> rusqlite::Result<i64> {
    connection.query_row(query, [], |row| row.get(0))
}
