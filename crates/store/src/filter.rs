//! Filters over recorded calls: SQL conditions, and pages that are returned within a bounded time.

use std::time::{Duration, Instant};

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Row, ToSql};
use switchboard_core::OutcomeKind;

use crate::call_id::CallId;
use crate::error::LedgerError;
use crate::ledger::Ledger;
use crate::reader::{CallSummary, FULL_COLUMNS, FullCall, LedgerReader};
use crate::rows::{read_full, read_summary};
use crate::startup;

/// Number of calls per slice if a condition has no index: target, caller or text.
const SLICE_ROWS: u32 = 5_000;
/// How long a search without an index continues to older slices; the page then says how far it got.
const MAX_SEARCH_TIME: Duration = Duration::from_millis(80);

/// The columns of a list entry, without the large values.
const LIST_COLUMNS: &str = "id, created_at, face, caller, server, kind, target, verdict, verdict_by, \
                         outcome, reason, duration_us, result_bytes, \
                         (SELECT task FROM tasks WHERE call = calls.id) AS task";

/// Uses `instr` instead of `LIKE`, so that no character of the text is a wildcard.
const TEXT_CONDITION: &str = "(instr(lower(target), :text) OR instr(lower(caller), :text) \
                        OR instr(lower(coalesce(message, '')), :text))";

/// A bare name matches a person, a model or a client of that name.
const CALLER_CONDITION: &str =
    "caller IN (:caller, 'person:' || :caller, 'model:' || :caller, 'client:' || :caller)";

/// Conditions on the calls to list. A call matches if it meets all of them.
#[derive(Debug, Clone)]
pub struct Filter {
    pub server: Option<String>,
    /// Name of the tool or prompt, or URI of the resource.
    pub target: Option<String>,
    /// `client:name`, or the bare name.
    pub caller: Option<String>,
    pub outcome: Option<OutcomeKind>,
    /// Only calls opened at or after this time.
    pub since: Option<Timestamp>,
    /// Only calls opened before this time.
    pub until: Option<Timestamp>,
    /// Text in the target, the caller or the message, ignoring case.
    pub text: Option<String>,
    /// The last call of the previous page.
    pub before_id: Option<CallId>,
    pub limit: u32,
}

impl Default for Filter {
    fn default() -> Self {
        Self {
            server: None,
            target: None,
            caller: None,
            outcome: None,
            since: None,
            until: None,
            text: None,
            before_id: None,
            limit: 50,
        }
    }
}

impl Filter {
    /// Restricts the filter to calls that are at most this old.
    #[must_use]
    pub fn within(self, age: Duration) -> Self {
        Self { since: Timestamp::now().checked_sub(age).ok(), ..self }
    }
}

/// A page of calls, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallPage {
    pub calls: Vec<CallSummary>,
    /// Start of the searched period, if the search stopped before the oldest call.
    pub looked_back_to: Option<Timestamp>,
}

impl Ledger {
    /// Returns the matching calls, newest first. The search time is bounded, so older matches may
    /// be missing; see `CallPage::looked_back_to`.
    pub async fn page(&self, filter: Filter) -> Result<CallPage, LedgerError> {
        match self.reader().await? {
            Some(reader) => reader.page(filter).await,
            None => Ok(CallPage::default()),
        }
    }

    /// Returns the full details of the matching calls, newest first.
    pub async fn list_full(&self, filter: Filter) -> Result<Vec<FullCall>, LedgerError> {
        match self.reader().await? {
            Some(reader) => reader.list_full(filter).await,
            None => Ok(Vec::new()),
        }
    }
}

impl LedgerReader {
    /// Returns the matching calls, newest first. The search time is bounded, so older matches may
    /// be missing; see `CallPage::looked_back_to`.
    pub async fn page(&self, filter: Filter) -> Result<CallPage, LedgerError> {
        self.query(move |connection| {
            let begun = Instant::now();
            page(connection, &filter, SLICE_ROWS, || begun.elapsed() < MAX_SEARCH_TIME)
        })
        .await
    }

    /// Returns the full details of the matching calls, newest first.
    pub async fn list_full(&self, filter: Filter) -> Result<Vec<FullCall>, LedgerError> {
        let bodies = startup::body_folder(self.path());
        self.query(move |connection| {
            query_matching(connection, &filter, FULL_COLUMNS, |row| read_full(row, &bodies))
        })
        .await
    }
}

