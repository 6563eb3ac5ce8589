//! SQL statements of the writer: inserting and updating rows, reserving ids.

use bytes::Bytes;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, Statement, ToSql, named_params};

use crate::bodies::StoredBody;
use crate::call_id::IdBlock;
use crate::group::{
    CallChange, CallOpening, CloseRow, DecisionDetails, Group, IntentRow, NewRow, ResultBody,
    RowUpdate,
};
use crate::results::StoredResult;
use crate::seal::SealDigest;
use crate::tasks::write_task;
use crate::{redacted_body, seal, timelines};

const INSERT: &str = "
    INSERT OR IGNORE INTO calls (id, owner, created_at, face, caller, server, kind, target,
        definition_digest, verdict, verdict_by, intent_at, instance, attempts, fallback,
        outcome, reason, message, hint, finished_at, duration_us,
        result_bytes, result_head, result_file, arguments, sent_arguments, result, reference,
        arguments_at, sent_arguments_at, result_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18,
        ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31)";

const INTENT: &str = "
    UPDATE calls SET definition_digest = :digest, verdict = :verdict, verdict_by = :verdict_by,
        intent_at = coalesce(intent_at, :at), instance = :instance, attempts = :attempts,
        fallback = coalesce(:fallback, fallback),
        sent_arguments = coalesce(:arguments, sent_arguments),
        sent_arguments_at = coalesce(:arguments_at, sent_arguments_at)
    WHERE id = :id AND outcome IS NULL";

const CLOSE: &str = "
    UPDATE calls SET definition_digest = :digest, verdict = :verdict, verdict_by = :verdict_by,
        outcome = :outcome, reason = :reason, message = :message, hint = :hint,
        finished_at = :at, duration_us = :duration, result_bytes = :bytes,
        result_head = :head, result_file = :file, result = :result, result_at = :place
    WHERE id = :id AND outcome IS NULL";

const LATE: &str = "UPDATE calls SET late = coalesce(late, ?2) WHERE id = ?1";

const PROBE: &str = "UPDATE counters SET value = value + 1 WHERE name = 'probe'";

const RESERVE: &str = "
    UPDATE counters SET value = value + ?1 WHERE name = 'next_id' RETURNING value";

const GIVE_BACK: &str = "
    UPDATE counters SET value = ?1 WHERE name = 'next_id' AND value = ?2";

/// Writes all rows of a group. The caller holds the transaction.
pub(crate) fn write_group(
    connection: &Connection,
    owner: &str,
    group: &mut Group,
) -> rusqlite::Result<()> {
    if !group.inserts.is_empty() {
        let mut statement = connection.prepare_cached(INSERT)?;
        for row in &mut group.inserts {
            row.digest = insert_with(&mut statement, connection, owner, row)?;
        }
    }
    // After the inserts: a change may be about a call that the same group opens.
    for change in &mut group.changes {
        change.landed = apply(connection, change)? > 0;
    }
    Ok(())
}

pub(crate) fn probe(connection: &Connection) -> rusqlite::Result<()> {
    // A real change: SQLite does not touch the disk for an update without effect.
    connection.prepare_cached(PROBE)?.execute([]).map(drop)
}

/// Reserves ids for calls, valid once the transaction is committed.
pub(crate) fn reserve(connection: &Connection, count: i64) -> rusqlite::Result<IdBlock> {
    let mut statement = connection.prepare_cached(RESERVE)?;
    let end: i64 = statement.query_row([count], |row| row.get(0))?;
    Ok(IdBlock { next: end - count, end })
}

/// Returns unused ids, unless another process has reserved ids after them.
pub(crate) fn return_block(connection: &Connection, rest: IdBlock) -> rusqlite::Result<()> {
    connection.execute(GIVE_BACK, [rest.next, rest.end]).map(drop)
}

/// Inserts the row of a call unless it exists: a journal may be replayed twice.
pub(crate) fn insert(connection: &Connection, owner: &str, row: &NewRow) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(INSERT)?;
    insert_with(&mut statement, connection, owner, row).map(drop)
}

