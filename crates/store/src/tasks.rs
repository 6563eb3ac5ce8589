//! Calls that continue as tasks of their server, stored so that any process can finish them.

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

/// A task of a call to be written.
#[derive(Debug, Clone)]
pub struct TaskNote {
    pub place: TaskPlace,
    /// Name of the tool or prompt that became the task.
    pub target: String,
    pub task: TaskHandle,
    /// State as last reported by the server.
    pub state: TaskState,
}

/// A task of a call, as read from the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredTask {
    /// The call that became the task.
    pub call: CallId,
    pub place: TaskPlace,
    /// Name of the tool or prompt that became the task.
    pub target: String,
    pub task: TaskHandle,
    pub created_at: Timestamp,
    /// The last reported status, as the protocol spells it.
    pub status: String,
    /// The server's message about the status.
    pub message: Option<String>,
    pub seen_at: Timestamp,
    /// `None` while the task runs.
    pub outcome: Option<OutcomeKind>,
}

/// Which tasks to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhichTasks {
    /// Tasks whose call has no outcome yet.
    Running,
    All,
}

impl StoredTask {
    /// Returns whether the task's time to live is over, so that the server may have discarded it.
    #[must_use]
    pub fn is_expired(&self) -> bool {
        self.has_expired(Timestamp::now())
    }

    fn has_expired(&self, now: Timestamp) -> bool {
        let kept = self.task.ttl.and_then(|ttl| self.created_at.checked_add(ttl).ok());
        kept.is_some_and(|until| until < now)
    }
}

impl Ledger {
    /// Returns the selected tasks, newest first.
    pub async fn tasks(&self, which: WhichTasks) -> Result<Vec<StoredTask>, LedgerError> {
        match self.reader().await? {
            Some(reader) => reader.tasks(which).await,
            None => Ok(Vec::new()),
        }
    }

    /// Returns the task that a call has become.
    pub async fn task_for_call(&self, call: CallId) -> Result<Option<StoredTask>, LedgerError> {
        match self.reader().await? {
            Some(reader) => reader.task_for_call(call).await,
            None => Ok(None),
        }
    }

    /// Resumes a call that continues as a task, so that it can be closed. If several processes do
    /// so, the first outcome is recorded.
    pub fn resume_call(&self, full: &FullCall) -> OpenCall {
        OpenCall::resume(full, self.writer_link())
    }
}

impl LedgerReader {
    /// Returns the selected tasks, newest first.
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

    /// Returns the task that a call has become.
    pub async fn task_for_call(&self, call: CallId) -> Result<Option<StoredTask>, LedgerError> {
        self.query(move |connection| {
            let query = format!("{SELECT} WHERE call = ?1");
            connection.query_row(&query, [call.get()], read_task).optional()
        })
        .await
    }
}

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
