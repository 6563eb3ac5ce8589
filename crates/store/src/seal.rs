//! A hash chain over closed calls: changing, removing or reordering a call breaks it.
//!
//! Every closed call has a seal: a digest of its row, and a digest of that and the previous seal.
//! Sealing does not delay calls; the writer does it when it is idle.

use std::fs::File;
use std::io;
use std::io::Read as _;
use std::path::Path;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension as _, ToSql};
use sha2::{Digest as _, Sha256};
use switchboard_files::parent_folder;

use crate::timelines::COLUMN as TIMELINE;
use crate::{bodies, startup};

/// The table of seals, one per closed call.
pub(crate) const FORMAT: &str = "
    CREATE TABLE seals (
        seq INTEGER PRIMARY KEY,
        call INTEGER NOT NULL UNIQUE,
        digest BLOB NOT NULL,
        chain BLOB NOT NULL
    ) STRICT;
";

/// Columns that a seal covers, in addition to the timeline. The late answer is not covered, because
/// it arrives after the call is closed.
const SEALED_COLUMNS: &str = "id, created_at, face, caller, server, kind, target, definition_digest, \
    verdict, verdict_by, intent_at, instance, attempts, fallback, outcome, reason, message, hint, \
    finished_at, duration_us, result_bytes, result_head, result_file, arguments, sent_arguments, \
    result, reference, arguments_at, sent_arguments_at, result_at";

/// Columns with the place and digest of a text in a body file. The digest seals the text as well.
const BODY_COLUMNS: [&str; 3] = ["arguments_at", "sent_arguments_at", "result_at"];

pub(crate) type SealDigest = [u8; 32];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChainHead {
    pub(crate) seq: i64,
    pub(crate) call: i64,
    pub(crate) chain: SealDigest,
}

/// Seals closed calls in one transaction. A missing digest is computed from the row. Returns the
/// new head of the chain.
pub(crate) fn seal(
    ledger: &Path,
    connection: &Connection,
    calls: &[(i64, Option<SealDigest>)],
) -> rusqlite::Result<Option<ChainHead>> {
    if calls.is_empty() {
        return Ok(None);
    }
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let sealed = seal_inside(ledger, connection, calls).and_then(|head| {
        connection.execute_batch("COMMIT")?;
        Ok(head)
    });
    if sealed.is_err() && !connection.is_autocommit() {
        // Report the first error, not that of the rollback.
        let _second = connection.execute_batch("ROLLBACK");
    }
    sealed
}

fn seal_inside(
    ledger: &Path,
    connection: &Connection,
    calls: &[(i64, Option<SealDigest>)],
) -> rusqlite::Result<Option<ChainHead>> {
    // Read inside the transaction: another process may have extended the chain.
    let mut newest = chain_head(connection)?;
    let mut insert = connection.prepare_cached(
        "INSERT OR IGNORE INTO seals (seq, call, digest, chain) VALUES (?1, ?2, ?3, ?4)",
    )?;
    for (call, known) in calls {
        let digest = match known {
            Some(digest) => Some(*digest),
            None => row_digest(ledger, connection, *call, DigestScope::Everything)?,
        };
        let Some(digest) = digest else { continue };
        let (before, seq) = newest.as_ref().map_or(([0; 32], 1), |head| (head.chain, head.seq + 1));
        let chain = chain_digest(&before, seq, *call, &digest);
        if insert.execute((seq, call, digest.as_slice(), chain.as_slice()))? > 0 {
            newest = Some(ChainHead { seq, call: *call, chain });
        }
    }
    Ok(newest)
}

/// Returns recent closed calls without a seal, which a process left when it ended.
pub(crate) fn unsealed_calls(connection: &Connection, most: usize) -> rusqlite::Result<Vec<i64>> {
    let mut statement = connection.prepare_cached(
        "SELECT id FROM calls WHERE outcome IS NOT NULL
             AND id > coalesce((SELECT max(call) FROM seals) - 8192, 0)
             AND id NOT IN (SELECT call FROM seals) ORDER BY id LIMIT ?1",
    )?;
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    statement.query_map([most], |row| row.get(0))?.collect()
}

pub(crate) fn chain_head(connection: &Connection) -> rusqlite::Result<Option<ChainHead>> {
    let mut statement = connection
        .prepare_cached("SELECT seq, call, chain FROM seals ORDER BY seq DESC LIMIT 1")?;
    statement
        .query_row([], |row| {
            Ok(ChainHead { seq: row.get(0)?, call: row.get(1)?, chain: row.get(2)? })
        })
        .optional()
}

