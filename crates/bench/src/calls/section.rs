//! The tables of calls.

use serde_json::{Value, json};

use super::case::MAX_IN_FLIGHT;
use super::contestant::ClientContestant;
use super::passes::{ClientRow, ClientRows};
use super::summary::CallMetric;
use super::targets;
use crate::report::{ReportSection, Table, number};

const ALONE: &str = "One call at a time. Microseconds, best / median of the passes; `x floor` is the \
    median of the ratios within each pass; CPU is the client process's own.";
const CROWDED: &str = "64 calls in flight. Best / median of the passes; `x floor` as above.";

/// What was measured, in two tables, and what was promised.
pub(crate) fn sections(rows: &ClientRows) -> Vec<ReportSection> {
    let section = |title: &str, note: &str, table, targets, measured| ReportSection {
        title: title.to_owned(),
        note: note.to_owned(),
        table,
        targets,
        measured,
    };
    vec![
        section("calls, one at a time", ALONE, alone_table(rows), Vec::new(), Value::Null),
        section(
            "calls, 64 in flight",
            CROWDED,
            crowded_table(rows),
            targets::check(rows),
            measurements(rows),
        ),
    ]
}

fn alone_table(rows: &ClientRows) -> Table {
    let head = vec![
        "transport",
        "size",
        "client",
        "p50 µs",
        "x floor",
        "p99 µs",
        "CPU µs/call",
        "x floor",
    ];
    let line = |row: &ClientRow| {
        let mut line = begin(row);
        line.extend([
            pair(row, CallMetric::P50),
            to_floor(rows, row, CallMetric::P50),
            number(CallMetric::P99.median(&row.passes)),
            pair(row, CallMetric::Cpu),
            to_floor(rows, row, CallMetric::Cpu),
        ]);
        line
    };
    let rows = rows.0.iter().filter(|row| row.case.in_flight == 1).map(line).collect();
    Table { head, rows }
}

fn crowded_table(rows: &ClientRows) -> Table {
    let head = vec!["transport", "size", "client", "calls/s", "x floor", "CPU µs/call", "x floor"];
    let line = |row: &ClientRow| {
        let mut line = begin(row);
        line.extend([
            pair(row, CallMetric::Rate),
            to_floor(rows, row, CallMetric::Rate),
            pair(row, CallMetric::Cpu),
            to_floor(rows, row, CallMetric::Cpu),
        ]);
        line
    };
    let rows = rows.0.iter().filter(|row| row.case.in_flight == MAX_IN_FLIGHT).map(line).collect();
    Table { head, rows }
}

fn begin(row: &ClientRow) -> Vec<String> {
    let title = row.contestant.title().to_owned();
    vec![row.case.transport.to_string(), row.case.size(), title]
}

fn pair(row: &ClientRow, what: CallMetric) -> String {
    format!("{} / {}", number(what.best(&row.passes)), number(what.median(&row.passes)))
}

fn to_floor(rows: &ClientRows, row: &ClientRow, what: CallMetric) -> String {
    let floor = rows.find(row.case, ClientContestant::Floor);
    floor.map_or_else(|| "–".to_owned(), |floor| number(what.ratio(&row.passes, &floor.passes)))
}

fn measurements(rows: &ClientRows) -> Value {
    rows.0
        .iter()
        .map(|row| json!({ "case": row.case, "client": row.contestant, "passes": row.passes }))
        .collect()
}
