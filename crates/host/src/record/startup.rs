//! Opening the ledger: the lock, a sound file in the newest format, dead calls closed.

use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::entry::Opened;
use super::error::LedgerError;
use super::file::{self, enter, folder_of};
use super::file_error::FileError;
use super::ids::{Block, FIRST_BLOCK};
use super::ledger::LedgerOptions;
use super::owners::recover;
use super::schema::LEDGER;
use super::statements::reserve;
use crate::alive::Owner;

/// A ledger that can be written.
#[derive(Debug)]
pub(super) struct Started {
    pub(super) connection: Connection,
    pub(super) owner: Owner,
    pub(super) block: Block,
    pub(super) opened: Opened,
}

/// Opens or creates the file at `path`.
pub(super) fn start(path: &Path, options: &LedgerOptions) -> Result<Started, LedgerError> {
    let (owners, gate) = enter(path)?;
    let owner =
        Owner::claim(&owners, &gate).map_err(|error| FileError::from_folder(path, &error))?;
    let mut opened = Opened::default();
    let mut connection = file::open(path, options, &LEDGER, &mut opened)?;
    let failed = |error: rusqlite::Error| FileError::from_open(path, &error);
    recover(&mut connection, (&owners, &gate), &journals(path), &mut opened).map_err(failed)?;
    let block = reserve(&connection, FIRST_BLOCK).map_err(failed)?;
    Ok(Started { connection, owner, block, opened })
}

/// The folder of journals beside the file at `path`.
pub(super) fn journals(path: &Path) -> PathBuf {
    folder_of(path).join("journal")
}

/// The folder of long texts beside the file at `path`.
pub(super) fn bodies(path: &Path) -> PathBuf {
    folder_of(path).join("bodies")
}

/// Brings in what dead processes left, if there is something.
pub(super) fn bring_in(path: &Path) -> Result<(), LedgerError> {
    start(path, &LedgerOptions::default()).map(drop)
}
