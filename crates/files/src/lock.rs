//! Exclusive locks on files, respected by all processes; a lock ends with its process.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::replace::private_mode;

/// Interval between attempts to acquire a lock that another process holds.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// An exclusive lock on a file, held until it is dropped.
// The file is never removed: a process that has it open already would then lock a file without a
// name, while the next process locks a new one.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

/// The reason that a lock was not acquired.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error("another process has held the lock for too long")]
    Held,
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl LockError {
    /// Converts the error into an I/O error; `held` is the message for a lock that stayed held.
    pub fn into_io(self, held: &'static str) -> io::Error {
        match self {
            Self::Held => io::Error::new(io::ErrorKind::TimedOut, held),
            Self::Io(error) => error,
        }
    }
}

impl Lock {
    /// Acquires the lock on `path` and blocks for at most `limit`; a limit of zero tries once.
    pub fn acquire(path: &Path, limit: Duration) -> Result<Self, LockError> {
        let file = options().open(path)?;
        let start = Instant::now();
        // Polled, since a blocking lock has no timeout.
        while !try_lock(&file)? {
            if start.elapsed() >= limit {
                return Err(LockError::Held);
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        Ok(Self { _file: file })
    }

    /// Acquires the lock on `path` and waits for at most `limit` without blocking. A new file is
    /// readable only by its owner.
    pub async fn acquire_private(path: &Path, limit: Duration) -> Result<Self, LockError> {
        let file = private_mode(&mut options()).open(path)?;
        let acquire = async {
            while !try_lock(&file)? {
                tokio::time::sleep(POLL_INTERVAL).await;
            }
            Ok(())
        };
        let acquired = tokio::time::timeout(limit, acquire).await;
        acquired.unwrap_or(Err(LockError::Held))?;
        Ok(Self { _file: file })
    }
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true);
    options
}

fn try_lock(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(20);

    #[tokio::test]
    async fn one_at_a_time_holds_a_lock_and_the_file_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.lock");
        let held = Lock::acquire(&path, Duration::ZERO).unwrap();
        let short = Duration::from_millis(30);
        for limit in [Duration::ZERO, short] {
            assert!(matches!(Lock::acquire(&path, limit), Err(LockError::Held)));
            let refused = Lock::acquire_private(&path, limit).await;
            assert!(matches!(refused, Err(LockError::Held)));
        }
        let (ours, ()) = tokio::join!(Lock::acquire_private(&path, LIMIT), async {
            tokio::time::sleep(short).await;
            drop(held);
        });
        let ours = ours.unwrap();
        std::thread::scope(|scope| {
            let theirs = scope.spawn(|| Lock::acquire(&path, LIMIT).map(drop));
            std::thread::sleep(short);
            drop(ours);
            theirs.join().unwrap().unwrap();
        });
        assert!(path.exists());
    }

    #[test]
    fn a_file_that_cannot_be_opened_is_another_error_than_a_lock_that_is_held() {
        let folder = tempfile::tempdir().unwrap();
        let refused = Lock::acquire(&folder.path().join("none/a.lock"), LIMIT).unwrap_err();
        assert_eq!(refused.into_io("held").kind(), io::ErrorKind::NotFound);
        let held = LockError::Held.into_io("another one is inside");
        assert_eq!(held.kind(), io::ErrorKind::TimedOut);
        assert_eq!(held.to_string(), "another one is inside");
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_private_lock_is_for_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.lock");
        Lock::acquire_private(&path, LIMIT).await.unwrap();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