/// Inserts a row. Returns the digest for the seal if the row is complete.
fn insert_with(
    statement: &mut Statement<'_>,
    connection: &Connection,
    owner: &str,
    row: &NewRow,
) -> rusqlite::Result<Option<SealDigest>> {
    let NewRow { opening, details, intent, close, .. } = row;
    let CallOpening { created_at, call, arguments } = &**opening;
    let (verdict, verdict_by) = verdict_columns(details);
    let leaving = intent.as_ref().map(|row| &row.intent);
    let outcome = close.as_ref().map(|close| &close.outcome);
    let stored = ResultColumns::new(close.as_ref());
    let arguments = BodyColumns::new(Some(arguments));
    let nothing = Bytes::new();
    let sent = BodyColumns::new(intent.as_ref().and_then(|row| row.sent.as_ref()));
    let values: [&dyn ToSql; 31] = [
        &row.id.get(),
        &owner,
        created_at,
        &&*call.face,
        &&*call.caller,
        &&*call.server,
        &call.kind.as_str(),
        &&*call.target,
        &details.digest.as_deref(),
        &verdict,
        &verdict_by,
        &intent.as_ref().map(|row| row.at),
        &leaving.and_then(|intent| intent.instance.as_deref()),
        &leaving.map_or(0, |intent| intent.attempt),
        &leaving.and_then(|intent| intent.fallback.as_deref()),
        &outcome.map(|outcome| outcome.kind.as_str()),
        &outcome.and_then(|outcome| outcome.reason.as_deref()),
        &outcome.and_then(|outcome| outcome.message.as_deref()),
        &outcome.and_then(|outcome| outcome.hint.as_deref()),
        &close.as_ref().map(|close| close.at),
        &close.as_ref().map(|close| close.duration_us),
        &stored.bytes,
        &stored.head,
        &stored.file,
        // The column is `NOT NULL`, also if the text is in a body file.
        &arguments.text.unwrap_or(JsonText(&nothing)),
        &sent.text,
        &stored.blob.as_deref(),
        &call.reference.as_deref(),
        &arguments.place,
        &sent.place,
        &stored.place,
    ];
    let is_new = statement.execute(values.as_slice())? > 0;
    let timeline = details.timeline.as_ref().filter(|_| is_new);
    let timeline = timeline.map(|steps| timelines::write(connection, row.id.get(), steps));
    let timeline = timeline.transpose()?;
    // The digest of a result file is not known here; sealing reads the row and the file instead.
    if !is_new || close.is_none() || stored.file.is_some() {
        return Ok(None);
    }
    // The owner, at index 1, is not among the sealed columns.
    let sealed = values.iter().enumerate().filter(|(place, _)| *place != 1).map(|(_, one)| *one);
    let timeline = timeline.iter().map(|text| text as &dyn ToSql);
    seal::values_digest(sealed.chain(timeline)).map(Some)
}

/// Applies an update to the row of a call, and returns the number of changed rows.
pub(crate) fn apply(connection: &Connection, change: &CallChange) -> rusqlite::Result<usize> {
    let id = change.id.get();
    match &change.news {
        RowUpdate::Intent(details, row) => {
            let changed = send_intent(connection, id, details, row)?;
            timelines::write_if(connection, id, details.timeline.as_deref(), changed)
        }
        RowUpdate::Close(details, row) => {
            let changed = close(connection, id, details, row)?;
            timelines::write_if(connection, id, details.timeline.as_deref(), changed)
        }
        RowUpdate::Timeline(steps) => timelines::write_open(connection, id, steps),
        RowUpdate::Task(at, note) => write_task(connection, id, *at, note),
        RowUpdate::Late(answer) => connection
            .prepare_cached(LATE)?
            .execute((id, redacted_body::without_secrets(answer).as_ref())),
    }
}