pub(crate) fn chain_digest(
    before: &SealDigest,
    seq: i64,
    call: i64,
    digest: &SealDigest,
) -> SealDigest {
    let mut sum = Sha256::new();
    sum.update(b"switchboard seal 1");
    sum.update(before);
    sum.update(seq.to_le_bytes());
    sum.update(call.to_le_bytes());
    sum.update(digest);
    sum.finalize().into()
}

/// The parts of a call that a digest covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DigestScope {
    /// The row, the digests of long texts, and a result that has its own file.
    Everything,
    /// Without the result file, as in older seals.
    WithoutFile,
}

/// Returns the digest of a closed call, or `None` if there is no such call.
pub(crate) fn row_digest(
    ledger: &Path,
    connection: &Connection,
    call: i64,
    over: DigestScope,
) -> rusqlite::Result<Option<SealDigest>> {
    let query = format!(
        "SELECT {SEALED_COLUMNS}, {TIMELINE} FROM calls WHERE id = ?1 AND outcome IS NOT NULL"
    );
    let mut statement = connection.prepare_cached(&query)?;
    // The last column is the timeline, which is only included if there is one.
    let columns = statement.column_count().saturating_sub(1);
    let results = parent_folder(ledger).join("results");
    statement
        .query_row([call], |row| {
            let mut sum = Sha256::new();
            for column in 0..columns {
                add_value(&mut sum, row.get_ref(column)?);
            }
            match row.get_ref(columns)? {
                ValueRef::Null => {}
                timeline => add_value(&mut sum, timeline),
            }
            let file = row.get::<_, Option<String>>("result_file")?;
            if let Some(file) = file.filter(|_| over == DigestScope::Everything) {
                // A missing or unreadable file gives another digest than the sealed one.
                let whole = file_digest(Path::new(&file), &results).ok();
                sum.update([u8::from(whole.is_some())]);
                sum.update(whole.unwrap_or_default());
            }
            Ok(sum.finalize().into())
        })
        .optional()
}

/// Returns the digest of a row from its column values, in the order of [`SEALED_COLUMNS`].
pub(crate) fn values_digest<'a>(
    values: impl Iterator<Item = &'a dyn ToSql>,
) -> rusqlite::Result<SealDigest> {
    let mut sum = Sha256::new();
    for value in values {
        match value.to_sql()? {
            ToSqlOutput::Borrowed(value) => add_value(&mut sum, value),
            ToSqlOutput::Owned(value) => add_value(&mut sum, ValueRef::from(&value)),
            _ => return Err(rusqlite::Error::InvalidQuery),
        }
    }
    Ok(sum.finalize().into())
}

fn add_value(sum: &mut Sha256, value: ValueRef<'_>) {
    // Kind and length keep adjacent values apart: moving a character from one column to the next
    // changes the digest.
    let mut add = |kind: u8, bytes: &[u8]| {
        sum.update([kind]);
        sum.update((bytes.len() as u64).to_le_bytes());
        sum.update(bytes);
    };
    match value {
        ValueRef::Null => add(0, &[]),
        ValueRef::Integer(number) => add(1, &number.to_le_bytes()),
        ValueRef::Real(number) => add(2, &number.to_le_bytes()),
        ValueRef::Text(text) => add(3, text),
        ValueRef::Blob(blob) => add(4, blob),
    }
}

pub(crate) fn texts_are_whole(
    ledger: &Path,
    connection: &Connection,
    call: i64,
) -> rusqlite::Result<bool> {
    let query = format!("SELECT {} FROM calls WHERE id = ?1", BODY_COLUMNS.join(", "));
    let folder = startup::body_folder(ledger);
    connection.prepare_cached(&query)?.query_row([call], |row| {
        for column in BODY_COLUMNS {
            let Some(place) = row.get::<_, Option<String>>(column)? else { continue };
            let text = place.parse().map(|place| bodies::read(&folder, &place));
            if !matches!(text, Ok(Ok(Some(_)))) {
                return Ok(false);
            }
        }
        Ok(true)
    })
}

/// Returns the digest of a file. Reads it in chunks, because it may be larger than memory.
fn file_digest(file: &Path, results: &Path) -> io::Result<SealDigest> {
    // The state folder may have been moved.
    let moved = results.join(file.file_name().unwrap_or_default());
    let mut opened = File::open(file).or_else(|_| File::open(moved))?;
    let mut sum = Sha256::new();
    let mut piece = vec![0; 64 << 10];
    loop {
        let length = opened.read(&mut piece)?;
        if length == 0 {
            return Ok(sum.finalize().into());
        }
        sum.update(piece.get(..length).unwrap_or_default());
    }
}
