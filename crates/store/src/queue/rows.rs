//! Table of the review queue, and the statements that read and change it.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, named_params};
use switchboard_files::is_alive;

use crate::queue::entry::{EntryState, QueueEntry, QueuedQuestion};
use crate::queue::store::{QueueAnswer, QueueError};
use crate::queue::user_decision::UserDecision;
use crate::rows::{read_time, unreadable};
use crate::schema::DatabaseSchema;

/// The schema of the queue. The application id reads `SWBW`.
pub(crate) const QUEUE_SCHEMA: DatabaseSchema =
    DatabaseSchema { application: 0x5357_4257, migrations: &[FORMAT_1] };

const FORMAT_1: &str = "
    CREATE TABLE entries (
        id TEXT PRIMARY KEY,
        digest TEXT NOT NULL,
        owner TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        expires_at INTEGER NOT NULL,
        state TEXT NOT NULL DEFAULT 'waiting',
        detail TEXT,
        word TEXT,
        ended_at INTEGER,
        answer TEXT,
        asked TEXT NOT NULL
    ) STRICT;
    CREATE INDEX entries_by_state ON entries (state, created_at);
";

const POST: &str = "
    INSERT INTO entries (id, digest, owner, created_at, expires_at, asked)
    VALUES (:id, :digest, :owner, :now, :expires, :asked) ON CONFLICT DO NOTHING";

/// An answered entry keeps its times; a pending one starts over.
const ADOPT: &str = "
    UPDATE entries SET owner = ?2, asked = ?3,
        created_at = iif(state = 'waiting', ?4, created_at),
        expires_at = iif(state = 'waiting', ?5, expires_at)
    WHERE id = ?1";

const END: &str = "
    UPDATE entries SET state = ?2, detail = ?3, word = ?4, ended_at = ?5, answer = ?6
    WHERE id = ?1 AND state = 'waiting'";

/// How long ended entries are kept, so that a late answer gets a precise error.
const RETENTION: Duration = Duration::from_secs(86_400);
/// Maximum number of pending entries. A person could not work through more.
const MAX_WAITING: i64 = 1_000;
/// Letters and digits that are not easily confused with each other.
const ID_ALPHABET: &[u8; 31] = b"abcdefghjkmnpqrstuvwxyz23456789";
const ID_LEN: usize = 4;
/// Maximum number of attempts to find a free id.
const MAX_ID_TRIES: usize = 16;

/// This process as an owner of entries, and the locks of all owners.
pub(crate) struct LocalOwner {
    pub(crate) name: String,
    /// The folder of owner locks; `None` in memory, where there are no other processes.
    pub(crate) owners: Option<PathBuf>,
}

impl LocalOwner {
    fn is_alive(&self, owner: &str) -> bool {
        owner == self.name || self.owners.as_ref().is_none_or(|owners| is_alive(owners, owner))
    }
}

#[derive(Debug)]
pub(crate) enum QueueRowError {
    Database(rusqlite::Error),
    Refused(QueueError),
}

pub(crate) fn post(
    connection: &Connection,
    here: &LocalOwner,
    asked: &QueuedQuestion,
    limit: Duration,
) -> Result<QueueEntry, QueueRowError> {
    let owner = here.name.as_str();
    let now = Timestamp::now();
    let old = now.as_microsecond().saturating_sub(micros(RETENTION));
    connection
        .prepare_cached("DELETE FROM entries WHERE state <> 'waiting' AND ended_at < ?1")?
        .execute([old])?;
    let count: i64 = connection
        .prepare_cached("SELECT count(*) FROM entries WHERE state = 'waiting'")?
        .query_row([], |row| row.get(0))?;
    if count >= MAX_WAITING {
        let reason = format!("{count} requests are already pending");
        return Err(refuse(QueueError::Store { reason, hint: "answer some of them first" }));
    }
    let text = serde_json::to_string(asked).map_err(|error| unreadable(error.to_string()))?;
    let digest = asked.matter.digest();
    let expires = now.as_microsecond().saturating_add(micros(limit));
    if let Some(id) = find_left_behind(connection, here, asked, &digest)? {
        connection.prepare_cached(ADOPT)?.execute((
            id.as_str(),
            owner,
            text,
            now.as_microsecond(),
            expires,
        ))?;
        return find(connection, &id);
    }
    // Ids are short enough to type, so two of them may collide.
    for _ in 0..MAX_ID_TRIES {
        let id = new_id();
        let added = connection.prepare_cached(POST)?.execute(named_params! {
            ":id": id,
            ":digest": digest,
            ":owner": owner,
            ":now": now.as_microsecond(),
            ":expires": expires,
            ":asked": text,
        })?;
        if added > 0 {
            return find(connection, &id);
        }
    }
    let reason = "no free id was found".to_owned();
    Err(refuse(QueueError::Store { reason, hint: "try again in a moment" }))
}

