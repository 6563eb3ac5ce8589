//! What is promised about calls.

use super::case::{self, CallCase, CaseTransport, MAX_IN_FLIGHT, SMALL};
use super::contestant::ClientContestant;
use super::passes::ClientRows;
use super::summary::CallMetric;
use crate::report::PerformanceTarget;

/// Compares what was measured with what is promised.
pub(super) fn check(rows: &ClientRows) -> Vec<PerformanceTarget> {
    let mut targets = Vec::new();
    let was_measured = |case: &CallCase| rows.find(*case, ClientContestant::Wire).is_some();
    for case in case::all().into_iter().filter(was_measured) {
        let found =
            compare(rows, case, CallMetric::Cpu, ClientContestant::Wire, ClientContestant::Floor);
        targets.push(PerformanceTarget::at_most(
            format!("wire, CPU to the floor: {case}"),
            1.3,
            found,
            "x",
        ));
    }
    let crowded =
        CallCase { transport: CaseTransport::Stdio, bytes: SMALL, in_flight: MAX_IN_FLIGHT };
    let rate = |than| compare(rows, crowded, CallMetric::Rate, ClientContestant::Wire, than);
    let title = |than: &str| format!("wire, calls per second to {than}: {crowded}");
    targets.push(PerformanceTarget::at_least(
        title("rmcp"),
        4.0,
        rate(ClientContestant::Rmcp),
        "x",
    ));
    let typescript = rate(ClientContestant::TypeScript);
    targets.push(PerformanceTarget::at_least(title("the TypeScript SDK"), 15.0, typescript, "x"));
    for transport in [CaseTransport::Stdio, CaseTransport::Http] {
        let case = CallCase { transport, ..crowded };
        let pair =
            rows.find(case, ClientContestant::Ledger).zip(rows.find(case, ClientContestant::Line));
        let found =
            pair.map_or(f64::NAN, |(on, off)| CallMetric::Cpu.difference(&on.passes, &off.passes));
        let what = format!("the ledger's CPU per call: {case}");
        targets.push(PerformanceTarget::at_most(what, 40.0, found, " µs"));
    }
    targets
}

fn compare(
    rows: &ClientRows,
    case: CallCase,
    number: CallMetric,
    ours: ClientContestant,
    other: ClientContestant,
) -> f64 {
    let pair = rows.find(case, ours).zip(rows.find(case, other));
    pair.map_or(f64::NAN, |(ours, other)| number.ratio(&ours.passes, &other.passes))
}
