//! The tables of gateways.

use serde_json::{Value, json};

use super::contestant::GatewayContestant;
use super::passes::{GatewayRow, GatewayRows, fullest_case};
use super::peers::PeerGateways;
use super::route::{CallRoute, GatewayCase, IN_FLIGHT, MANY, SIZES, size};
use super::summary::TurnMetric;
use super::targets;
use crate::report::{ReportSection, Table, number};

const LATENCY: &str = "One call at a time, microseconds, medians of the passes. `added` is the \
    median of the differences to `direct` within each pass; to a stdio server over HTTP, `direct` \
    is the same server over HTTP.";
const RATE: &str = "Calls per second, medians of the passes.";
const COST: &str = "CPU is the processor time of the gateway's processes per call at 64 in flight, \
    without the server behind it; `x floor` is the median of the ratios within each pass. Memory \
    is resident, of the same processes: before any load, and the most in the middle of a turn with \
    256 in flight. Ready is the time from its start to its first answer.";

/// What was measured, in three tables, with what was promised and who is missing.
pub(super) fn sections(rows: &GatewayRows, peers: &PeerGateways) -> Vec<ReportSection> {
    let section = |title: &str, note: String, table, targets, measured| ReportSection {
        title: title.to_owned(),
        note,
        table,
        targets,
        measured,
    };
    let latency = latency(rows);
    let rate = rate(rows);
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
        section("gateway, cost", note, cost(rows), targets::check(rows), measurements(rows)),
    ]
}

fn latency(rows: &GatewayRows) -> Table {
    let head = vec!["way", "size", "gateway", "p50", "added", "p99", "added"];
    let line = |row: &GatewayRow| {
        let mut line = begin(row.case, row.contestant);
        let direct = rows.find(row.case, GatewayContestant::Direct);
        for what in [TurnMetric::P50, TurnMetric::P99] {
            let added = direct.map(|direct| what.difference(&row.turns, &direct.turns));
            let added = added.filter(|_| row.contestant != GatewayContestant::Direct);
            line.push(number(what.median(&row.turns)));
            line.push(number(added.unwrap_or(f64::NAN)));
        }
        line
    };
    let alone = rows.rows.iter().filter(|row| row.case.in_flight == 1);
    Table { head, rows: alone.map(line).collect() }
}

fn rate(rows: &GatewayRows) -> Table {
    let head = vec!["way", "size", "gateway", "1 in flight", "16", "64", "256"];
    let mut table = Table { head, rows: Vec::new() };
    for (route, contestant, bytes) in table_keys(rows) {
        let mut line = begin(GatewayCase { route, bytes, in_flight: 1 }, contestant);
        for in_flight in IN_FLIGHT {
            let row = rows.find(GatewayCase { route, bytes, in_flight }, contestant);
            line.push(number(row.map_or(f64::NAN, |row| TurnMetric::Rate.median(&row.turns))));
        }
        table.rows.push(line);
    }
    table
}

fn cost(rows: &GatewayRows) -> Table {
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
    for (route, contestant, bytes) in table_keys(rows) {
        let case = GatewayCase { route, bytes, in_flight: MANY };
        if contestant == GatewayContestant::Direct {
            continue;
        }
        let mut line = begin(case, contestant);
        let row = rows.find(case, contestant);
        let floor = rows.find(case, GatewayContestant::Floor);
        let cpu = row.map_or(f64::NAN, |row| TurnMetric::Cpu.median(&row.turns));
        let ratio =
            row.zip(floor).map(|(row, floor)| TurnMetric::Cpu.ratio(&row.turns, &floor.turns));
        let full = rows.find(fullest_case(route, bytes), contestant);
        let full = full.map_or(f64::NAN, |row| TurnMetric::Resident.largest(&row.turns));
        let is_it = |one: &&super::passes::GatewayFootprint| {
            one.route == route && one.contestant == contestant
        };
        let standing = rows.standings.iter().find(is_it);
        let (idle, ready) =
            standing.map_or((f64::NAN, f64::NAN), |one| (one.idle_mb, one.ready_ms));
        line.extend([cpu, ratio.unwrap_or(f64::NAN), idle, full, ready].map(number));
        table.rows.push(line);
    }
    table
}

/// Every gateway on every way with every size, in the order in which they were started.
fn table_keys(rows: &GatewayRows) -> Vec<(CallRoute, GatewayContestant, usize)> {
    let mut all = Vec::new();
    for route in CallRoute::ALL {
        for bytes in SIZES {
            let here = rows.standings.iter().filter(|one| one.route == route);
            all.extend(here.map(|one| (route, one.contestant, bytes)));
        }
    }
    all
}

fn begin(case: GatewayCase, contestant: GatewayContestant) -> Vec<String> {
    vec![case.route.to_string(), size(case.bytes), contestant.title().to_owned()]
}

fn measurements(rows: &GatewayRows) -> Value {
    let of = |row: &GatewayRow| json!({ "case": row.case, "gateway": row.contestant, "turns": row.turns });
    rows.rows.iter().map(of).collect()
}
