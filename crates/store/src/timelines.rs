//! Timelines of calls, in a separate table because most calls have none.

use rusqlite::Connection;
use switchboard_core::Timeline;

/// The table of timelines. A trigger deletes the timeline of a deleted call.
pub(crate) const FORMAT: &str = "
    CREATE TABLE timelines (call INTEGER PRIMARY KEY, steps TEXT NOT NULL) STRICT;
    CREATE TRIGGER timelines_go_with_their_calls AFTER DELETE ON calls BEGIN
        DELETE FROM timelines WHERE call = old.id;
    END;
";

/// Subquery for the timeline in a query over `calls`.
pub(crate) const COLUMN: &str = "(SELECT steps FROM timelines WHERE call = calls.id)";

const UPSERT: &str = "
    INSERT INTO timelines (call, steps) VALUES (?1, ?2)
    ON CONFLICT (call) DO UPDATE SET steps = excluded.steps";

/// Writes the timeline of a call and returns its text.
pub(crate) fn write(
    connection: &Connection,
    call: i64,
    timeline: &Timeline,
) -> rusqlite::Result<String> {
    let text = timeline.to_text();
    connection.prepare_cached(UPSERT)?.execute((call, &text))?;
    Ok(text)
}

/// Writes the timeline if rows of the call were `changed`, and returns that number.
pub(crate) fn write_if(
    connection: &Connection,
    call: i64,
    timeline: Option<&Timeline>,
    changed: usize,
) -> rusqlite::Result<usize> {
    if let Some(timeline) = timeline.filter(|_| changed > 0) {
        write(connection, call, timeline)?;
    }
    Ok(changed)
}

/// Writes the timeline of a call if it is still open.
pub(crate) fn write_open(
    connection: &Connection,
    call: i64,
    timeline: &Timeline,
) -> rusqlite::Result<usize> {
    // A closed call is sealed, so its timeline must not change.
    let query = "SELECT count(*) FROM calls WHERE id = ?1 AND outcome IS NULL";
    let open: i64 = connection.prepare_cached(query)?.query_row([call], |row| row.get(0))?;
    write_if(connection, call, Some(timeline), usize::try_from(open).unwrap_or(0))
}

#[cfg(test)]
#[path = "timelines_tests.rs"]
mod tests;
