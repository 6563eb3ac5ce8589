//! Which processes are alive, by the lock each one holds, and what became of the calls of dead ones.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use rusqlite::{Connection, TransactionBehavior};

use super::entry::Opened;
use super::journal;
use super::replay::replay;

const SUFFIX: &str = ".lock";

/// The lock this process holds as long as it may write.
#[derive(Debug)]
pub(super) struct Owner {
    name: String,
    path: PathBuf,
    _lock: File,
}

/// Held while one process opens the ledger, so that no other takes its new lock for a dead one.
#[derive(Debug)]
pub(super) struct Gate {
    _lock: File,
}

impl Gate {
    /// Waits for other processes that are opening the ledger.
    pub(super) fn enter(owners: &Path, patience: Duration) -> io::Result<Self> {
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(owners.join("gate"))?;
        let deadline = Instant::now() + patience;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _lock: file }),
                Err(TryLockError::Error(error)) => return Err(error),
                Err(TryLockError::WouldBlock) if Instant::now() >= deadline => {
                    return Err(io::Error::new(
                        io::ErrorKind::TimedOut,
                        "another process has been opening it for too long",
                    ));
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(5)),
            }
        }
    }
}

impl Owner {
    /// Makes a lock of its own for this process; the caller holds the gate.
    pub(super) fn claim(owners: &Path, _gate: &Gate) -> io::Result<Self> {
        let file = tempfile::Builder::new()
            .prefix(&format!("{}-", std::process::id()))
            .suffix(SUFFIX)
            .tempfile_in(owners)?;
        let (lock, path) = file.keep().map_err(|error| error.error)?;
        lock.try_lock().map_err(io::Error::from)?;
        let name = owner_of(&path).unwrap_or_default().to_owned();
        Ok(Self { name, path, _lock: lock })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        // A file that stays behind is found unlocked and removed by the next process.
        let _left = std::fs::remove_file(&self.path);
    }
}

/// Gives every call of a dead process its outcome, except those that go on as tasks, and removes the locks of dead processes.
pub(super) fn recover(
    connection: &mut Connection,
    owners: &Path,
    journals: &Path,
    opened: &mut Opened,
) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut names = lock_files(owners);
    names.extend(journal::owners(journals));
    {
        let mut statement =
            transaction.prepare("SELECT DISTINCT owner FROM calls WHERE outcome IS NULL")?;
        for name in statement.query_map([], |row| row.get::<_, String>(0))? {
            names.insert(name?);
        }
    }
    let dead: Vec<String> =
        names.into_iter().filter(|name| !is_alive(&lock_path(owners, name))).collect();
    let now = Timestamp::now().as_microsecond();
    for name in &dead {
        replay(&transaction, journals, name)?;
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
    transaction.commit()?;
    for name in &dead {
        for file in journal::files_of(journals, name) {
            // Read again it changes nothing.
            let _left = std::fs::remove_file(file);
        }
        let _gone = std::fs::remove_file(lock_path(owners, name));
    }
    Ok(())
}

fn lock_files(owners: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(owners).into_iter().flatten().flatten();
    entries.filter_map(|entry| owner_of(&entry.path()).map(str::to_owned)).collect()
}

pub(super) fn is_alive(lock: &Path) -> bool {
    match File::open(lock) {
        Ok(file) => file.try_lock().is_err(),
        // Only a missing lock proves that nobody holds it.
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}

pub(super) fn lock_path(owners: &Path, name: &str) -> PathBuf {
    owners.join(format!("{name}{SUFFIX}"))
}

fn owner_of(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()?.strip_suffix(SUFFIX)
}
