//! The report on gateways.

use serde_json::{Value, json};

use super::passes::{GatewayFootprint, GatewayRow, GatewayRows, fullest_case};
use super::peers::PeerGateways;
use super::route::{
    CallRoute, GatewayCase, GatewayContestant, IN_FLIGHT, LARGE, MANY, SIZES, SMALL, size,
};
use super::running_gateway::TurnResult;
use crate::meter::{median_difference, median_of, median_ratio};
use crate::report::{PerformanceTarget, ReportSection, Table, at_most, number};

const LATENCY: &str = "One call at a time, microseconds, medians of the passes. `added` is the \
    median of the differences to `direct` within each pass; to a stdio server over HTTP, `direct` \
    is the same server over HTTP.";
const RATE: &str = "Calls per second, medians of the passes.";
const COST: &str = "CPU is the processor time of the gateway's processes per call at 64 in flight, \
    without the server behind it; `x floor` is the median of the ratios within each pass. Memory \
    is the resident memory of the same processes: before any load, and the maximum in the middle of \
    a turn with 256 in flight. Ready is the time from its start to its first answer.";

/// Returns three tables, with the targets and the gateways that are missing or failed.
pub(super) fn sections(rows: &GatewayRows, peers: &PeerGateways) -> Vec<ReportSection> {
    let mut note = COST.to_owned();
    for (peer, why) in &peers.missing {
        note.push_str(&format!("\n\nNot installed: {}: {why}", peer.title()));
    }
    for (place, why) in &rows.failures {
        note.push_str(&format!("\n\nFailed: {place}: {why}"));
    }
    let cost = ReportSection::table("gateway, cost", note, cost(rows));
    vec![
        ReportSection::table("gateway, one call at a time", LATENCY, latency(rows)),
        ReportSection::table("gateway, calls per second", RATE, rate(rows)),
        ReportSection { targets: check_targets(rows), measured: measurements(rows), ..cost },
    ]
}

fn latency(rows: &GatewayRows) -> Table {
    let head = "route|size|gateway|p50|added|p99|added";
    let line = |row: &GatewayRow| {
        let mut line = begin(row.case, row.contestant);
        let direct = rows.find(row.case, GatewayContestant::Direct);
        let metrics: [fn(&TurnResult) -> f64; 2] = [|turn| turn.p50, |turn| turn.p99];
        for metric in metrics {
            let added = direct.map(|direct| median_difference(&row.turns, &direct.turns, metric));
            let added = added.filter(|_| row.contestant != GatewayContestant::Direct);
            line.push(number(median_of(&row.turns, metric)));
            line.push(number(added.unwrap_or(f64::NAN)));
        }
        line
    };
    let alone = rows.rows.iter().filter(|row| row.case.in_flight == 1);
    Table { head, rows: alone.map(line).collect() }
}

fn rate(rows: &GatewayRows) -> Table {
    let head = "route|size|gateway|1 in flight|16|64|256";
    let mut table = Table { head, rows: Vec::new() };
    for (route, contestant, bytes) in table_keys(rows) {
        let mut line = begin(GatewayCase { route, bytes, in_flight: 1 }, contestant);
        for in_flight in IN_FLIGHT {
            let row = rows.find(GatewayCase { route, bytes, in_flight }, contestant);
            line.push(number(row.map_or(f64::NAN, |row| median_of(&row.turns, |turn| turn.rate))));
        }
        table.rows.push(line);
    }
    table
}

