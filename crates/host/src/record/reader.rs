//! Queries on the ledger, each on a connection of its own that can only read.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use jiff::Timestamp;
use rusqlite::types::{Type, ValueRef};
use rusqlite::{Connection, OptionalExtension, Row, ToSql};

use super::call_id::CallId;
use super::entry::VerdictWord;
use super::error::LedgerError;
use super::file::owners_of;
use super::journal::busy;
use super::owners::{is_alive, lock_path};
use super::results::StoredResult;
use super::schema::connect_to_read;
use super::startup;
use crate::outcome::OutcomeKind;
use crate::proposed::TargetKind;

/// Reads a ledger without being able to change it.
#[derive(Debug, Clone)]
pub struct Reader {
    path: Arc<Path>,
    /// The process that reads, if it writes as well: it knows what it has brought in.
    own: Option<Arc<str>>,
}

/// Which calls to list.
#[derive(Debug, Clone)]
pub struct Filter {
    /// Only of this server.
    pub server: Option<String>,
    /// Only those that ended so.
    pub outcome: Option<OutcomeKind>,
    /// Only those opened at or after this time.
    pub since: Option<Timestamp>,
    /// Only those opened before this one: the last of the page before.
    pub before_id: Option<CallId>,
    /// At most so many.
    pub limit: u32,
}

impl Default for Filter {
    fn default() -> Self {
        Self { server: None, outcome: None, since: None, before_id: None, limit: 50 }
    }
}

/// One call in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// The number of the call.
    pub id: CallId,
    /// When it was opened.
    pub created_at: Timestamp,
    /// The face it came through.
    pub face: String,
    /// Who asked there.
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
pub struct Full {
    /// What a list shows.
    pub summary: Summary,
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
    /// When it ended.
    pub finished_at: Option<Timestamp>,
    /// What the server answered.
    pub result: Option<StoredResult>,
    /// What the server answered after the call was closed.
    pub late: Option<Bytes>,
}

/// As long other processes may take to bring in what they promised.
const OTHERS: Duration = Duration::from_millis(200);

/// What a list needs, without the large values.
const IN_A_LIST: &str = "id, created_at, face, caller, server, kind, target, verdict, verdict_by, \
                         outcome, reason, duration_us, result_bytes, \
                         (SELECT task FROM tasks WHERE call = calls.id) AS task";

const EVERYTHING: &str =
    "SELECT *, (SELECT task FROM tasks WHERE call = calls.id) AS task FROM calls";

const BY_REFERENCE: &str = "WHERE reference = ?1 ORDER BY created_at DESC, id DESC LIMIT 1";

impl Reader {
    /// Reads the ledger at `path`.
    #[must_use]
    pub fn at(path: &Path) -> Self {
        Self { path: path.into(), own: None }
    }

    pub(super) fn of_process(path: &Path, owner: &str) -> Self {
        Self { path: path.into(), own: Some(owner.into()) }
    }

