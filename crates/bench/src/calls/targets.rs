//! What is promised about calls.

use super::case::{self, Case, MANY, SMALL, Transport};
use super::contestant::Contestant;
use super::passes::Rows;
use super::summary::Number;
use crate::report::Target;

/// Compares what was measured with what is promised.
pub(super) fn check(rows: &Rows) -> Vec<Target> {
    let mut targets = Vec::new();
    let was_measured = |case: &Case| rows.find(*case, Contestant::Wire).is_some();
    for case in case::all().into_iter().filter(was_measured) {
        let found = compare(rows, case, Number::Cpu, Contestant::Wire, Contestant::Floor);
        targets.push(Target::at_most(format!("wire, CPU to the floor: {case}"), 1.3, found, "x"));
    }
    let crowded = Case { transport: Transport::Stdio, bytes: SMALL, in_flight: MANY };
    let rate = |than| compare(rows, crowded, Number::Rate, Contestant::Wire, than);
    let title = |than: &str| format!("wire, calls per second to {than}: {crowded}");
    targets.push(Target::at_least(title("rmcp"), 4.0, rate(Contestant::Rmcp), "x"));
    let typescript = rate(Contestant::TypeScript);
    targets.push(Target::at_least(title("the TypeScript SDK"), 15.0, typescript, "x"));
    for transport in [Transport::Stdio, Transport::Http] {
        let case = Case { transport, ..crowded };
        let pair = rows.find(case, Contestant::Ledger).zip(rows.find(case, Contestant::Line));
        let found =
            pair.map_or(f64::NAN, |(on, off)| Number::Cpu.difference(&on.passes, &off.passes));
        let what = format!("the ledger's CPU per call: {case}");
        targets.push(Target::at_most(what, 40.0, found, " µs"));
    }
    targets
}

fn compare(rows: &Rows, case: Case, number: Number, ours: Contestant, other: Contestant) -> f64 {
    let pair = rows.find(case, ours).zip(rows.find(case, other));
    pair.map_or(f64::NAN, |(ours, other)| number.ratio(&ours.passes, &other.passes))
}