fn send_intent(
    connection: &Connection,
    id: i64,
    details: &DecisionDetails,
    row: &IntentRow,
) -> rusqlite::Result<usize> {
    let (verdict, verdict_by) = verdict_columns(details);
    let intent = &row.intent;
    let sent = BodyColumns::new(row.sent.as_ref());
    connection.prepare_cached(INTENT)?.execute(named_params! {
        ":digest": details.digest.as_deref(),
        ":verdict": verdict,
        ":verdict_by": verdict_by,
        ":at": row.at,
        ":instance": intent.instance.as_deref(),
        ":attempts": intent.attempt,
        ":fallback": intent.fallback.as_deref(),
        ":arguments": sent.text,
        ":arguments_at": sent.place,
        ":id": id,
    })
}

fn close(
    connection: &Connection,
    id: i64,
    details: &DecisionDetails,
    row: &CloseRow,
) -> rusqlite::Result<usize> {
    let (verdict, verdict_by) = verdict_columns(details);
    let stored = ResultColumns::new(Some(row));
    let outcome = &row.outcome;
    connection.prepare_cached(CLOSE)?.execute(named_params! {
        ":digest": details.digest.as_deref(),
        ":verdict": verdict,
        ":verdict_by": verdict_by,
        ":outcome": outcome.kind.as_str(),
        ":reason": outcome.reason.as_deref(),
        ":message": outcome.message.as_deref(),
        ":hint": outcome.hint.as_deref(),
        ":at": row.at,
        ":duration": row.duration_us,
        ":bytes": stored.bytes,
        ":head": stored.head,
        ":file": stored.file,
        ":result": stored.blob.as_deref(),
        ":place": stored.place,
        ":id": id,
    })
}

fn verdict_columns(details: &DecisionDetails) -> (Option<&'static str>, Option<&str>) {
    match &details.verdict {
        Some((word, by)) => (Some(word.as_str()), Some(by)),
        None => (None, None),
    }
}

#[derive(Default)]
struct ResultColumns<'a> {
    bytes: Option<i64>,
    head: Option<i64>,
    file: Option<String>,
    blob: Option<std::borrow::Cow<'a, [u8]>>,
    place: Option<String>,
}

impl<'a> ResultColumns<'a> {
    fn new(close: Option<&'a CloseRow>) -> Self {
        let Some(result) = close.and_then(|close| close.result.as_ref()) else {
            return Self::default();
        };
        let result = match result {
            ResultBody::Row(result) => result,
            ResultBody::InFile(place) => {
                let bytes = i64::try_from(place.length).ok();
                return Self { bytes, place: Some(place.to_string()), ..Self::default() };
            }
        };
        let bytes = i64::try_from(result.total()).ok();
        match result {
            StoredResult::Whole(text) => {
                Self { bytes, blob: Some(text.as_ref().into()), ..Self::default() }
            }
            StoredResult::Cut { head, tail, file, .. } => Self {
                bytes,
                head: i64::try_from(head.len()).ok(),
                file: file.as_ref().map(|file| file.to_string_lossy().into_owned()),
                // Both ends were redacted before they were split off.
                blob: Some([head.as_ref(), tail.as_ref()].concat().into()),
                place: None,
            },
        }
    }
}

#[derive(Default)]
struct BodyColumns<'a> {
    text: Option<JsonText<'a>>,
    place: Option<String>,
}

impl<'a> BodyColumns<'a> {
    fn new(body: Option<&'a StoredBody>) -> Self {
        match body {
            None => Self::default(),
            Some(StoredBody::Inline(text)) => Self { text: Some(JsonText(text)), place: None },
            Some(StoredBody::InFile(place)) => Self { text: None, place: Some(place.to_string()) },
        }
    }
}

/// JSON bytes, stored as SQL text so that other tools can read the column.
#[derive(Clone, Copy)]
pub(crate) struct JsonText<'a>(pub(crate) &'a Bytes);

impl ToSql for JsonText<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Text(self.0)))
    }
}
