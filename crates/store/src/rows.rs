//! Conversion of database rows to calls.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use bytes::Bytes;
use jiff::Timestamp;
use rusqlite::Row;
use rusqlite::types::{Type, ValueRef};
use switchboard_core::{OutcomeKind, TargetKind, Timeline};

use crate::call_id::CallId;
use crate::entry::VerdictWord;
use crate::reader::{CallSummary, FullCall};
use crate::results::StoredResult;

pub(crate) fn read_summary(row: &Row<'_>) -> rusqlite::Result<CallSummary> {
    let verdict = match read_word(row, "verdict", VerdictWord::from_word)? {
        Some(verdict) => Some((verdict, row.get("verdict_by")?)),
        None => None,
    };
    Ok(CallSummary {
        id: CallId(row.get("id")?),
        created_at: read_time(row, "created_at")?.unwrap_or_default(),
        face: row.get("face")?,
        caller: row.get("caller")?,
        server: row.get("server")?,
        kind: read_word(row, "kind", TargetKind::from_word)?.unwrap_or(TargetKind::Tool),
        target: row.get("target")?,
        verdict,
        outcome: read_word(row, "outcome", |word| OutcomeKind::from_str(word).ok())?,
        reason: row.get("reason")?,
        duration: read_size(row, "duration_us")?.map(Duration::from_micros),
        result_bytes: read_size(row, "result_bytes")?,
        task: row.get("task")?,
    })
}

pub(crate) fn read_full(row: &Row<'_>, bodies: &Path) -> rusqlite::Result<FullCall> {
    let elsewhere = |column: &str| read_body(row, column, bodies);
    let timeline: Option<String> = row.get("timeline")?;
    Ok(FullCall {
        summary: read_summary(row)?,
        owner: row.get("owner")?,
        reference: row.get("reference")?,
        definition_digest: row.get("definition_digest")?,
        arguments: match elsewhere("arguments_at")? {
            Some(text) => text.unwrap_or_default(),
            None => read_bytes(row, "arguments")?.unwrap_or_default(),
        },
        sent_arguments: match elsewhere("sent_arguments_at")? {
            Some(text) => text,
            None => read_bytes(row, "sent_arguments")?,
        },
        intent_at: read_time(row, "intent_at")?,
        instance: row.get("instance")?,
        attempts: row.get("attempts")?,
        fallback: row.get("fallback")?,
        message: row.get("message")?,
        hint: row.get("hint")?,
        finished_at: read_time(row, "finished_at")?,
        result: match elsewhere("result_at")? {
            Some(Some(text)) => Some(StoredResult::Whole(text)),
            // The size is still known, although the body file does not have the text any more.
            Some(None) => Some(StoredResult::Cut {
                head: Bytes::new(),
                tail: Bytes::new(),
                total: read_size(row, "result_bytes")?.unwrap_or_default(),
                file: None,
            }),
            None => read_result(row)?,
        },
        late: read_bytes(row, "late")?,
        timeline: timeline.and_then(|text| Timeline::from_text(&text)),
    })
}

/// Reads a text from its body file: `None` if it is in the row, `Some(None)` if the file lost it.
fn read_body(
    row: &Row<'_>,
    column: &str,
    bodies: &Path,
) -> rusqlite::Result<Option<Option<Bytes>>> {
    let Some(place) = row.get::<_, Option<String>>(column)? else { return Ok(None) };
    let place = place.parse().map_err(unreadable)?;
    crate::bodies::read(bodies, &place)
        .map(Some)
        .map_err(|error| unreadable(format!("`{column}`: {error}")))
}

fn read_result(row: &Row<'_>) -> rusqlite::Result<Option<StoredResult>> {
    let Some(mut text) = read_bytes(row, "result")? else { return Ok(None) };
    let Some(head) = read_size(row, "result_head")? else {
        return Ok(Some(StoredResult::Whole(text)));
    };
    let tail = text.split_off(usize::try_from(head).unwrap_or(usize::MAX).min(text.len()));
    let file: Option<String> = row.get("result_file")?;
    Ok(Some(StoredResult::Cut {
        head: text,
        tail,
        total: read_size(row, "result_bytes")?.unwrap_or_default(),
        file: file.map(PathBuf::from),
    }))
}

fn read_word<T>(
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

pub(crate) fn read_time(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<Timestamp>> {
    let Some(micros) = row.get::<_, Option<i64>>(column)? else { return Ok(None) };
    Timestamp::from_microsecond(micros)
        .map(Some)
        .map_err(|error| unreadable(format!("`{column}`: {error}")))
}

pub(crate) fn read_size(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<u64>> {
    Ok(row.get::<_, Option<i64>>(column)?.map(i64::unsigned_abs))
}

pub(crate) fn read_bytes(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<Bytes>> {
    match row.get_ref(column)? {
        ValueRef::Null => Ok(None),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Ok(Some(Bytes::copy_from_slice(bytes))),
        other => Err(unreadable(format!("`{column}` holds {}", other.data_type()))),
    }
}

pub(crate) fn unreadable(reason: String) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, Type::Text, reason.into())
}
