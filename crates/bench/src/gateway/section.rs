//! The tables of gateways.

use serde_json::{Value, json};

use super::contestant::Contestant;
use super::passes::{Row, Rows, fullest};
use super::peers::Peers;
use super::route::{Case, IN_FLIGHT, MANY, Route, SIZES, size};
use super::summary::Number;
use super::targets;
use crate::report::{Section, Table, number};

const LATENCY: &str = "One call at a time, microseconds, medians of the passes. `added` is the \
    median of the differences to `direct` within each pass; to a stdio server over HTTP, `direct` \
    is the same server over HTTP.";
const RATE: &str = "Calls per second, medians of the passes.";
const COST: &str = "CPU is the processor time of the gateway's processes per call at 64 in flight, \
    without the server behind it; `x floor` is the median of the ratios within each pass. Memory \
    is resident, of the same processes: before any load, and the most in the middle of a turn with \
    256 in flight. Ready is the time from its start to its first answer.";

/// What was measured, in three tables, with what was promised and who is missing.
pub(super) fn sections(rows: &Rows, peers: &Peers) -> Vec<Section> {
    let section = |title: &str, note: String, table, targets, measured| Section {
        title: title.to_owned(),
        note,
        table,
        targets,
        measured,
    };
    let (latency, rate) = (latency(rows), rate(rows));
    let mut note = COST.to_owned();
    for (peer, why) in &peers.missing {
        note.push_str(&format!("\n\nNot installed: {}: {why}", peer.title()));
    }
    for (place, why) in &rows.failures {
        note.push_str(&format!("\n\nFailed: {place}: {why}"));
    }
    let none = Vec::new;
    vec![
        section("gateway, one call at a time", LATENCY.to_owned(), latency, none(), Value::Null),
        section("gateway, calls per second", RATE.to_owned(), rate, none(), Value::Null),
        section("gateway, cost", note, cost(rows), targets::check(rows), measured(rows)),
    ]
}

fn latency(rows: &Rows) -> Table {
    let head = vec!["way", "size", "gateway", "p50", "added", "p99", "added"];
    let line = |row: &Row| {
        let mut line = begin(row.case, row.contestant);
        let direct = rows.find(row.case, Contestant::Direct);
        for what in [Number::P50, Number::P99] {
            let added = direct.map(|direct| what.difference(&row.turns, &direct.turns));
            let added = added.filter(|_| row.contestant != Contestant::Direct);
            line.push(number(what.median(&row.turns)));
            line.push(number(added.unwrap_or(f64::NAN)));
        }
        line
    };
    let alone = rows.rows.iter().filter(|row| row.case.in_flight == 1);
    Table { head, rows: alone.map(line).collect() }
}

fn rate(rows: &Rows) -> Table {
    let head = vec!["way", "size", "gateway", "1 in flight", "16", "64", "256"];
    let mut table = Table { head, rows: Vec::new() };
    for (route, contestant, bytes) in standing(rows) {
        let mut line = begin(Case { route, bytes, in_flight: 1 }, contestant);
        for in_flight in IN_FLIGHT {
            let row = rows.find(Case { route, bytes, in_flight }, contestant);
            line.push(number(row.map_or(f64::NAN, |row| Number::Rate.median(&row.turns))));
        }
        table.rows.push(line);
    }
    table
}

fn cost(rows: &Rows) -> Table {
    let head = vec![
        "way",
        "size",
        "gateway",
        "CPU µs/call",
        "x floor",
        "MB idle",
        "MB at 256",
        "ready ms",
    ];
    let mut table = Table { head, rows: Vec::new() };
    for (route, contestant, bytes) in standing(rows) {
        let case = Case { route, bytes, in_flight: MANY };
        if contestant == Contestant::Direct {
            continue;
        }
        let mut line = begin(case, contestant);
        let (row, floor) = (rows.find(case, contestant), rows.find(case, Contestant::Floor));
        let cpu = row.map_or(f64::NAN, |row| Number::Cpu.median(&row.turns));
        let ratio = row.zip(floor).map(|(row, floor)| Number::Cpu.ratio(&row.turns, &floor.turns));
        let full = rows.find(fullest(route, bytes), contestant);
        let full = full.map_or(f64::NAN, |row| Number::Resident.largest(&row.turns));
        let is_it =
            |one: &&super::passes::Standing| one.route == route && one.contestant == contestant;
        let standing = rows.standings.iter().find(is_it);
        let (idle, ready) =
            standing.map_or((f64::NAN, f64::NAN), |one| (one.idle_mb, one.ready_ms));
        line.extend([cpu, ratio.unwrap_or(f64::NAN), idle, full, ready].map(number));
        table.rows.push(line);
    }
    table
}

/// Every gateway on every way with every size, in the order in which they were started.
fn standing(rows: &Rows) -> Vec<(Route, Contestant, usize)> {
    let mut all = Vec::new();
    for route in Route::ALL {
        for bytes in SIZES {
            let here = rows.standings.iter().filter(|one| one.route == route);
            all.extend(here.map(|one| (route, one.contestant, bytes)));
        }
    }
    all
}

fn begin(case: Case, contestant: Contestant) -> Vec<String> {
    vec![case.route.to_string(), size(case.bytes), contestant.title().to_owned()]
}

fn measured(rows: &Rows) -> Value {
    let of = |row: &Row| json!({ "case": row.case, "gateway": row.contestant, "turns": row.turns });
    rows.rows.iter().map(of).collect()
}
