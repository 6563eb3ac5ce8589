//! What is promised about the gateway.

use super::contestant::Contestant;
use super::passes::{Rows, fullest};
use super::route::{Case, LARGE, MANY, Route, SIZES, SMALL, size};
use super::summary::Number;
use crate::report::Target;

/// How often the floor's processor time a call may take.
const LIMITS: [(usize, f64); 2] = [(SMALL, 2.0), (LARGE, 1.5)];
/// How many microseconds a call may take beyond the floor's.
const ADDED: f64 = 100.0;
const IDLE_MB: f64 = 20.0;
const FULL_MB: f64 = 45.0;

/// Compares what was measured with what is promised.
pub(super) fn check(rows: &Rows) -> Vec<Target> {
    let mut targets = Vec::new();
    let was_measured =
        |route: &Route| rows.standings.iter().any(|standing| standing.route == *route);
    // What is promised is about clients over HTTP: two threads that copy a pipe into another are no
    // gateway, and are there to be seen beside one.
    for route in [Route::HttpToHttp, Route::HttpToStdio].into_iter().filter(was_measured) {
        for (bytes, limit) in LIMITS {
            let case = Case { route, bytes, in_flight: MANY };
            let found = against_floor(rows, case, |ours, floor| Number::Cpu.ratio(ours, floor));
            targets.push(Target::at_most(format!("CPU to the floor: {case}"), limit, found, "x"));
        }
        for bytes in SIZES {
            let case = Case { route, bytes, in_flight: 1 };
            let found =
                against_floor(rows, case, |ours, floor| Number::P50.difference(ours, floor));
            let what = format!("p50 beyond the floor's: {case}");
            targets.push(Target::at_most(what, ADDED, found, " µs"));
        }
        let is_ours = |standing: &&super::passes::Standing| {
            standing.route == route && standing.contestant == Contestant::Recorded
        };
        let idle = rows.standings.iter().find(is_ours).map_or(f64::NAN, |one| one.idle_mb);
        targets.push(Target::at_most(format!("resident, idle: {route}"), IDLE_MB, idle, " MB"));
        // Of small calls: 256 large ones that are under way need more than that by themselves.
        let row = rows.find(fullest(route, SMALL), Contestant::Recorded);
        let full = row.map_or(f64::NAN, |row| Number::Resident.largest(&row.turns));
        let what = format!("resident, 256 in flight: {route}, {}", size(SMALL));
        targets.push(Target::at_most(what, FULL_MB, full, " MB"));
    }
    targets
}

fn against_floor(
    rows: &Rows,
    case: Case,
    compare: impl Fn(&[super::running::Turn], &[super::running::Turn]) -> f64,
) -> f64 {
    let ours = rows.find(case, Contestant::Recorded);
    let floor = rows.find(case, Contestant::Floor);
    ours.zip(floor).map_or(f64::NAN, |(ours, floor)| compare(&ours.turns, &floor.turns))
}
