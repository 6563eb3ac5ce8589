//! Detects which processes are alive, by the lock file that each one holds in a folder.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::lock::Lock;

const SUFFIX: &str = ".lock";
/// How long to wait for the folder lock, which others hold only briefly.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// The lock file that proves that this process is alive.
#[derive(Debug)]
pub struct ProcessLock {
    name: String,
    path: PathBuf,
    _lock: File,
}

/// The lock on a folder of lock files, held while one is created or others are pruned.
// A new lock file is unlocked for a moment; without this lock, it could be pruned as a dead one.
#[derive(Debug)]
pub struct FolderLock {
    _lock: Lock,
}

impl FolderLock {
    /// Acquires the lock, and waits for other processes that hold it.
    pub fn acquire(owners: &Path) -> io::Result<Self> {
        let lock = Lock::acquire(&owners.join("gate"), LOCK_TIMEOUT);
        let held = "another process has held the folder lock for too long";
        lock.map(|lock| Self { _lock: lock }).map_err(|error| error.into_io(held))
    }
}

impl ProcessLock {
    /// Creates the lock file of this process; the caller holds the folder lock.
    pub fn claim(owners: &Path, _gate: &FolderLock) -> io::Result<Self> {
        // The random part of the name distinguishes processes with the same id, which the system
        // reuses and containers number from 1.
        let file = tempfile::Builder::new()
            .prefix(&format!("{}-", std::process::id()))
            .suffix(SUFFIX)
            .tempfile_in(owners)?;
        let (lock, path) = file.keep().map_err(|error| error.error)?;
        lock.try_lock().map_err(io::Error::from)?;
        let name = owner_name(&path).unwrap_or_default().to_owned();
        Ok(Self { name, path, _lock: lock })
    }

    /// Removes the lock files of dead processes, then creates one for this process. Only for
    /// folders in which no other data belongs to a lock file.
    pub fn claim_and_prune(owners: &Path) -> io::Result<Self> {
        let gate = FolderLock::acquire(owners)?;
        for name in owners_in(owners).iter().filter(|name| !is_alive(owners, name)) {
            remove_owner(owners, name, &gate);
        }
        Self::claim(owners, &gate)
    }

    /// Returns the name by which other processes identify this one.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for ProcessLock {
    fn drop(&mut self) {
        // A leftover file is unlocked, and the next process removes it.
        let _left = std::fs::remove_file(&self.path);
    }
}

/// Returns the names of all lock files in the folder, of dead and live processes.
pub fn owners_in(owners: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(owners).into_iter().flatten().flatten();
    entries.filter_map(|entry| owner_name(&entry.path()).map(str::to_owned)).collect()
}

/// Returns whether the process of that name may still be alive.
pub fn is_alive(owners: &Path, name: &str) -> bool {
    // The system releases the lock when the process ends, even after a crash.
    match File::open(lock_path(owners, name)) {
        Ok(file) => file.try_lock().is_err(),
        // Only a missing file proves that the lock is not held.
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}

/// Removes the lock file of a dead process; the caller holds the folder lock.
pub fn remove_owner(owners: &Path, name: &str, _gate: &FolderLock) {
    // The next process retries a failed removal.
    let _gone = std::fs::remove_file(lock_path(owners, name));
}

fn lock_path(owners: &Path, name: &str) -> PathBuf {
    owners.join(format!("{name}{SUFFIX}"))
}

fn owner_name(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()?.strip_suffix(SUFFIX)
}
