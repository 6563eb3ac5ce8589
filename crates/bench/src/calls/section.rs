//! The report on calls, with its targets.

use serde_json::{Value, json};

use super::contestant::{
    CallCase, CaseTransport, ClientContestant, MAX_IN_FLIGHT, SMALL, all_cases,
};
use super::passes::{ClientRow, ClientRows};
use crate::load::LoadResult;
use crate::meter::{median_difference, median_of, median_ratio};
use crate::report::{PerformanceTarget, ReportSection, Table, at_least, at_most, number};

const ALONE: &str = "One call at a time. Microseconds, best / median of the passes; `x floor` is the \
    median of the ratios within each pass; CPU is the client process's own.";
const CROWDED: &str = "64 calls in flight. Best / median of the passes; `x floor` as above.";

type Metric = fn(&LoadResult) -> f64;

const P50: Metric = |measured| measured.p50;
const CPU: Metric = |measured| measured.cpu;
const RATE: Metric = |measured| measured.rate;

/// Returns two tables, with the targets.
pub(crate) fn sections(rows: &ClientRows) -> Vec<ReportSection> {
    let alone = ReportSection::table("calls, one at a time", ALONE, alone_table(rows));
    let crowded = ReportSection::table("calls, 64 in flight", CROWDED, crowded_table(rows));
    vec![alone, ReportSection { targets: targets(rows), measured: measurements(rows), ..crowded }]
}

fn alone_table(rows: &ClientRows) -> Table {
    let head = "transport|size|client|p50 µs|x floor|p99 µs|CPU µs/call|x floor";
    let line = |row: &ClientRow| {
        let mut line = begin(row);
        line.extend([
            pair(row, P50, f64::min),
            to_floor(rows, row, P50),
            number(median_of(&row.passes, |measured| measured.p99)),
            pair(row, CPU, f64::min),
            to_floor(rows, row, CPU),
        ]);
        line
    };
    let rows = rows.0.iter().filter(|row| row.case.in_flight == 1).map(line).collect();
    Table { head, rows }
}

fn crowded_table(rows: &ClientRows) -> Table {
    let head = "transport|size|client|calls/s|x floor|CPU µs/call|x floor";
    let line = |row: &ClientRow| {
        let mut line = begin(row);
        line.extend([
            pair(row, RATE, f64::max),
            to_floor(rows, row, RATE),
            pair(row, CPU, f64::min),
            to_floor(rows, row, CPU),
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

fn pair(row: &ClientRow, metric: Metric, better: fn(f64, f64) -> f64) -> String {
    let best = row.passes.iter().map(metric).fold(f64::NAN, better);
    format!("{} / {}", number(best), number(median_of(&row.passes, metric)))
}

fn to_floor(rows: &ClientRows, row: &ClientRow, metric: Metric) -> String {
    number(compare(rows, row.case, metric, row.contestant, ClientContestant::Floor))
}

fn measurements(rows: &ClientRows) -> Value {
    rows.0
        .iter()
        .map(|row| json!({ "case": row.case, "client": row.contestant, "passes": row.passes }))
        .collect()
}

fn targets(rows: &ClientRows) -> Vec<PerformanceTarget> {
    let mut targets = Vec::new();
    let was_measured = |case: &CallCase| rows.find(*case, ClientContestant::Wire).is_some();
    for case in all_cases().into_iter().filter(was_measured) {
        let found = compare(rows, case, CPU, ClientContestant::Wire, ClientContestant::Floor);
        let what = format!("wire, CPU to the floor: {case}");
        targets.push(at_most(what, 1.3, found, "x"));
    }
    let crowded =
        CallCase { transport: CaseTransport::Stdio, bytes: SMALL, in_flight: MAX_IN_FLIGHT };
    for (than, name, limit) in [
        (ClientContestant::Rmcp, "rmcp", 4.0),
        (ClientContestant::TypeScript, "the TypeScript SDK", 15.0),
    ] {
        let found = compare(rows, crowded, RATE, ClientContestant::Wire, than);
        let what = format!("wire, calls per second to {name}: {crowded}");
        targets.push(at_least(what, limit, found, "x"));
    }
    for transport in [CaseTransport::Stdio, CaseTransport::Http] {
        let case = CallCase { transport, ..crowded };
        let pair =
            rows.find(case, ClientContestant::Ledger).zip(rows.find(case, ClientContestant::Line));
        let found =
            pair.map_or(f64::NAN, |(on, off)| median_difference(&on.passes, &off.passes, CPU));
        let what = format!("the ledger's CPU per call: {case}");
        targets.push(at_most(what, 40.0, found, " µs"));
    }
    targets
}

fn compare(
    rows: &ClientRows,
    case: CallCase,
    metric: Metric,
    ours: ClientContestant,
    other: ClientContestant,
) -> f64 {
    let pair = rows.find(case, ours).zip(rows.find(case, other));
    pair.map_or(f64::NAN, |(ours, other)| median_ratio(&ours.passes, &other.passes, metric))
}
