//! The tables of calls.

use serde_json::{Value, json};

use super::case::MANY;
use super::contestant::Contestant;
use super::passes::{Row, Rows};
use super::summary::Number;
use super::targets;
use crate::report::{Section, Table, number};

const ALONE: &str = "One call at a time. Microseconds, best / median of the passes; `x floor` is the \
    median of the ratios within each pass; CPU is the client process's own.";
const CROWDED: &str = "64 calls in flight. Best / median of the passes; `x floor` as above.";

/// What was measured, in two tables, and what was promised.
pub(crate) fn sections(rows: &Rows) -> Vec<Section> {
    let section = |title: &str, note: &str, table, targets, measured| Section {
        title: title.to_owned(),
        note: note.to_owned(),
        table,
        targets,
        measured,
    };
    vec![
        section("calls, one at a time", ALONE, alone(rows), Vec::new(), Value::Null),
        section(
            "calls, 64 in flight",
            CROWDED,
            crowded(rows),
            targets::check(rows),
            measured(rows),
        ),
    ]
}

fn alone(rows: &Rows) -> Table {
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
    let line = |row: &Row| {
        let mut line = begin(row);
        line.extend([
            pair(row, Number::P50),
            to_floor(rows, row, Number::P50),
            number(Number::P99.median(&row.passes)),
            pair(row, Number::Cpu),
            to_floor(rows, row, Number::Cpu),
        ]);
        line
    };
    let rows = rows.0.iter().filter(|row| row.case.in_flight == 1).map(line).collect();
    Table { head, rows }
}

fn crowded(rows: &Rows) -> Table {
    let head = vec!["transport", "size", "client", "calls/s", "x floor", "CPU µs/call", "x floor"];
    let line = |row: &Row| {
        let mut line = begin(row);
        line.extend([
            pair(row, Number::Rate),
            to_floor(rows, row, Number::Rate),
            pair(row, Number::Cpu),
            to_floor(rows, row, Number::Cpu),
        ]);
        line
    };
    let rows = rows.0.iter().filter(|row| row.case.in_flight == MANY).map(line).collect();
    Table { head, rows }
}

fn begin(row: &Row) -> Vec<String> {
    let title = row.contestant.title().to_owned();
    vec![row.case.transport.to_string(), row.case.size(), title]
}

fn pair(row: &Row, what: Number) -> String {
    format!("{} / {}", number(what.best(&row.passes)), number(what.median(&row.passes)))
}

fn to_floor(rows: &Rows, row: &Row, what: Number) -> String {
    let floor = rows.find(row.case, Contestant::Floor);
    floor.map_or_else(|| "–".to_owned(), |floor| number(what.ratio(&row.passes, &floor.passes)))
}

fn measured(rows: &Rows) -> Value {
    rows.0
        .iter()
        .map(|row| json!({ "case": row.case, "client": row.contestant, "passes": row.passes }))
        .collect()
}
