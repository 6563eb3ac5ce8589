//! Queries on the ledger, each on a connection of its own that can only read.

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

/// Reads a ledger without being able to change it.
#[derive(Debug, Clone)]
pub struct LedgerReader {
    path: Arc<Path>,
    /// The process that reads, if it writes as well: it knows what it has brought in.
    own: Option<Arc<str>>,
}

/// One call in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallSummary {
    /// The number of the call.
    pub id: CallId,
    /// When it was opened.
    pub created_at: Timestamp,
    /// The face it came through.
    pub face: String,
    pub caller: String,
    /// The server it is for.
    pub server: String,
    /// What kind of thing it names.
    pub kind: TargetKind,
    /// The tool or prompt name, or the resource address.
    pub target: String,
    /// What policy said, and which rule or person.
    pub verdict: Option<(VerdictWord, String)>,
    /// How it ended; none while it is under way.
    pub outcome: Option<OutcomeKind>,
    /// The machine word of the outcome.
    pub reason: Option<String>,
    /// How long it took.
    pub duration: Option<Duration>,
    /// How many bytes the result had.
    pub result_bytes: Option<u64>,
    /// The server's name for the task that it became.
    pub task: Option<String>,
}

/// Everything about one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FullCall {
    /// What a list shows.
    pub summary: CallSummary,
    /// The process that made it.
    pub owner: String,
    /// The caller's own name for it.
    pub reference: Option<String>,
    /// The digest of the definition it was resolved to.
    pub definition_digest: Option<String>,
    /// The JSON text of the arguments, as proposed.
    pub arguments: Bytes,
    /// The arguments that left, if a hook changed them.
    pub sent_arguments: Option<Bytes>,
    /// When the first attempt was about to leave.
    pub intent_at: Option<Timestamp>,
    /// Which process or session of the server got it.
    pub instance: Option<String>,
    /// How many attempts there were.
    pub attempts: u32,
    /// Why another way than the first choice was taken.
    pub fallback: Option<String>,
    /// The sentence of the outcome.
    pub message: Option<String>,
    /// What to do next.
    pub hint: Option<String>,
    pub finished_at: Option<Timestamp>,
    /// What the server answered.
    pub result: Option<StoredResult>,
    /// What the server answered after the call was closed.
    pub late: Option<Bytes>,
    /// What happened between its beginning and its end, beside the above.
    pub timeline: Option<Timeline>,
}

/// As long other processes may take to bring in what they promised.
const OTHER_WRITERS_WAIT: Duration = Duration::from_millis(200);

/// What there is to know about a call.
pub(crate) const FULL_COLUMNS: &str = "*, (SELECT task FROM tasks WHERE call = calls.id) AS task,
    (SELECT steps FROM timelines WHERE call = calls.id) AS timeline";

const BY_REFERENCE: &str = "WHERE reference = ?1 ORDER BY created_at DESC, id DESC LIMIT 1";

impl LedgerReader {
    /// Reads the ledger at `path`.
    #[must_use]
    pub fn at(path: &Path) -> Self {
        Self { path: path.into(), own: None }
    }

    pub(crate) fn for_process(path: &Path, owner: &str) -> Self {
        Self { path: path.into(), own: Some(owner.into()) }
    }

    /// Calls that match, newest first.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn list(&self, filter: Filter) -> Result<Vec<CallSummary>, LedgerError> {
        self.query(move |connection| list(connection, &filter)).await
    }

    /// Everything about one call.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn show(&self, id: CallId) -> Result<Option<FullCall>, LedgerError> {
        let bodies = startup::body_folder(&self.path);
        self.query(move |connection| {
            let query = format!("SELECT {FULL_COLUMNS} FROM calls WHERE id = ?1");
            connection.query_row(&query, [id.get()], |row| read_full(row, &bodies)).optional()
        })
        .await
    }

    /// Everything about the newest call that its caller named so.
    ///
    /// # Errors
    /// If the file cannot be read.
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

    /// What something was sent to by callers whose names for it begin with `conversation` and a
    /// slash: servers, targets, and how often.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn targets_sent_in(
        &self,
        conversation: &str,
    ) -> Result<Vec<(String, String, u64)>, LedgerError> {
        // The character after the slash is the zero.
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

    /// How many calls there are.
    ///
    /// # Errors
    /// If the file cannot be read.
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

/// Gives other processes the time to bring in what they promised; brings in what dead ones left.
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
            // If it cannot be written here, what the database has is all there is to read.
            _ = startup::recover_journals(path);
            return;
        }
        if Instant::now() >= deadline {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}