/// Searches slice by slice, from new calls to old ones, while `has_time` returns true.
fn page(
    connection: &Connection,
    filter: &Filter,
    slice: u32,
    has_time: impl Fn() -> bool,
) -> rusqlite::Result<CallPage> {
    let is_scanned = filter.target.is_some() || filter.caller.is_some() || filter.text.is_some();
    if !is_scanned {
        return Ok(CallPage { calls: list(connection, filter)?, looked_back_to: None });
    }
    let mut calls = Vec::new();
    let mut rest = filter.clone();
    loop {
        let floor = slice_start(connection, &rest, slice)?;
        let since = filter.since.max(floor);
        calls.append(&mut list(connection, &Filter { since, ..rest.clone() })?);
        rest.limit = filter.limit.saturating_sub(u32::try_from(calls.len()).unwrap_or(u32::MAX));
        if floor.is_none() || rest.limit == 0 || !has_time() {
            return Ok(CallPage { calls, looked_back_to: floor });
        }
        rest.until = floor;
    }
}

/// Returns when the oldest call of the next slice was opened; `None` if less than a slice is left.
fn slice_start(
    connection: &Connection,
    filter: &Filter,
    slice: u32,
) -> rusqlite::Result<Option<Timestamp>> {
    // Without the unindexed conditions, this query walks only the index.
    let all = Filter { target: None, caller: None, text: None, limit: slice, ..filter.clone() };
    let FilterClause { clause, values } = FilterClause::new(&all);
    let query = format!(
        "SELECT created_at FROM calls {clause} ORDER BY created_at DESC, id DESC \
         LIMIT 1 OFFSET :limit"
    );
    let bound: Vec<(&str, &dyn ToSql)> =
        values.iter().map(|(name, value)| (*name, &**value)).collect();
    let floor: Option<i64> =
        connection.query_row(&query, bound.as_slice(), |row| row.get(0)).optional()?;
    Ok(floor.and_then(|floor| Timestamp::from_microsecond(floor).ok()))
}

pub(crate) fn list(connection: &Connection, filter: &Filter) -> rusqlite::Result<Vec<CallSummary>> {
    query_matching(connection, filter, LIST_COLUMNS, read_summary)
}

