//! What is promised about the gateway.

use super::contestant::GatewayContestant;
use super::passes::{GatewayRows, fullest_case};
use super::route::{CallRoute, GatewayCase, LARGE, MANY, SIZES, SMALL, size};
use super::summary::TurnMetric;
use crate::report::PerformanceTarget;

/// How often the floor's processor time a call may take.
const CPU_RATIO_LIMITS: [(usize, f64); 2] = [(SMALL, 2.0), (LARGE, 1.5)];
/// How many microseconds a call may take beyond the floor's.
const MAX_ADDED_MICROS: f64 = 100.0;
const MAX_IDLE_MB: f64 = 20.0;
const MAX_LOADED_MB: f64 = 45.0;

/// Compares what was measured with what is promised.
pub(super) fn check(rows: &GatewayRows) -> Vec<PerformanceTarget> {
    let mut targets = Vec::new();
    let was_measured =
        |route: &CallRoute| rows.standings.iter().any(|standing| standing.route == *route);
    // What is promised is about clients over HTTP: two threads that copy a pipe into another are no
    // gateway, and are there to be seen beside one.
    for route in [CallRoute::HttpToHttp, CallRoute::HttpToStdio].into_iter().filter(was_measured) {
        for (bytes, limit) in CPU_RATIO_LIMITS {
            let case = GatewayCase { route, bytes, in_flight: MANY };
            let found = against_floor(rows, case, |ours, floor| TurnMetric::Cpu.ratio(ours, floor));
            targets.push(PerformanceTarget::at_most(
                format!("CPU to the floor: {case}"),
                limit,
                found,
                "x",
            ));
        }
        for bytes in SIZES {
            let case = GatewayCase { route, bytes, in_flight: 1 };
            let found =
                against_floor(rows, case, |ours, floor| TurnMetric::P50.difference(ours, floor));
            let what = format!("p50 beyond the floor's: {case}");
            targets.push(PerformanceTarget::at_most(what, MAX_ADDED_MICROS, found, " µs"));
        }
        let is_ours = |standing: &&super::passes::GatewayFootprint| {
            standing.route == route && standing.contestant == GatewayContestant::Recorded
        };
        let idle = rows.standings.iter().find(is_ours).map_or(f64::NAN, |one| one.idle_mb);
        targets.push(PerformanceTarget::at_most(
            format!("resident, idle: {route}"),
            MAX_IDLE_MB,
            idle,
            " MB",
        ));
        // Of small calls: 256 large ones that are under way need more than that by themselves.
        let row = rows.find(fullest_case(route, SMALL), GatewayContestant::Recorded);
        let full = row.map_or(f64::NAN, |row| TurnMetric::Resident.largest(&row.turns));
        let what = format!("resident, 256 in flight: {route}, {}", size(SMALL));
        targets.push(PerformanceTarget::at_most(what, MAX_LOADED_MB, full, " MB"));
    }
    targets
}

fn against_floor(
    rows: &GatewayRows,
    case: GatewayCase,
    compare: impl Fn(
        &[super::running_gateway::TurnResult],
        &[super::running_gateway::TurnResult],
    ) -> f64,
) -> f64 {
    let ours = rows.find(case, GatewayContestant::Recorded);
    let floor = rows.find(case, GatewayContestant::Floor);
    ours.zip(floor).map_or(f64::NAN, |(ours, floor)| compare(&ours.turns, &floor.turns))
}