    /// Calls that match, newest first.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn list(&self, filter: Filter) -> Result<Vec<Summary>, LedgerError> {
        self.query(move |connection| list(connection, &filter)).await
    }

    /// Everything about one call.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn show(&self, id: CallId) -> Result<Option<Full>, LedgerError> {
        let bodies = startup::bodies(&self.path);
        self.query(move |connection| {
            let query = format!("{EVERYTHING} WHERE id = ?1");
            connection.query_row(&query, [id.get()], |row| full(row, &bodies)).optional()
        })
        .await
    }

    /// Everything about the newest call that its caller named so.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn by_reference(&self, reference: &str) -> Result<Option<Full>, LedgerError> {
        let (reference, bodies) = (reference.to_owned(), startup::bodies(&self.path));
        self.query(move |connection| {
            let query = format!("{EVERYTHING} {BY_REFERENCE}");
            connection.query_row(&query, [reference], |row| full(row, &bodies)).optional()
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

    pub(super) async fn query<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, LedgerError> {
        let path = Arc::clone(&self.path);
        let own = self.own.clone();
        let answer = tokio::task::spawn_blocking(move || {
            wait_for_others(&path, own.as_deref());
            ask(&connect_to_read(&path)?)
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
    let (journals, owners) = (startup::journals(path), owners_of(path));
    let deadline = Instant::now() + OTHERS;
    loop {
        let mut others = busy(&journals);
        others.retain(|owner| Some(owner.as_str()) != own);
        if others.is_empty() {
            return;
        }
        if others.iter().any(|owner| !is_alive(&lock_path(&owners, owner))) {
            // If it cannot be written here, what the database has is all there is to read.
            _ = startup::bring_in(path);
            return;
        }
        if Instant::now() >= deadline {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn list(connection: &Connection, filter: &Filter) -> rusqlite::Result<Vec<Summary>> {
    let outcome = filter.outcome.map(OutcomeKind::as_str);
    let since = filter.since.map(Timestamp::as_microsecond);
    let before = filter.before_id.map(CallId::get);
    // Only what was asked for becomes a condition, so that an index can serve it.
    let mut conditions: Vec<&str> = Vec::new();
    let mut values: Vec<(&str, &dyn ToSql)> = vec![(":limit", &filter.limit)];
    if let Some(server) = &filter.server {
        conditions.push("server = :server");
        values.push((":server", server));
    }
    if let Some(outcome) = &outcome {
        conditions.push("outcome = :outcome");
        values.push((":outcome", outcome));
    }
    if let Some(since) = &since {
        conditions.push("created_at >= :since");
        values.push((":since", since));
    }
    if let Some(before) = &before {
        // Its row gives the place in time, for numbers are not in order between processes.
        conditions.push("(created_at, id) < (SELECT created_at, id FROM calls WHERE id = :before)");
        values.push((":before", before));
    }
    let filtered = if conditions.is_empty() {
        String::new()
    } else {
        format!("WHERE {}", conditions.join(" AND "))
    };
    let query = format!(
        "SELECT {IN_A_LIST} FROM calls {filtered} ORDER BY created_at DESC, id DESC LIMIT :limit"
    );
    let mut statement = connection.prepare(&query)?;
    statement.query_map(values.as_slice(), summary)?.collect()
}

fn summary(row: &Row<'_>) -> rusqlite::Result<Summary> {
    let verdict = match word(row, "verdict", VerdictWord::from_word)? {
        Some(verdict) => Some((verdict, row.get("verdict_by")?)),
        None => None,
    };
    Ok(Summary {
        id: CallId(row.get("id")?),
        created_at: time(row, "created_at")?.unwrap_or_default(),
        face: row.get("face")?,
        caller: row.get("caller")?,
        server: row.get("server")?,
        kind: word(row, "kind", TargetKind::from_word)?.unwrap_or(TargetKind::Tool),
        target: row.get("target")?,
        verdict,
        outcome: word(row, "outcome", |word| OutcomeKind::from_str(word).ok())?,
        reason: row.get("reason")?,
        duration: size(row, "duration_us")?.map(Duration::from_micros),
        result_bytes: size(row, "result_bytes")?,
        task: row.get("task")?,
    })
}

fn full(row: &Row<'_>, bodies: &Path) -> rusqlite::Result<Full> {
    let elsewhere = |column: &str| body(row, column, bodies);
    Ok(Full {
        summary: summary(row)?,
        owner: row.get("owner")?,
        reference: row.get("reference")?,
        definition_digest: row.get("definition_digest")?,
        arguments: match elsewhere("arguments_at")? {
            Some(text) => text.unwrap_or_default(),
            None => bytes(row, "arguments")?.unwrap_or_default(),
        },
        sent_arguments: match elsewhere("sent_arguments_at")? {
            Some(text) => text,
            None => bytes(row, "sent_arguments")?,
        },
        intent_at: time(row, "intent_at")?,
        instance: row.get("instance")?,
        attempts: row.get("attempts")?,
        fallback: row.get("fallback")?,
        message: row.get("message")?,
        hint: row.get("hint")?,
        finished_at: time(row, "finished_at")?,
        result: match elsewhere("result_at")? {
            Some(Some(text)) => Some(StoredResult::Whole(text)),
            Some(None) => Some(StoredResult::Cut {
                head: Bytes::new(),
                tail: Bytes::new(),
                total: size(row, "result_bytes")?.unwrap_or_default(),
                file: None,
            }),
            None => result(row)?,
        },
        late: bytes(row, "late")?,
    })
}

/// A text that is not in its row: none if it is, some nothing if it is gone.
fn body(row: &Row<'_>, column: &str, bodies: &Path) -> rusqlite::Result<Option<Option<Bytes>>> {
    let Some(place) = row.get::<_, Option<String>>(column)? else { return Ok(None) };
    let place = place.parse().map_err(unreadable)?;
    super::bodies::read(bodies, &place)
        .map(Some)
        .map_err(|error| unreadable(format!("`{column}`: {error}")))
}

fn result(row: &Row<'_>) -> rusqlite::Result<Option<StoredResult>> {
    let Some(mut text) = bytes(row, "result")? else { return Ok(None) };
    let Some(head) = size(row, "result_head")? else {
        return Ok(Some(StoredResult::Whole(text)));
    };
    let tail = text.split_off(usize::try_from(head).unwrap_or(usize::MAX).min(text.len()));
    let file: Option<String> = row.get("result_file")?;
    Ok(Some(StoredResult::Cut {
        head: text,
        tail,
        total: size(row, "result_bytes")?.unwrap_or_default(),
        file: file.map(PathBuf::from),
    }))
}

fn word<T>(
    row: &Row<'_>,
    column: &str,
    parse: impl FnOnce(&str) -> Option<T>,
) -> rusqlite::Result<Option<T>> {
    let Some(text) = row.get::<_, Option<String>>(column)? else { return Ok(None) };
    match parse(&text) {
        Some(value) => Ok(Some(value)),
        None => Err(unreadable(format!("`{column}` holds `{text}`"))),
    }
}

pub(super) fn time(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<Timestamp>> {
    let Some(micros) = row.get::<_, Option<i64>>(column)? else { return Ok(None) };
    Timestamp::from_microsecond(micros)
        .map(Some)
        .map_err(|error| unreadable(format!("`{column}`: {error}")))
}

pub(super) fn size(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<u64>> {
    Ok(row.get::<_, Option<i64>>(column)?.map(i64::unsigned_abs))
}

pub(super) fn bytes(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<Bytes>> {
    match row.get_ref(column)? {
        ValueRef::Null => Ok(None),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Ok(Some(Bytes::copy_from_slice(bytes))),
        other => Err(unreadable(format!("`{column}` holds {}", other.data_type()))),
    }
}

pub(super) fn unreadable(reason: String) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, Type::Text, reason.into())
}
