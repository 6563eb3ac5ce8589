//! Queries on the ledger, each on its own read-only connection.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension};
use switchboard_core::{OutcomeKind, TargetKind, Timeline};
use switchboard_files::is_alive;

use crate::call_id::CallId;
use crate::entry::VerdictWord;
use crate::error::LedgerError;
use crate::file::owners_folder;
use crate::filter::{Filter, list};
use crate::journal::busy_owners;
use crate::results::StoredResult;
use crate::rows::read_full;
use crate::schema::connect_read_only;
use crate::startup;

/// A read-only view of a ledger, which needs no writer.
#[derive(Debug, Clone)]
pub struct LedgerReader {
    path: Arc<Path>,
    /// The owner name of this process if it also writes; its own entries are already synced.
    own: Option<Arc<str>>,
}

/// One call in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallSummary {
    pub id: CallId,
    pub created_at: Timestamp,
    pub face: String,
    pub caller: String,
    pub server: String,
    pub kind: TargetKind,
    /// Name of the tool or prompt, or URI of the resource.
    pub target: String,
    /// The verdict, and the rule or person that decided.
    pub verdict: Option<(VerdictWord, String)>,
    /// `None` while the call is in flight.
    pub outcome: Option<OutcomeKind>,
    /// The machine-readable reason of the outcome.
    pub reason: Option<String>,
    pub duration: Option<Duration>,
    pub result_bytes: Option<u64>,
    /// The server's id of the task that the call became.
    pub task: Option<String>,
}

/// A call with all its recorded details.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FullCall {
    pub summary: CallSummary,
    /// The process that made the call.
    pub owner: String,
    /// The caller's own name for this call.
    pub reference: Option<String>,
    /// Digest of the definition that the call was resolved to.
    pub definition_digest: Option<String>,
    /// JSON text of the proposed arguments.
    pub arguments: Bytes,
    /// The arguments that were sent, if a hook changed them.
    pub sent_arguments: Option<Bytes>,
    /// When the intent of the first attempt was recorded.
    pub intent_at: Option<Timestamp>,
    /// The process or session of the server that received the call.
    pub instance: Option<String>,
    pub attempts: u32,
    /// Why the instance was not the first choice.
    pub fallback: Option<String>,
    pub message: Option<String>,
    pub hint: Option<String>,
    pub finished_at: Option<Timestamp>,
    pub result: Option<StoredResult>,
    /// The answer that arrived after the call was closed.
    pub late: Option<Bytes>,
    /// Events between the opening and the end of the call.
    pub timeline: Option<Timeline>,
}

/// How long a query waits for other processes to commit their journaled entries. They commit within
/// the batch window unless their disk is slow.
const OTHER_WRITERS_WAIT: Duration = Duration::from_millis(200);

/// The columns that [`FullCall`] is read from.
pub(crate) const FULL_COLUMNS: &str = "*, (SELECT task FROM tasks WHERE call = calls.id) AS task,
    (SELECT steps FROM timelines WHERE call = calls.id) AS timeline";

const BY_REFERENCE: &str = "WHERE reference = ?1 ORDER BY created_at DESC, id DESC LIMIT 1";

impl LedgerReader {
    /// Returns a reader of the ledger at `path`.
    #[must_use]
    pub fn at(path: &Path) -> Self {
        Self { path: path.into(), own: None }
    }

    pub(crate) fn for_process(path: &Path, owner: &str) -> Self {
        Self { path: path.into(), own: Some(owner.into()) }
    }

    /// Returns the matching calls, newest first.
    pub async fn list(&self, filter: Filter) -> Result<Vec<CallSummary>, LedgerError> {
        self.query(move |connection| list(connection, &filter)).await
    }

    /// Returns the full details of a call.
    pub async fn show(&self, id: CallId) -> Result<Option<FullCall>, LedgerError> {
        let bodies = startup::body_folder(&self.path);
        self.query(move |connection| {
            let query = format!("SELECT {FULL_COLUMNS} FROM calls WHERE id = ?1");
            connection.query_row(&query, [id.get()], |row| read_full(row, &bodies)).optional()
        })
        .await
    }

    /// Returns the full details of the newest call with this reference.
    pub async fn find_by_reference(
        &self,
        reference: &str,
    ) -> Result<Option<FullCall>, LedgerError> {
        let reference = reference.to_owned();
        let bodies = startup::body_folder(&self.path);
        self.query(move |connection| {
            let query = format!("SELECT {FULL_COLUMNS} FROM calls {BY_REFERENCE}");
            connection.query_row(&query, [reference], |row| read_full(row, &bodies)).optional()
        })
        .await
    }

    /// Returns the servers and targets that calls were sent to, with the number of calls, for all
    /// calls whose reference starts with `conversation` and a slash.
    pub async fn targets_sent_in(
        &self,
        conversation: &str,
    ) -> Result<Vec<(String, String, u64)>, LedgerError> {
        // A range instead of `LIKE` uses the index: `0` is the character after `/`.
        let from = format!("{conversation}/");
        let to = format!("{conversation}0");
        self.query(move |connection| {
            let query = "SELECT server, target, count(*) FROM calls \
                WHERE reference >= ?1 AND reference < ?2 AND intent_at IS NOT NULL \
                GROUP BY server, target";
            let mut statement = connection.prepare(query)?;
            let times = |row: &rusqlite::Row<'_>| row.get::<_, i64>(2).map(i64::unsigned_abs);
            let found = statement
                .query_map([from, to], |row| Ok((row.get(0)?, row.get(1)?, times(row)?)))?;
            found.collect()
        })
        .await
    }

    /// Returns the number of recorded calls.
    pub async fn count(&self) -> Result<u64, LedgerError> {
        self.query(|connection| {
            let count: i64 =
                connection.query_row("SELECT count(*) FROM calls", [], |row| row.get(0))?;
            Ok(count.unsigned_abs())
        })
        .await
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) async fn query<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, LedgerError> {
        let path = Arc::clone(&self.path);
        let own = self.own.clone();
        let answer = tokio::task::spawn_blocking(move || {
            wait_for_others(&path, own.as_deref());
            ask(&connect_read_only(&path)?)
        })
        .await;
        match answer {
            Ok(answer) => answer.map_err(|error| LedgerError::from_read(&error)),
            Err(error) => Err(LedgerError::Read(error.to_string())),
        }
    }
}

/// Waits until other processes have committed their entries, and recovers those of dead processes.
fn wait_for_others(path: &Path, own: Option<&str>) {
    let journals = startup::journal_folder(path);
    let owners = owners_folder(path);
    let deadline = Instant::now() + OTHER_WRITERS_WAIT;
    loop {
        let mut others = busy_owners(&journals);
        others.retain(|owner| Some(owner.as_str()) != own);
        if others.is_empty() {
            return;
        }
        if others.iter().any(|owner| !is_alive(&owners, owner)) {
            // If recovery cannot write, the query reads what the database has.
            _ = startup::recover_journals(path);
            return;
        }
        if Instant::now() >= deadline {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}
