//! The writer thread: commits queued messages in groups and notifies their waiters.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ffi};
use switchboard_files::ProcessLock;

use crate::call_id::{FIRST_BLOCK, IdAllocator, IdBlock, MAX_BLOCK};
use crate::checkpoint;
use crate::error::LedgerError;
use crate::file::{is_damage, mark_suspect};
use crate::group::Group;
use crate::journal::Journal;
use crate::same_file::SameFile;
use crate::seal::{ChainHead, SealDigest, seal, unsealed_calls};
use crate::statements::{probe, reserve, return_block, write_group};
use crate::status::LedgerStatus;
use crate::write_queue::{QueueTake, WriteQueue};

/// Maximum number of messages per transaction, so that waiters do not wait for a huge commit.
const MAX_GROUP: usize = 4096;
/// How long to wait before a failed write is retried.
const PROBE_INTERVAL: Duration = Duration::from_millis(250);
/// How long the queue must be idle before closed calls are sealed; sealing must not delay calls.
const SEAL_DELAY: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(crate) struct LedgerWriter {
    pub(crate) path: PathBuf,
    place: SameFile,
    pub(crate) connection: Connection,
    pub(crate) owner: ProcessLock,
    pub(crate) shared: Arc<WriterShared>,
    /// Messages that could not be written yet.
    backlog: Group,
    trouble: Option<WriteTrouble>,
    block_size: i64,
    /// A full journal file, and the number of messages to write before it may be removed.
    retired: Option<(PathBuf, usize)>,
    /// Closed calls without a seal, with their digests if known.
    unsealed: Vec<(i64, Option<SealDigest>)>,
}

#[derive(Debug)]
pub(crate) struct WriterShared {
    pub(crate) queue: WriteQueue,
    pub(crate) status: LedgerStatus,
    pub(crate) ids: IdAllocator,
    /// `None` with `Durability::Power`: calls then wait for the database commit.
    pub(crate) journal: Option<Journal>,
}

#[derive(Debug, Clone)]
struct WriteTrouble {
    error: LedgerError,
    /// `None` if a retry could hide a lost write.
    next_probe: Option<Instant>,
}

impl LedgerWriter {
    pub(crate) fn new(
        path: PathBuf,
        connection: Connection,
        owner: ProcessLock,
        shared: Arc<WriterShared>,
    ) -> Self {
        Self {
            place: SameFile::at(&path),
            path,
            connection,
            owner,
            shared,
            backlog: Group::default(),
            trouble: None,
            block_size: FIRST_BLOCK,
            retired: None,
            unsealed: Vec::new(),
        }
    }

    /// Runs until the queue is closed and empty.
    pub(crate) fn run(mut self) {
        let _end = AbandonOnDrop(Arc::clone(&self.shared));
        // Calls of processes that ended early. If the query fails, the next process seals them.
        let left = unsealed_calls(&self.connection, MAX_GROUP).unwrap_or_default();
        self.unsealed = left.into_iter().map(|call| (call, None)).collect();
        loop {
            let wait = match &self.trouble {
                Some(trouble) => {
                    trouble.next_probe.map(|at| at.saturating_duration_since(Instant::now()))
                }
                None => (!self.unsealed.is_empty()).then_some(SEAL_DELAY),
            };
            match self.shared.queue.take(MAX_GROUP, wait) {
                QueueTake::Messages(messages) => {
                    if let Some((_, left)) = &mut self.retired {
                        *left = left.saturating_sub(messages.len());
                    }
                    let mut group = Group::default();
                    for message in messages {
                        group.add(message);
                    }
                    self.commit(group);
                }
                QueueTake::Nothing if self.trouble.is_none() => self.seal(),
                QueueTake::Nothing => {}
                QueueTake::Closed => break,
            }
            self.probe_if_due();
        }
        self.finish();
    }

    fn commit(&mut self, mut group: Group) {
        if let Some(trouble) = &self.trouble {
            self.backlog.absorb(group.fail(&trouble.error));
            return;
        }
        match self.write(&mut group) {
            Ok(block) => {
                if let Some(block) = block {
                    self.shared.ids.replace(block);
                }
                self.unsealed.extend(group.closed_calls());
                self.tidy_journal();
                group.complete();
                if self.unsealed.len() >= MAX_GROUP {
                    self.seal();
                }
            }
            Err(error) => {
                let error = self.note_failure(&error);
                self.backlog.absorb(group.fail(&error));
            }
        }
    }

    fn tidy_journal(&mut self) {
        let Some(journal) = &self.shared.journal else { return };
        if !self.backlog.is_empty() {
            return;
        }
        let queue = &self.shared.queue;
        // Calls append and queue under the lock of the journal, so with an empty queue and backlog
        // every entry of the file is committed.
        journal.truncate_if(|| queue.len() == 0);
        match &self.retired {
            Some((path, 0)) => {
                // A leftover file is read again at the next start, which changes nothing.
                let _left = std::fs::remove_file(path);
                self.retired = None;
            }
            Some(_) => {}
            None => self.retired = journal.rotate(|| queue.len()),
        }
    }

