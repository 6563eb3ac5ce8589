//! One at a time, also among processes: a lock on a file, waited for without blocking.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;
use std::time::Duration;

use tokio::time::{Instant, sleep};

/// How often a lock that somebody else holds is tried.
const POLL_INTERVAL: Duration = Duration::from_millis(15);

/// Holds a lock until it is dropped.
#[derive(Debug)]
pub struct FileLockGuard(#[expect(dead_code, reason = "the lock is in the open file")] File);

/// Waits for the lock; whoever holds it and dies gives it back.
pub async fn acquire(path: &Path, patience: Duration) -> io::Result<FileLockGuard> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    let deadline = Instant::now() + patience;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(FileLockGuard(file)),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if Instant::now() >= deadline => {
                let why = "another process has held the lock for too long";
                return Err(io::Error::new(io::ErrorKind::TimedOut, why));
            }
            Err(TryLockError::WouldBlock) => sleep(POLL_INTERVAL).await,
        }
    }
}
