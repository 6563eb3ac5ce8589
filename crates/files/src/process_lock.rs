//! Which processes are alive, by the lock that each one holds in a folder.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::lock::Lock;

const SUFFIX: &str = ".lock";
/// How long another process may be inside.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// The lock that this process holds as long as it may write.
#[derive(Debug)]
pub struct ProcessLock {
    name: String,
    path: PathBuf,
    _lock: File,
}

/// Held while a process looks at the locks to remove some, or makes its own, so that no other takes
/// a new one for that of a dead process.
#[derive(Debug)]
pub struct FolderLock {
    _lock: Lock,
}

impl FolderLock {
    /// Waits for other processes that are inside.
    pub fn acquire(owners: &Path) -> io::Result<Self> {
        let lock = Lock::acquire(&owners.join("gate"), LOCK_TIMEOUT);
        let held = "another process has been opening it for too long";
        lock.map(|lock| Self { _lock: lock }).map_err(|error| error.into_io(held))
    }
}

impl ProcessLock {
    /// Makes a lock of its own for this process; the caller holds the gate.
    pub fn claim(owners: &Path, _gate: &FolderLock) -> io::Result<Self> {
        let file = tempfile::Builder::new()
            .prefix(&format!("{}-", std::process::id()))
            .suffix(SUFFIX)
            .tempfile_in(owners)?;
        let (lock, path) = file.keep().map_err(|error| error.error)?;
        lock.try_lock().map_err(io::Error::from)?;
        let name = owner_name(&path).unwrap_or_default().to_owned();
        Ok(Self { name, path, _lock: lock })
    }

    /// The same where no more belongs to a lock: those of dead processes are removed.
    pub fn claim_and_prune(owners: &Path) -> io::Result<Self> {
        let gate = FolderLock::acquire(owners)?;
        for name in owners_in(owners).iter().filter(|name| !is_alive(owners, name)) {
            remove_owner(owners, name, &gate);
        }
        Self::claim(owners, &gate)
    }

    /// The name by which other processes know this one.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for ProcessLock {
    fn drop(&mut self) {
        // A file that stays behind is found unlocked and removed by the next process.
        let _left = std::fs::remove_file(&self.path);
    }
}

/// Everyone who left a lock in the folder, dead or alive.
pub fn owners_in(owners: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(owners).into_iter().flatten().flatten();
    entries.filter_map(|entry| owner_name(&entry.path()).map(str::to_owned)).collect()
}

/// Whether the process of that name may still be there.
pub fn is_alive(owners: &Path, name: &str) -> bool {
    match File::open(lock_path(owners, name)) {
        Ok(file) => file.try_lock().is_err(),
        // Only a missing lock proves that nobody holds it.
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}

/// Removes the lock of a dead process; the caller holds the gate.
pub fn remove_owner(owners: &Path, name: &str, _gate: &FolderLock) {
    // What is left behind is tried again by the next one.
    let _gone = std::fs::remove_file(lock_path(owners, name));
}

fn lock_path(owners: &Path, name: &str) -> PathBuf {
    owners.join(format!("{name}{SUFFIX}"))
}

fn owner_name(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()?.strip_suffix(SUFFIX)
}
