//! Calls that servers go on with as tasks: kept under the call, so that anybody may finish them.

use std::time::Duration;

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Row, named_params};
use switchboard_core::{OutcomeKind, TaskHandle, TaskPlace, TaskState};
use switchboard_wire::Era;

use crate::call_id::CallId;
use crate::error::LedgerError;
use crate::ledger::Ledger;
use crate::open_call::OpenCall;
use crate::reader::{FullCall, LedgerReader};
use crate::rows::{read_size, read_time, unreadable};

const UPSERT: &str = "
    INSERT INTO tasks (call, server, target, instance, task, era, created_at, poll_ms, ttl_ms,
        status, message, seen_at)
    VALUES (:call, :server, :target, :instance, :task, :era, :at, :poll, :ttl, :status, :message,
        :at)
    ON CONFLICT (call) DO UPDATE SET
        server = excluded.server, target = excluded.target, instance = excluded.instance,
        task = excluded.task, era = excluded.era, poll_ms = excluded.poll_ms,
        ttl_ms = coalesce(excluded.ttl_ms, ttl_ms), status = excluded.status,
        message = excluded.message, seen_at = excluded.seen_at";

const SELECT: &str = "
    SELECT tasks.*, calls.outcome AS outcome FROM tasks JOIN calls ON calls.id = tasks.call";

/// A task under a call, as it is written.
#[derive(Debug, Clone)]
pub struct TaskNote {
    pub place: TaskPlace,
    /// What was called there.
    pub target: String,
    pub task: TaskHandle,
    /// What the server said of it last.
    pub state: TaskState,
}

/// A task under a call, as it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredTask {
    /// The call that became it.
    pub call: CallId,
    pub place: TaskPlace,
    /// What was called there.
    pub target: String,
    pub task: TaskHandle,
    /// When it was first heard of.
    pub created_at: Timestamp,
    /// The protocol's word for how far it was when last heard of.
    pub status: String,
    /// What the server said about that.
    pub message: Option<String>,
    /// When it was last heard of.
    pub seen_at: Timestamp,
    /// How the call ended; none while the task runs.
    pub outcome: Option<OutcomeKind>,
}

/// Which tasks to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhichTasks {
    /// Those whose call has no outcome.
    Running,
    All,
}

impl StoredTask {
    /// Whether the server may have thrown it away by now.
    #[must_use]
    pub fn is_expired(&self) -> bool {
        self.has_expired(Timestamp::now())
    }

    /// Whether the server may have thrown it away by `now`.
    fn has_expired(&self, now: Timestamp) -> bool {
        let kept = self.task.ttl.and_then(|ttl| self.created_at.checked_add(ttl).ok());
        kept.is_some_and(|until| until < now)
    }
}

impl Ledger {
    /// Tasks, the newest first.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn tasks(&self, which: WhichTasks) -> Result<Vec<StoredTask>, LedgerError> {
        match self.reader().await? {
            Some(reader) => reader.tasks(which).await,
            None => Ok(Vec::new()),
        }
    }

    /// The task that a call has become, if it has.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn task_for_call(&self, call: CallId) -> Result<Option<StoredTask>, LedgerError> {
        match self.reader().await? {
            Some(reader) => reader.task_for_call(call).await,
            None => Ok(None),
        }
    }

    /// Takes up a call that goes on as a task, to close it with its outcome. Whoever closes it
    /// first decides.
    pub fn resume_call(&self, full: &FullCall) -> OpenCall {
        OpenCall::resume(full, self.writer_link())
    }
}

impl LedgerReader {
    /// Tasks, the newest first.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn tasks(&self, which: WhichTasks) -> Result<Vec<StoredTask>, LedgerError> {
        self.query(move |connection| {
            let filter = match which {
                WhichTasks::Running => "WHERE calls.outcome IS NULL",
                WhichTasks::All => "",
            };
            let query = format!("{SELECT} {filter} ORDER BY tasks.created_at DESC, call DESC");
            connection.prepare(&query)?.query_map([], read_task)?.collect()
        })
        .await
    }

    /// The task that a call has become, if it has.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn task_for_call(&self, call: CallId) -> Result<Option<StoredTask>, LedgerError> {
        self.query(move |connection| {
            let query = format!("{SELECT} WHERE call = ?1");
            connection.query_row(&query, [call.get()], read_task).optional()
        })
        .await
    }
}

/// Writes a task, or what is new about it.
pub(crate) fn write_task(
    connection: &Connection,
    call: i64,
    at: i64,
    note: &TaskNote,
) -> rusqlite::Result<usize> {
    let TaskNote { place, target, task, state } = note;
    let milliseconds = |time: Duration| i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
    connection.prepare_cached(UPSERT)?.execute(named_params! {
        ":call": call,
        ":server": place.server,
        ":target": target,
        ":instance": i64::try_from(place.instance).unwrap_or(0),
        ":task": task.id,
        ":era": era_word(task.era),
        ":at": at,
        ":poll": state.poll.or(task.poll).map(milliseconds),
        ":ttl": task.ttl.map(milliseconds),
        ":status": state.status.as_str(),
        ":message": state.message,
    })
}

fn read_task(row: &Row<'_>) -> rusqlite::Result<StoredTask> {
    let instance = usize::try_from(read_size(row, "instance")?.unwrap_or(0)).unwrap_or(0);
    let era: String = row.get("era")?;
    let outcome: Option<String> = row.get("outcome")?;
    let outcome = outcome.map(|word| word.parse()).transpose();
    Ok(StoredTask {
        call: CallId(row.get("call")?),
        place: TaskPlace { server: row.get("server")?, instance },
        target: row.get("target")?,
        task: TaskHandle {
            id: row.get("task")?,
            era: if era == era_word(Era::Modern) { Era::Modern } else { Era::Legacy },
            poll: read_size(row, "poll_ms")?.map(Duration::from_millis),
            ttl: read_size(row, "ttl_ms")?.map(Duration::from_millis),
        },
        created_at: read_time(row, "created_at")?.unwrap_or_default(),
        status: row.get("status")?,
        message: row.get("message")?,
        seen_at: read_time(row, "seen_at")?.unwrap_or_default(),
        outcome: outcome
            .map_err(|error: switchboard_core::UnknownOutcome| unreadable(error.to_string()))?,
    })
}

const fn era_word(era: Era) -> &'static str {
    match era {
        Era::Legacy => "2025-11-25",
        Era::Modern => "2026-07-28",
    }
}

#[cfg(test)]
#[path = "tasks_tests.rs"]
mod tests;
