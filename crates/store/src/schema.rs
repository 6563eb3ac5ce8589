//! Tables of the ledger, setup of connections, and migrations.

use std::path::Path;
use std::time::Duration;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};
use switchboard_core::Durability;

use crate::file::{FileError, with_suffix};
use crate::ledger::LedgerOptions;
use crate::{seal, timelines};

#[derive(Debug)]
pub(crate) struct DatabaseSchema {
    /// The `application_id`, so that a database of another program is never changed.
    pub(crate) application: i64,
    /// Migrations from each format to the next. Their number is the newest format.
    pub(crate) migrations: &'static [&'static str],
}

/// The schema of the ledger. The application id reads `SWBD`.
pub(crate) const LEDGER_SCHEMA: DatabaseSchema = DatabaseSchema {
    application: 0x5357_4244,
    migrations: &[
        FORMAT_1,
        FORMAT_2,
        FORMAT_3,
        FORMAT_4,
        seal::FORMAT,
        FORMAT_6,
        timelines::FORMAT,
    ],
};

// Large columns come last, so that reading the short ones does not traverse them.
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

const FORMAT_2: &str = "
    ALTER TABLE calls ADD COLUMN reference TEXT;
    CREATE INDEX calls_by_reference ON calls (reference, created_at) WHERE reference IS NOT NULL;
";

// No foreign key: the row of the call may still be queued when the task is written.
const FORMAT_3: &str = "
    CREATE TABLE tasks (
        call INTEGER PRIMARY KEY,
        server TEXT NOT NULL,
        target TEXT NOT NULL,
        instance INTEGER NOT NULL,
        task TEXT NOT NULL,
        era TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        poll_ms INTEGER,
        ttl_ms INTEGER,
        status TEXT NOT NULL,
        message TEXT,
        seen_at INTEGER NOT NULL
    ) STRICT;
";

// Places of long texts in body files.
const FORMAT_4: &str = "
    ALTER TABLE calls ADD COLUMN arguments_at TEXT;
    ALTER TABLE calls ADD COLUMN sent_arguments_at TEXT;
    ALTER TABLE calls ADD COLUMN result_at TEXT;
";

// Few calls fail, so this partial index costs almost nothing.
const FORMAT_6: &str = "
    CREATE INDEX calls_not_well ON calls (outcome, created_at) WHERE outcome <> 'ok';
";

/// Opens the file for writing in WAL mode, which allows concurrent readers and other processes.
pub(crate) fn connect(path: &Path, options: &LedgerOptions) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(options.busy_wait)?;
    connection.set_prepared_statement_cache_capacity(32);
    let _mode: String =
        connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))?;
    // In WAL mode, `normal` survives the death of the process; only `full` syncs every commit.
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

pub(crate) fn connect_read_only(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    // SQLite reads the file only with the first query, which fails if it cannot create files.
    let Err(error) = query_number(&connection, "PRAGMA schema_version") else {
        return Ok(connection);
    };
    match immutable_uri(path) {
        Some(address) if error.sqlite_error_code() == Some(ErrorCode::CannotOpen) => {
            Connection::open_with_flags(address, flags | OpenFlags::SQLITE_OPEN_URI)
        }
        _ => Err(error),
    }
}

/// Returns a URI that opens a file in a read-only folder, where SQLite cannot create its shared
/// memory. Returns `None` if there is a write-ahead log, because `immutable` ignores its rows.
fn immutable_uri(path: &Path) -> Option<String> {
    let name = path.to_str().filter(|_| cfg!(unix) && !with_suffix(path, "-wal").exists())?;
    // SQLite decodes the path; a literal `?` or `#` would end it.
    let encoded = utf8_percent_encode(name, NON_ALPHANUMERIC);
    Some(format!("file:{encoded}?immutable=1"))
}

/// Migrates the file to the newest format in one transaction.
pub(crate) fn migrate(
    connection: &mut Connection,
    path: &Path,
    schema: &DatabaseSchema,
) -> Result<(), FileError> {
    let failed = |error: rusqlite::Error| FileError::from_open(path, &error);
    let known = i64::try_from(schema.migrations.len()).unwrap_or(i64::MAX);
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    let found = query_number(&transaction, "PRAGMA user_version").map_err(failed)?;
    if found > known {
        return Err(FileError::TooNew { path: path.to_owned(), found, known });
    }
    if !is_ours(&transaction, schema, found).map_err(failed)? {
        return Err(FileError::Open {
            path: path.to_owned(),
            reason: "it belongs to another program".to_owned(),
            hint: "use another state folder",
        });
    }
    for step in schema.migrations.iter().skip(usize::try_from(found).unwrap_or(0)) {
        transaction.execute_batch(step).map_err(failed)?;
    }
    if found < known {
        transaction.pragma_update(None, "application_id", schema.application).map_err(failed)?;
        transaction.pragma_update(None, "user_version", known).map_err(failed)?;
    }
    transaction.commit().map_err(failed)
}

fn is_ours(
    transaction: &Transaction<'_>,
    schema: &DatabaseSchema,
    format: i64,
) -> rusqlite::Result<bool> {
    // A new file has no application id yet, but no tables either.
    if format > 0 {
        return Ok(query_number(transaction, "PRAGMA application_id")? == schema.application);
    }
    Ok(query_number(transaction, "SELECT count(*) FROM sqlite_schema")? == 0)
}

fn query_number(connection: &Connection, query: &str) -> rusqlite::Result<i64> {
    connection.query_row(query, [], |row| row.get(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call_id::CallId;
    use crate::ledger::Ledger;

    #[tokio::test]
    async fn a_file_of_the_first_format_is_brought_up_to_date_and_keeps_its_rows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calls.db");
        let old = Connection::open(&path).unwrap();
        old.execute_batch(FORMAT_1).unwrap();
        old.execute_batch(
            "INSERT INTO calls (id, owner, created_at, face, caller, server, kind, target,
                 outcome, arguments)
             VALUES (7, 'gone', 5, 'cli', 'me', 'files', 'tool', 'read', 'ok', '{}');
             UPDATE counters SET value = 8 WHERE name = 'next_id';",
        )
        .unwrap();
        old.pragma_update(None, "application_id", LEDGER_SCHEMA.application).unwrap();
        old.pragma_update(None, "user_version", 1).unwrap();
        old.close().unwrap();

        for _ in 0..2 {
            let ledger = Ledger::open(&path, Durability::Process).unwrap();
            let full = ledger.show(CallId(7)).await.unwrap().unwrap();
            assert_eq!((full.summary.target.as_str(), full.reference), ("read", None));
            ledger.stop().await;
        }
        let connection = connect_read_only(&path).unwrap();
        assert_eq!(query_number(&connection, "PRAGMA user_version").unwrap(), 7);
        let plan: String = connection
            .query_row("EXPLAIN QUERY PLAN SELECT 1 FROM calls WHERE reference = ?1", [""], |row| {
                row.get("detail")
            })
            .unwrap();
        assert!(plan.contains("calls_by_reference"), "{plan}");
    }
}