/// Finds the same question of a process that has ended, pending or answered.
fn find_left_behind(
    connection: &Connection,
    here: &LocalOwner,
    asked: &QueuedQuestion,
    digest: &str,
) -> Result<Option<String>, QueueRowError> {
    if !asked.outlives_its_process() {
        return Ok(None);
    }
    let query = "SELECT * FROM entries WHERE digest = ?1 AND expires_at > ?2
         AND (state = 'waiting' OR answer IS NOT NULL) ORDER BY created_at, id";
    let mut statement = connection.prepare_cached(query)?;
    let now = Timestamp::now().as_microsecond();
    let entries = statement.query_map((digest, now), |row| Ok(read_entry(row).ok()))?;
    for entry in entries {
        let Some(entry) = entry? else { continue };
        // Recompute the digest from the stored question: the digest column could have been changed.
        let is_same = entry.asked.matter.digest() == digest && asked.repeats(&entry.asked);
        if is_same && !here.is_alive(&entry.owner) {
            return Ok(Some(entry.id));
        }
    }
    Ok(None)
}

pub(crate) fn list(connection: &Connection) -> rusqlite::Result<Vec<QueueEntry>> {
    let query = "SELECT * FROM entries WHERE state = 'waiting' ORDER BY created_at, id";
    let mut statement = connection.prepare_cached(query)?;
    // An unreadable entry does not hide the others; it expires like them.
    let entries = statement.query_map([], |row| Ok(read_entry(row).ok()))?;
    entries.filter_map(Result::transpose).collect()
}

pub(crate) fn find(connection: &Connection, id: &str) -> Result<QueueEntry, QueueRowError> {
    let mut statement = connection.prepare_cached("SELECT * FROM entries WHERE id = ?1")?;
    let found = statement.query_row([id], read_entry).optional()?;
    found.ok_or_else(|| refuse(QueueError::Unknown(id.to_owned())))
}

pub(crate) fn answer(
    connection: &Connection,
    answered: &QueueAnswer<'_>,
) -> Result<(), QueueRowError> {
    let entry = find(connection, answered.id)?;
    let id = entry.id.clone();
    let how = match &entry.state {
        EntryState::Waiting => None,
        EntryState::Answered { by, word } => {
            Some(format!("already answered by {by}, with `{word}`"))
        }
        EntryState::Withdrawn { why } => Some(format!("it was withdrawn: {why}")),
        EntryState::Expired => Some("it expired without an answer".to_owned()),
    };
    if let Some(how) = how {
        return Err(refuse(QueueError::Over { id, how }));
    }
    // Both the stored digest and that of the stored question must match, so that the answer is for
    // exactly the question that the person saw.
    if entry.digest != answered.digest || entry.asked.matter.digest() != answered.digest {
        return Err(refuse(QueueError::OtherDigest { id }));
    }
    let state = EntryState::Answered {
        by: answered.by.to_owned(),
        word: answered.decision.word().to_owned(),
    };
    end(connection, &id, &state, Some(answered.decision))?;
    Ok(())
}

/// Ends a pending entry. Returns false if it was not pending.
pub(crate) fn end(
    connection: &Connection,
    id: &str,
    state: &EntryState,
    given: Option<&UserDecision>,
) -> Result<bool, QueueRowError> {
    let (name, detail, word) = match state {
        EntryState::Waiting => return Ok(false),
        EntryState::Answered { by, word } => ("answered", Some(by.as_str()), Some(word.as_str())),
        EntryState::Withdrawn { why } => ("withdrawn", Some(why.as_str()), None),
        EntryState::Expired => ("expired", None, None),
    };
    let answer = given.map(serde_json::to_string).transpose();
    let answer = answer.map_err(|error| unreadable(error.to_string()))?;
    let now = Timestamp::now().as_microsecond();
    let values = (id, name, detail, word, now, answer);
    Ok(connection.prepare_cached(END)?.execute(values)? > 0)
}

pub(crate) fn is_over(connection: &Connection, id: &str) -> rusqlite::Result<bool> {
    let mut statement = connection.prepare_cached("SELECT state FROM entries WHERE id = ?1")?;
    let state: Option<String> = statement.query_row([id], |row| row.get(0)).optional()?;
    Ok(state.is_none_or(|state| state != "waiting"))
}

