//! Tables of conversations, and the statements that read and change them.

use std::path::{Path, PathBuf};

use bytes::Bytes;
use jiff::Timestamp;
use rusqlite::types::ToSqlOutput;
use rusqlite::{Connection, OptionalExtension, Row, ToSql, named_params};

use crate::rows::{read_bytes, read_size, read_time, unreadable};
use crate::schema::DatabaseSchema;
use crate::sessions::error::SessionError;
use crate::sessions::id::SessionId;
use crate::sessions::store::{NewSession, SessionStep, SessionSummary};
use crate::statements::JsonText;

/// The schema of the session store. The application id reads `SWBC`.
pub(crate) const SESSIONS_SCHEMA: DatabaseSchema =
    DatabaseSchema { application: 0x5357_4243, migrations: &[FORMAT_1] };

const FORMAT_1: &str = "
    CREATE TABLE sessions (
        id TEXT PRIMARY KEY,
        name TEXT,
        model TEXT NOT NULL,
        folder TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        changed_at INTEGER NOT NULL,
        steps INTEGER NOT NULL,
        parent TEXT,
        parent_step INTEGER,
        opening TEXT
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX sessions_by_change ON sessions (changed_at, id);
    CREATE INDEX sessions_by_name ON sessions (name) WHERE name IS NOT NULL;
    CREATE TABLE steps (
        session TEXT NOT NULL,
        number INTEGER NOT NULL,
        at INTEGER NOT NULL,
        kind TEXT NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (session, number)
    ) STRICT;
    CREATE TABLE texts (
        session TEXT NOT NULL,
        handle TEXT NOT NULL,
        text TEXT NOT NULL,
        PRIMARY KEY (session, handle)
    ) STRICT;
";

const CREATE: &str = "
    INSERT INTO sessions (id, name, model, folder, created_at, changed_at, steps)
    VALUES (:id, :name, :model, :folder, :now, :now, 0) ON CONFLICT DO NOTHING";

const FORK: &str = "
    INSERT INTO sessions
        (id, name, model, folder, created_at, changed_at, steps, parent, parent_step, opening)
    SELECT :id, :name, model, folder, :now, :now, :upto, id, :upto, opening
    FROM sessions WHERE id = :parent ON CONFLICT DO NOTHING";

const COPY_STEPS: &str = "
    INSERT INTO steps (session, number, at, kind, body)
    SELECT ?1, number, at, kind, body FROM steps WHERE session = ?2 AND number <= ?3
    ORDER BY number";

const COPY_TEXTS: &str = "
    INSERT INTO texts (session, handle, text)
    SELECT ?1, handle, text FROM texts WHERE session = ?2";

const ADVANCE: &str = "
    UPDATE sessions SET steps = ?2, changed_at = ?3 WHERE id = ?1 AND steps = ?2 - 1";

const APPEND: &str = "
    INSERT INTO steps (session, number, at, kind, body) VALUES (?1, ?2, ?3, ?4, ?5)";

const KEEP_TEXT: &str = "
    INSERT INTO texts (session, handle, text)
    SELECT ?1, ?2, ?3 FROM sessions WHERE id = ?1
    ON CONFLICT (session, handle) DO UPDATE SET text = excluded.text";

/// Maximum number of attempts to find a free id.
const MAX_ID_TRIES: usize = 16;

#[derive(Debug)]
pub(crate) enum SessionRowError {
    Database(rusqlite::Error),
    Refused(SessionError),
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum SessionField {
    Name,
    Model,
    Opening,
}

pub(crate) fn create(
    connection: &Connection,
    now: Timestamp,
    new: &NewSession,
) -> Result<SessionId, SessionRowError> {
    with_free_id(now, |id| {
        connection.prepare_cached(CREATE)?.execute(named_params! {
            ":id": id.as_str(),
            ":name": new.name.as_deref(),
            ":model": new.model,
            ":folder": FolderText(&new.folder),
            ":now": now.as_microsecond(),
        })
    })
}

/// Copies a conversation up to a step, with all its stored texts.
pub(crate) fn fork(
    connection: &Connection,
    now: Timestamp,
    parent: &SessionId,
    upto: u64,
    name: Option<&str>,
) -> Result<SessionId, SessionRowError> {
    let steps = step_count(connection, parent)?;
    if upto == 0 || upto > steps {
        let id = parent.clone();
        return Err(SessionError::NoSuchStep { id, number: upto, steps }.into());
    }
    let upto = to_database_count(upto);
    let id = with_free_id(now, |id| {
        connection.prepare_cached(FORK)?.execute(named_params! {
            ":id": id.as_str(),
            ":name": name,
            ":now": now.as_microsecond(),
            ":upto": upto,
            ":parent": parent.as_str(),
        })
    })?;
    connection.execute(COPY_STEPS, (id.as_str(), parent.as_str(), upto))?;
    connection.execute(COPY_TEXTS, (id.as_str(), parent.as_str()))?;
    Ok(id)
}

pub(crate) fn append(
    connection: &Connection,
    id: &SessionId,
    step: &SessionStep,
) -> Result<(), SessionRowError> {
    // The conditional update is the check: two processes cannot both add the same step.
    let number = to_database_count(step.number);
    let at = step.at.as_microsecond();
    let advanced = connection.prepare_cached(ADVANCE)?.execute((id.as_str(), number, at))?;
    if advanced == 0 {
        // Fails with `Unknown` if there is no such conversation.
        step_count(connection, id)?;
        return Err(SessionError::Conflict { id: id.clone(), number: step.number }.into());
    }
    let values = (id.as_str(), number, at, &step.kind, JsonText(&step.body));
    connection.prepare_cached(APPEND)?.execute(values)?;
    Ok(())
}

pub(crate) fn set(
    connection: &Connection,
    id: &SessionId,
    field: SessionField,
    value: &str,
) -> Result<(), SessionRowError> {
    let statement = match field {
        SessionField::Name => "UPDATE sessions SET name = ?2 WHERE id = ?1",
        SessionField::Model => "UPDATE sessions SET model = ?2 WHERE id = ?1",
        SessionField::Opening => "UPDATE sessions SET opening = ?2 WHERE id = ?1",
    };
    require_existing(connection.prepare_cached(statement)?.execute((id.as_str(), value))?, id)
}

pub(crate) fn delete(connection: &Connection, id: &SessionId) -> Result<(), SessionRowError> {
    connection.execute("DELETE FROM steps WHERE session = ?1", [id.as_str()])?;
    connection.execute("DELETE FROM texts WHERE session = ?1", [id.as_str()])?;
    require_existing(connection.execute("DELETE FROM sessions WHERE id = ?1", [id.as_str()])?, id)
}

pub(crate) fn keep_text(
    connection: &Connection,
    id: &SessionId,
    handle: &str,
    text: &str,
) -> Result<(), SessionRowError> {
    let changed = connection.prepare_cached(KEEP_TEXT)?.execute((id.as_str(), handle, text))?;
    require_existing(changed, id)
}

pub(crate) fn text(
    connection: &Connection,
    id: &SessionId,
    handle: &str,
) -> rusqlite::Result<Option<String>> {
    let query = "SELECT text FROM texts WHERE session = ?1 AND handle = ?2";
    let mut statement = connection.prepare_cached(query)?;
    statement.query_row((id.as_str(), handle), |row| row.get(0)).optional()
}

/// Returns all steps in order. The caller holds a transaction, so that they are consistent.
pub(crate) fn steps(
    connection: &Connection,
    id: &SessionId,
) -> Result<Vec<SessionStep>, SessionRowError> {
    let count = step_count(connection, id)?;
    let query = "SELECT number, at, kind, body FROM steps WHERE session = ?1 ORDER BY number";
    let mut statement = connection.prepare_cached(query)?;
    let steps: Vec<SessionStep> =
        statement.query_map([id.as_str()], read_step)?.collect::<rusqlite::Result<_>>()?;
    // A conversation with a gap would show a model an exchange that never took place.
    if !steps.iter().map(|step| step.number).eq(1..=count) {
        return Err(unreadable(format!("steps of the conversation `{id}` are missing")).into());
    }
    Ok(steps)
}

pub(crate) fn list(connection: &Connection, limit: u32) -> rusqlite::Result<Vec<SessionSummary>> {
    let query = "SELECT * FROM sessions ORDER BY changed_at DESC, id DESC LIMIT ?1";
    connection.prepare_cached(query)?.query_map([limit], read_summary)?.collect()
}

pub(crate) fn read_summary(row: &Row<'_>) -> rusqlite::Result<SessionSummary> {
    let parent = match row.get::<_, Option<String>>("parent")? {
        Some(parent) => {
            Some((parse_id(&parent)?, read_size(row, "parent_step")?.unwrap_or_default()))
        }
        None => None,
    };
    Ok(SessionSummary {
        id: parse_id(&row.get::<_, String>("id")?)?,
        name: row.get("name")?,
        model: row.get("model")?,
        folder: folder(read_bytes(row, "folder")?.unwrap_or_default()),
        created_at: read_time(row, "created_at")?.unwrap_or_default(),
        changed_at: read_time(row, "changed_at")?.unwrap_or_default(),
        steps: read_size(row, "steps")?.unwrap_or_default(),
        parent,
        opening: row.get("opening")?,
    })
}

fn read_step(row: &Row<'_>) -> rusqlite::Result<SessionStep> {
    Ok(SessionStep {
        number: read_size(row, "number")?.unwrap_or_default(),
        at: read_time(row, "at")?.unwrap_or_default(),
        kind: row.get("kind")?,
        body: read_bytes(row, "body")?.unwrap_or_else(Bytes::new),
    })
}

fn step_count(connection: &Connection, id: &SessionId) -> Result<u64, SessionRowError> {
    let mut statement = connection.prepare_cached("SELECT steps FROM sessions WHERE id = ?1")?;
    let count: Option<i64> = statement.query_row([id.as_str()], |row| row.get(0)).optional()?;
    count.map(i64::unsigned_abs).ok_or_else(|| SessionError::unknown(id).into())
}

fn with_free_id(
    now: Timestamp,
    insert: impl Fn(&SessionId) -> rusqlite::Result<usize>,
) -> Result<SessionId, SessionRowError> {
    for _ in 0..MAX_ID_TRIES {
        let id = SessionId::at(now);
        if insert(&id)? > 0 {
            return Ok(id);
        }
    }
    let reason = "no free id was found".to_owned();
    Err(SessionError::Write { reason, hint: "try again in a moment" }.into())
}

fn require_existing(changed: usize, id: &SessionId) -> Result<(), SessionRowError> {
    if changed == 0 { Err(SessionError::unknown(id).into()) } else { Ok(()) }
}

fn parse_id(text: &str) -> rusqlite::Result<SessionId> {
    SessionId::parse(text).map_err(|error| unreadable(error.to_string()))
}

fn to_database_count(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

impl From<rusqlite::Error> for SessionRowError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

impl From<SessionError> for SessionRowError {
    fn from(error: SessionError) -> Self {
        Self::Refused(error)
    }
}

/// A folder as SQL text. Unix paths need not be UTF-8.
struct FolderText<'a>(&'a Path);

#[cfg(unix)]
impl ToSql for FolderText<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        use std::os::unix::ffi::OsStrExt;

        use rusqlite::types::ValueRef;
        Ok(ToSqlOutput::Borrowed(ValueRef::Text(self.0.as_os_str().as_bytes())))
    }
}

#[cfg(not(unix))]
impl ToSql for FolderText<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.0.to_string_lossy().into_owned()))
    }
}

#[cfg(unix)]
fn folder(text: Bytes) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    std::ffi::OsString::from_vec(text.into()).into()
}

#[cfg(not(unix))]
fn folder(text: Bytes) -> PathBuf {
    String::from_utf8_lossy(&text).into_owned().into()
}
