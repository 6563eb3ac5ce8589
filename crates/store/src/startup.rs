//! Opening the ledger: locks the folder, opens and migrates the file, recovers abandoned calls.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _};
use switchboard_files::{ProcessLock, parent_folder};

use crate::call_id::{FIRST_BLOCK, IdBlock};
use crate::entry::OpenReport;
use crate::error::LedgerError;
use crate::file;
use crate::file::{FileError, lock_for_open};
use crate::ledger::{Ledger, LedgerOptions};
use crate::recovery::recover;
use crate::schema::LEDGER_SCHEMA;
use crate::statements::reserve;

#[derive(Debug)]
pub(crate) struct WritableLedger {
    pub(crate) connection: Connection,
    pub(crate) owner: ProcessLock,
    pub(crate) block: IdBlock,
    pub(crate) opened: OpenReport,
}

pub(crate) fn start(path: &Path, options: &LedgerOptions) -> Result<WritableLedger, LedgerError> {
    let (owners, gate) = lock_for_open(path)?;
    let owner =
        ProcessLock::claim(&owners, &gate).map_err(|error| FileError::from_folder(path, &error))?;
    let mut opened = OpenReport::default();
    let mut connection = file::open(path, options, &LEDGER_SCHEMA, &mut opened)?;
    let failed = |error: rusqlite::Error| FileError::from_open(path, &error);
    recover(&mut connection, &owners, &gate, &journal_folder(path), &mut opened).map_err(failed)?;
    if opened.created || opened.quarantined.is_some() {
        let begun = "INSERT OR IGNORE INTO counters (name, value) VALUES ('begun_at', ?1)";
        connection.execute(begun, [Timestamp::now().as_microsecond()]).map_err(failed)?;
    }
    let block = reserve(&connection, FIRST_BLOCK).map_err(failed)?;
    Ok(WritableLedger { connection, owner, block, opened })
}

impl Ledger {
    /// Returns when the ledger was created, or `None` if the file predates that information.
    ///
    /// A ledger that was removed or quarantined is created again, without its earlier calls.
    pub async fn recording_since(&self) -> Result<Option<Timestamp>, LedgerError> {
        let Some(reader) = self.reader().await? else { return Ok(Some(Timestamp::now())) };
        let query = "SELECT value FROM counters WHERE name = 'begun_at'";
        let micros = reader.query(move |connection| {
            connection.query_row(query, [], |row| row.get::<_, i64>(0)).optional()
        });
        Ok(micros.await?.and_then(|micros| Timestamp::from_microsecond(micros).ok()))
    }
}

pub(crate) fn journal_folder(path: &Path) -> PathBuf {
    parent_folder(path).join("journal")
}

pub(crate) fn body_folder(path: &Path) -> PathBuf {
    parent_folder(path).join("bodies")
}

pub(crate) fn recover_journals(path: &Path) -> Result<(), LedgerError> {
    start(path, &LedgerOptions::default()).map(drop)
}