/// Returns the answer and erases it: it may contain what a person typed into a form.
pub(crate) fn take(
    connection: &Connection,
    id: &str,
    digest: &str,
) -> Result<(EntryState, Option<UserDecision>), QueueRowError> {
    let entry = find(connection, id)?;
    if entry.digest != digest || entry.asked.matter.digest() != digest {
        return Err(refuse(QueueError::OtherDigest { id: id.to_owned() }));
    }
    let mut statement = connection.prepare_cached("SELECT answer FROM entries WHERE id = ?1")?;
    let answer: Option<String> = statement.query_row([id], |row| row.get(0))?;
    let given = answer.map(|text| serde_json::from_str(&text)).transpose();
    let given = given.map_err(|error| unreadable(error.to_string()))?;
    connection.prepare_cached("UPDATE entries SET answer = NULL WHERE id = ?1")?.execute([id])?;
    Ok((entry.state, given))
}

/// Returns the processes with pending entries or answers that were not taken.
pub(crate) fn owners(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let query = "SELECT DISTINCT owner FROM entries WHERE state = 'waiting' OR answer IS NOT NULL";
    connection.prepare_cached(query)?.query_map([], |row| row.get(0))?.collect()
}

pub(crate) fn has_expired(connection: &Connection) -> rusqlite::Result<bool> {
    let query =
        "SELECT EXISTS (SELECT 1 FROM entries WHERE state = 'waiting' AND expires_at <= ?1)";
    let now = Timestamp::now().as_microsecond();
    connection.prepare_cached(query)?.query_row([now], |row| row.get(0))
}

/// Returns the entries of dead processes that will not be asked again.
pub(crate) fn abandoned_entries(
    connection: &Connection,
    dead: &[String],
) -> rusqlite::Result<Vec<String>> {
    let now = Timestamp::now();
    let query =
        "SELECT * FROM entries WHERE owner = ?1 AND (state = 'waiting' OR answer IS NOT NULL)";
    let mut statement = connection.prepare_cached(query)?;
    let mut found = Vec::new();
    for owner in dead {
        let rows =
            statement.query_map([owner], |row| Ok((row.get("id")?, read_entry(row).ok())))?;
        for row in rows {
            let (id, entry): (String, Option<QueueEntry>) = row?;
            let stays = |it: &QueueEntry| it.asked.outlives_its_process() && it.expires_at > now;
            found.extend((!entry.as_ref().is_some_and(stays)).then_some(id));
        }
    }
    Ok(found)
}

/// Ends expired entries and the given abandoned ones, whose answers it erases.
pub(crate) fn sweep(connection: &Connection, abandoned: &[String]) -> rusqlite::Result<()> {
    let now = Timestamp::now().as_microsecond();
    connection.execute(
        "UPDATE entries SET state = 'expired', ended_at = ?1
         WHERE state = 'waiting' AND expires_at <= ?1",
        [now],
    )?;
    for id in abandoned {
        connection.execute(
            "UPDATE entries SET state = 'withdrawn', detail = ?2, ended_at = ?3
             WHERE id = ?1 AND state = 'waiting'",
            (id, "the process that asked has ended", now),
        )?;
        connection.execute("UPDATE entries SET answer = NULL WHERE id = ?1", [id])?;
    }
    Ok(())
}

fn read_entry(row: &Row<'_>) -> rusqlite::Result<QueueEntry> {
    let asked: String = row.get("asked")?;
    let asked: QueuedQuestion =
        serde_json::from_str(&asked).map_err(|error| unreadable(error.to_string()))?;
    let detail: Option<String> = row.get("detail")?;
    let detail = detail.unwrap_or_default();
    let name: String = row.get("state")?;
    let state = match name.as_str() {
        "waiting" => EntryState::Waiting,
        "answered" => {
            let word: Option<String> = row.get("word")?;
            EntryState::Answered { by: detail, word: word.unwrap_or_default() }
        }
        "withdrawn" => EntryState::Withdrawn { why: detail },
        "expired" => EntryState::Expired,
        other => return Err(unreadable(format!("`state` holds `{other}`"))),
    };
    Ok(QueueEntry {
        id: row.get("id")?,
        digest: row.get("digest")?,
        asked,
        created_at: read_time(row, "created_at")?.unwrap_or_default(),
        expires_at: read_time(row, "expires_at")?.unwrap_or_default(),
        owner: row.get("owner")?,
        // Set by `OpenQueue::with_liveness`, which knows the folder of locks.
        is_left: false,
        state,
    })
}

fn new_id() -> String {
    // The standard hasher has random keys that differ per process and per instance.
    let mut chance = RandomState::new().build_hasher().finish();
    let base = ID_ALPHABET.len() as u64;
    let letters = (0..ID_LEN).filter_map(|_| {
        let at = usize::try_from(chance % base).ok()?;
        chance /= base;
        ID_ALPHABET.get(at).copied().map(char::from)
    });
    letters.collect()
}

fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

const fn refuse(error: QueueError) -> QueueRowError {
    QueueRowError::Refused(error)
}

impl From<rusqlite::Error> for QueueRowError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}