    fn probe_if_due(&mut self) {
        let due = self.trouble.as_ref().and_then(|trouble| trouble.next_probe);
        if due.is_none_or(|at| Instant::now() < at) {
            return;
        }
        let mut backlog = std::mem::take(&mut self.backlog);
        match self.write(&mut backlog) {
            Ok(_) => {
                self.trouble = None;
                self.shared.status.set(None);
                self.unsealed.extend(backlog.closed_calls());
                self.tidy_journal();
                backlog.complete();
            }
            Err(error) => {
                self.note_failure(&error);
                self.backlog = backlog;
            }
        }
    }

    /// Writes a group in one transaction. Returns the reserved block of ids, if any.
    fn write(&mut self, group: &mut Group) -> rusqlite::Result<Option<IdBlock>> {
        // Rows written to a file that was moved away would be lost.
        self.place.check()?;
        self.connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        let written = self.write_inside(group).and_then(|block| {
            self.connection.prepare_cached("COMMIT")?.execute([])?;
            Ok(block)
        });
        if written.is_err() && !self.connection.is_autocommit() {
            // Report the first error, not that of the rollback.
            let _second = self.connection.execute_batch("ROLLBACK");
        }
        written
    }

    fn write_inside(&mut self, group: &mut Group) -> rusqlite::Result<Option<IdBlock>> {
        // An empty backlog would commit without touching the disk and prove nothing.
        if self.trouble.is_some() {
            probe(&self.connection)?;
        }
        write_group(&self.connection, self.owner.name(), group)?;
        let rest = self.shared.ids.remaining();
        if group.refills.is_empty() || rest.next < rest.end {
            return Ok(None);
        }
        self.block_size = (self.block_size * 2).min(MAX_BLOCK);
        reserve(&self.connection, self.block_size).map(Some)
    }

    fn seal(&mut self) {
        if self.unsealed.is_empty() {
            return;
        }
        let calls = std::mem::take(&mut self.unsealed);
        match self.try_seal(&calls) {
            Ok(Some(head)) => {
                // An older checkpoint proves less, but never reports an intact chain as changed.
                let _unsigned = checkpoint::advance(&self.path, &self.connection, &head);
            }
            Ok(None) => {}
            // Sealed at the next idle moment, or by the next process.
            Err(_) => self.unsealed = calls,
        }
    }

    fn try_seal(&self, calls: &[(i64, Option<SealDigest>)]) -> io::Result<Option<ChainHead>> {
        self.place.check().map_err(io::Error::other)?;
        checkpoint::sign_empty(&self.path, &self.connection)?;
        seal(&self.path, &self.connection, calls).map_err(io::Error::other)
    }

    fn note_failure(&mut self, error: &rusqlite::Error) -> LedgerError {
        if is_damage(error) {
            mark_suspect(&self.path);
        }
        let trouble = LedgerError::from_write(error);
        let next_probe = is_retryable(error).then(|| Instant::now() + PROBE_INTERVAL);
        self.shared.status.set(Some(trouble.clone()));
        self.trouble = Some(WriteTrouble { error: trouble.clone(), next_probe });
        trouble
    }

    fn finish(mut self) {
        if !self.backlog.is_empty() {
            let mut backlog = std::mem::take(&mut self.backlog);
            // If this fails too, the next process recovers the entries from the journal.
            if self.write(&mut backlog).is_err() {
                return;
            }
        }
        if let Some((path, _)) = self.retired.take() {
            // A leftover file is read again at the next start, which changes nothing.
            let _left = std::fs::remove_file(path);
        }
        if let Some(journal) = &self.shared.journal {
            journal.remove();
        }
        self.seal();
        // Unused ids are only a gap.
        let _gap = return_block(&self.connection, self.shared.ids.remaining());
    }
}

fn is_retryable(error: &rusqlite::Error) -> bool {
    // After a failed fsync, the kernel may drop the dirty pages, so a later success proves nothing
    // about the lost write.
    let fsync = error.sqlite_error().is_some_and(|error| {
        matches!(error.extended_code, ffi::SQLITE_IOERR_FSYNC | ffi::SQLITE_IOERR_DIR_FSYNC)
    });
    !fsync && !is_damage(error)
}

/// Abandons the queue however the thread ends, so that no call waits forever.
struct AbandonOnDrop(Arc<WriterShared>);

impl Drop for AbandonOnDrop {
    fn drop(&mut self) {
        self.0.status.set(Some(LedgerError::writer_stopped()));
        self.0.queue.abandon();
    }
}
