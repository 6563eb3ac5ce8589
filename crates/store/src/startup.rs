//! Opening the ledger: the lock, a sound file in the newest format, dead calls closed.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _};
use switchboard_files::Owner;

use crate::entry::Opened;
use crate::error::LedgerError;
use crate::file;
use crate::file::{enter, folder_of};
use crate::file_error::FileError;
use crate::ids::{Block, FIRST_BLOCK};
use crate::ledger::{Ledger, LedgerOptions};
use crate::recovery::recover;
use crate::schema::LEDGER;
use crate::statements::reserve;

/// A ledger that can be written.
#[derive(Debug)]
pub(crate) struct Started {
    pub(crate) connection: Connection,
    pub(crate) owner: Owner,
    pub(crate) block: Block,
    pub(crate) opened: Opened,
}

/// Opens or creates the file at `path`.
pub(crate) fn start(path: &Path, options: &LedgerOptions) -> Result<Started, LedgerError> {
    let (owners, gate) = enter(path)?;
    let owner =
        Owner::claim(&owners, &gate).map_err(|error| FileError::from_folder(path, &error))?;
    let mut opened = Opened::default();
    let mut connection = file::open(path, options, &LEDGER, &mut opened)?;
    let failed = |error: rusqlite::Error| FileError::from_open(path, &error);
    recover(&mut connection, (&owners, &gate), &journals(path), &mut opened).map_err(failed)?;
    if opened.created || opened.quarantined.is_some() {
        let begun = "INSERT OR IGNORE INTO counters (name, value) VALUES ('begun_at', ?1)";
        connection.execute(begun, [Timestamp::now().as_microsecond()]).map_err(failed)?;
    }
    let block = reserve(&connection, FIRST_BLOCK).map_err(failed)?;
    Ok(Started { connection, owner, block, opened })
}

impl Ledger {
    /// Since when calls can be in it; none if it is older than that was noted.
    ///
    /// A ledger that was removed or put aside begins anew: what was recorded before is not there.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn begun_at(&self) -> Result<Option<Timestamp>, LedgerError> {
        let Some(reader) = self.reader().await? else { return Ok(Some(Timestamp::now())) };
        let query = "SELECT value FROM counters WHERE name = 'begun_at'";
        let micros = reader.query(move |connection| {
            connection.query_row(query, [], |row| row.get::<_, i64>(0)).optional()
        });
        Ok(micros.await?.and_then(|micros| Timestamp::from_microsecond(micros).ok()))
    }
}

/// The folder of journals beside the file at `path`.
pub(crate) fn journals(path: &Path) -> PathBuf {
    folder_of(path).join("journal")
}

/// The folder of long texts beside the file at `path`.
pub(crate) fn bodies(path: &Path) -> PathBuf {
    folder_of(path).join("bodies")
}

/// Brings in what dead processes left, if there is something.
pub(crate) fn bring_in(path: &Path) -> Result<(), LedgerError> {
    start(path, &LedgerOptions::default()).map(drop)
}