fn cost(rows: &GatewayRows) -> Table {
    let head = "route|size|gateway|CPU µs/call|x floor|MB idle|MB at 256|ready ms";
    let mut table = Table { head, rows: Vec::new() };
    for (route, contestant, bytes) in table_keys(rows) {
        let case = GatewayCase { route, bytes, in_flight: MANY };
        if contestant == GatewayContestant::Direct {
            continue;
        }
        let mut line = begin(case, contestant);
        let row = rows.find(case, contestant);
        let floor = rows.find(case, GatewayContestant::Floor);
        let cpu = row.map_or(f64::NAN, |row| median_of(&row.turns, |turn| turn.cpu));
        let ratio = row
            .zip(floor)
            .map(|(row, floor)| median_ratio(&row.turns, &floor.turns, |turn| turn.cpu));
        let full = rows.find(fullest_case(route, bytes), contestant);
        let full = full.map_or(f64::NAN, |row| largest(&row.turns));
        let is_it = |one: &&GatewayFootprint| one.route == route && one.contestant == contestant;
        let standing = rows.standings.iter().find(is_it);
        let (idle, ready) =
            standing.map_or((f64::NAN, f64::NAN), |one| (one.idle_mb, one.ready_ms));
        line.extend([cpu, ratio.unwrap_or(f64::NAN), idle, full, ready].map(number));
        table.rows.push(line);
    }
    table
}

/// Returns every gateway on every route with every size, in the order in which they were started.
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

/// Maximum processor time of a call relative to the floor's, by payload size.
const CPU_RATIO_LIMITS: [(usize, f64); 2] = [(SMALL, 2.0), (LARGE, 1.5)];
/// Maximum latency that a call adds to the floor's, in microseconds.
const MAX_ADDED_MICROS: f64 = 100.0;
const MAX_IDLE_MB: f64 = 20.0;
const MAX_LOADED_MB: f64 = 45.0;

/// Compares the results with the targets.
fn check_targets(rows: &GatewayRows) -> Vec<PerformanceTarget> {
    let mut targets = Vec::new();
    let was_measured =
        |route: &CallRoute| rows.standings.iter().any(|standing| standing.route == *route);
    // Targets apply to clients over HTTP only: between pipes, the floor is two threads that copy
    // bytes, which is not comparable to a gateway.
    for route in [CallRoute::HttpToHttp, CallRoute::HttpToStdio].into_iter().filter(was_measured) {
        for (bytes, limit) in CPU_RATIO_LIMITS {
            let case = GatewayCase { route, bytes, in_flight: MANY };
            let found =
                against_floor(rows, case, |ours, floor| median_ratio(ours, floor, |turn| turn.cpu));
            targets.push(at_most(format!("CPU to the floor: {case}"), limit, found, "x"));
        }
        for bytes in SIZES {
            let case = GatewayCase { route, bytes, in_flight: 1 };
            let found = against_floor(rows, case, |ours, floor| {
                median_difference(ours, floor, |turn| turn.p50)
            });
            let what = format!("p50 beyond the floor's: {case}");
            targets.push(at_most(what, MAX_ADDED_MICROS, found, " µs"));
        }
        let is_ours = |standing: &&GatewayFootprint| {
            standing.route == route && standing.contestant == GatewayContestant::Recorded
        };
        let idle = rows.standings.iter().find(is_ours).map_or(f64::NAN, |one| one.idle_mb);
        targets.push(at_most(format!("resident, idle: {route}"), MAX_IDLE_MB, idle, " MB"));
        // With small calls, because 256 large ones in flight alone need more than the limit.
        let row = rows.find(fullest_case(route, SMALL), GatewayContestant::Recorded);
        let full = row.map_or(f64::NAN, |row| largest(&row.turns));
        let what = format!("resident, 256 in flight: {route}, {}", size(SMALL));
        targets.push(at_most(what, MAX_LOADED_MB, full, " MB"));
    }
    targets
}

fn against_floor(
    rows: &GatewayRows,
    case: GatewayCase,
    compare: impl Fn(&[TurnResult], &[TurnResult]) -> f64,
) -> f64 {
    let ours = rows.find(case, GatewayContestant::Recorded);
    let floor = rows.find(case, GatewayContestant::Floor);
    ours.zip(floor).map_or(f64::NAN, |(ours, floor)| compare(&ours.turns, &floor.turns))
}

/// Returns the maximum resident memory of all turns.
fn largest(turns: &[TurnResult]) -> f64 {
    turns.iter().map(|turn| turn.resident_mb).fold(f64::NAN, f64::max)
}