fn query_matching<T>(
    connection: &Connection,
    filter: &Filter,
    columns: &str,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<T>> {
    let FilterClause { clause, values } = FilterClause::new(filter);
    let query = format!(
        "SELECT {columns} FROM calls {clause} ORDER BY created_at DESC, id DESC LIMIT :limit"
    );
    let bound: Vec<(&str, &dyn ToSql)> =
        values.iter().map(|(name, value)| (*name, &**value)).collect();
    connection.prepare(&query)?.query_map(bound.as_slice(), read)?.collect()
}

/// The `WHERE` clause of a filter and the values to bind.
struct FilterClause {
    clause: String,
    values: Vec<(&'static str, Box<dyn ToSql>)>,
}

impl FilterClause {
    /// Adds a condition only for the fields that are set, so that SQLite can use an index.
    fn new(filter: &Filter) -> Self {
        let mut conditions: Vec<&str> = Vec::new();
        let mut values: Vec<(&'static str, Box<dyn ToSql>)> =
            vec![(":limit", Box::new(filter.limit))];
        let mut add = |condition, name, value: Option<Box<dyn ToSql>>| {
            if let Some(value) = value {
                conditions.push(condition);
                values.push((name, value));
            }
        };
        let text =
            |text: &Option<String>| text.clone().map(|text| Box::new(text) as Box<dyn ToSql>);
        let time =
            |at: Option<Timestamp>| at.map(|at| Box::new(at.as_microsecond()) as Box<dyn ToSql>);
        add("server = :server", ":server", text(&filter.server));
        add("target = :target", ":target", text(&filter.target));
        add(CALLER_CONDITION, ":caller", text(&filter.caller));
        let outcome = filter.outcome.map(|kind| kind.as_str().to_owned());
        // SQLite uses the partial index on failed calls only if the query repeats its condition.
        let of_outcome = match filter.outcome {
            Some(OutcomeKind::Ok) => "outcome = :outcome",
            _ => "outcome = :outcome AND outcome <> 'ok'",
        };
        add(of_outcome, ":outcome", text(&outcome));
        add("created_at >= :since", ":since", time(filter.since));
        add("created_at < :until", ":until", time(filter.until));
        // Ids are not ordered between processes, so the page starts at the time of that call.
        add(
            "(created_at, id) < (SELECT created_at, id FROM calls WHERE id = :before)",
            ":before",
            filter.before_id.map(|id| Box::new(id.get()) as Box<dyn ToSql>),
        );
        add(TEXT_CONDITION, ":text", text(&filter.text.as_ref().map(|text| text.to_lowercase())));
        let clause = if conditions.is_empty() {
            String::new()
        } else {
            format!("WHERE {}", conditions.join(" AND "))
        };
        Self { clause, values }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::LEDGER_SCHEMA;

    fn ledger(count: i64) -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        for migration in LEDGER_SCHEMA.migrations {
            connection.execute_batch(migration).unwrap();
        }
        let insert = "INSERT INTO calls (id, owner, created_at, face, caller, server, kind, \
                      target, outcome, arguments) \
                      VALUES (?1, 'o', ?1, 'cli', ?2, 's', 'tool', ?3, ?4, '{}')";
        for id in 1..=count {
            let caller = if id % 2 == 0 { "client:even" } else { "person:odd" };
            let outcome = if id % 10 == 0 { "tool_error" } else { "ok" };
            connection.execute(insert, (id, caller, format!("tool{}", id % 5), outcome)).unwrap();
        }
        connection
    }

    /// Returns the ids found within `looks` slices, and the start of the searched period.
    fn search_pages(
        connection: &Connection,
        filter: &Filter,
        slice: u32,
        looks: u32,
    ) -> (Vec<i64>, Option<i64>) {
        let left = std::cell::Cell::new(looks);
        let page = page(connection, filter, slice, || {
            left.set(left.get() - 1);
            left.get() > 0
        });
        let page = page.unwrap();
        let ids = page.calls.iter().map(|call| call.id.get()).collect();
        (ids, page.looked_back_to.map(Timestamp::as_microsecond))
    }

    #[test]
    fn what_no_index_tells_is_looked_for_in_so_many_calls_and_goes_on_before_them() {
        let connection = ledger(40);
        let of = |text: &str| Some(text.to_owned());
        let even = Filter { caller: of("even"), ..Filter::default() };
        let check = |filter: &Filter, slice: u32, looks: u32, ids: &[i64], back_to: Option<i64>| {
            assert_eq!(search_pages(&connection, filter, slice, looks), (ids.to_vec(), back_to));
        };
        check(&even, 10, 1, &[40, 38, 36, 34, 32, 30], Some(30));
        let until = Timestamp::from_microsecond(30).ok();
        check(&Filter { until, ..even.clone() }, 10, 1, &[28, 26, 24, 22, 20], Some(19));
        let all: Vec<i64> = (1..=20).rev().map(|half| half * 2).collect();
        check(&even, 10, 9, &all, None);
        check(&even, 3, 99, &all, None);
        let three = Filter { caller: of("even"), limit: 3, ..Filter::default() };
        check(&three, 2, 99, &[40, 38, 36], Some(35));
        let since = Timestamp::from_microsecond(33).ok();
        check(&Filter { since, ..even }, 3, 99, &[40, 38, 36, 34], None);
        let tool = Filter { target: of("tool0"), limit: 2, ..Filter::default() };
        check(&tool, 100, 1, &[40, 35], None);
        let named = Filter { caller: of("person:odd"), text: of("TOOL1"), ..Filter::default() };
        check(&named, 100, 1, &[31, 21, 11, 1], None);
        check(&Filter { text: of("nowhere"), ..Filter::default() }, 10, 2, &[], Some(19));
        let failed = Filter { outcome: Some(OutcomeKind::ToolError), ..Filter::default() };
        check(&failed, 1, 1, &[40, 30, 20, 10], None);
    }

    #[test]
    fn every_filter_that_an_index_can_serve_is_served_by_one() {
        let connection = ledger(1);
        let failed = Some(OutcomeKind::ToolError);
        for (filter, index) in [
            (Filter::default(), "calls_by_time"),
            (Filter { server: Some("s".to_owned()), ..Filter::default() }, "calls_by_server"),
            (Filter { outcome: failed, ..Filter::default() }, "calls_not_well"),
        ] {
            let FilterClause { clause, values } = FilterClause::new(&filter);
            let query = format!(
                "EXPLAIN QUERY PLAN SELECT id FROM calls {clause} \
                 ORDER BY created_at DESC, id DESC LIMIT :limit"
            );
            let bound: Vec<(&str, &dyn ToSql)> =
                values.iter().map(|(name, value)| (*name, &**value)).collect();
            let mut statement = connection.prepare(&query).unwrap();
            let plan: Vec<String> = statement
                .query_map(bound.as_slice(), |row| row.get("detail"))
                .unwrap()
                .collect::<Result<_, _>>()
                .unwrap();
            assert!(plan[0].contains(index), "{plan:?}");
            assert_eq!(plan.len(), 1, "nothing is sorted: {plan:?}");
        }
    }
}
