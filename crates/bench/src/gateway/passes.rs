//! Runs all gateways of a route with every load: short turns, pass by pass, each time in a
//! different order. All of them stay running meanwhile.

use std::time::{Duration, Instant};

use super::peers::{self, PeerGateway};
use super::route::GatewayContestant;
use super::route::{CallRoute, GatewayCase, MAX_IN_FLIGHT};
use super::running_gateway::{ProgramPaths, RunningGateway, TurnResult};
use super::{flat, ready, section};
use crate::client::LoadOrder;
use crate::error::Result;
use crate::report::ReportSection;
use crate::suite::SuiteOptions;

/// Maximum duration of a case, once it has had [`MIN_PASSES`].
const CASE_LIMIT: Duration = Duration::from_secs(45);
const MIN_PASSES: usize = 4;

#[derive(Clone, Copy)]
pub(super) struct MeasurePace {
    pub(super) passes: usize,
    pub(super) milliseconds: u64,
}

pub(super) struct GatewayRow {
    pub(super) case: GatewayCase,
    pub(super) contestant: GatewayContestant,
    pub(super) turns: Vec<TurnResult>,
}

/// Start time and idle memory of a gateway on a route.
pub(super) struct GatewayFootprint {
    pub(super) route: CallRoute,
    pub(super) contestant: GatewayContestant,
    pub(super) ready_ms: f64,
    pub(super) idle_mb: f64,
}

#[derive(Default)]
pub(super) struct GatewayRows {
    pub(super) rows: Vec<GatewayRow>,
    pub(super) standings: Vec<GatewayFootprint>,
    /// Gateway and place of each failure, with the reason.
    pub(super) failures: Vec<(String, String)>,
}

struct ContestantEntry {
    contestant: GatewayContestant,
    running: RunningGateway,
    /// Whether it failed; it then takes no more turns on this route.
    failed: bool,
}

impl GatewayRows {
    pub(super) fn find(
        &self,
        case: GatewayCase,
        contestant: GatewayContestant,
    ) -> Option<&GatewayRow> {
        self.rows.iter().find(|row| row.case == case && row.contestant == contestant)
    }
}

/// Measures all gateways on one route.
async fn run_route(
    rows: &mut GatewayRows,
    route: CallRoute,
    contestants: &[GatewayContestant],
    places: ProgramPaths<'_>,
    pace: MeasurePace,
) {
    let mut entries = Vec::new();
    for contestant in contestants.iter().copied().filter(|one| one.takes(route)) {
        eprintln!("{route}: {}", contestant.title());
        match RunningGateway::start(contestant, route, places).await {
            Ok(running) => {
                let ready_ms = running.ready.as_secs_f64() * 1e3;
                let idle_mb = running.idle_mb;
                rows.standings.push(GatewayFootprint { route, contestant, ready_ms, idle_mb });
                entries.push(ContestantEntry { contestant, running, failed: false });
            }
            Err(failure) => {
                let place = format!("{}, {route}", contestant.title());
                rows.failures.push((place, failure.to_string()));
            }
        }
    }
    for case in route.cases() {
        eprintln!("{case}");
        measure(rows, case, &mut entries, pace).await;
    }
    for entry in entries {
        entry.running.stop().await;
    }
}

async fn measure(
    rows: &mut GatewayRows,
    case: GatewayCase,
    entries: &mut [ContestantEntry],
    pace: MeasurePace,
) {
    let MeasurePace { passes, milliseconds } = pace;
    let GatewayCase { bytes, in_flight, .. } = case;
    let order = LoadOrder { milliseconds, bytes, in_flight, connections: in_flight };
    let mut turns: Vec<Vec<TurnResult>> = entries.iter().map(|_| Vec::new()).collect();
    let started = Instant::now();
    // The first pass is a warm-up and is not counted.
    for pass in 0..=passes {
        if pass > MIN_PASSES && started.elapsed() > CASE_LIMIT {
            break;
        }
        // Rotates the order, because the first turn of a pass may be at a disadvantage.
        for place in 0..entries.len() {
            let at = (place + pass) % entries.len();
            let (Some(entry), Some(own)) = (entries.get_mut(at), turns.get_mut(at)) else {
                continue;
            };
            if entry.failed {
                continue;
            }
            match entry.running.turn(order).await {
                Ok(turn) if pass > 0 => own.push(turn),
                Ok(_) => {}
                Err(failure) => {
                    entry.failed = true;
                    let place = format!("{}, {case}", entry.contestant.title());
                    rows.failures.push((place, failure.to_string()));
                }
            }
        }
    }
    for (entry, turns) in entries.iter().zip(turns) {
        if !turns.is_empty() {
            rows.rows.push(GatewayRow { case, contestant: entry.contestant, turns });
        }
    }
}

/// Returns the case in which memory is compared.
pub(super) const fn fullest_case(route: CallRoute, bytes: usize) -> GatewayCase {
    GatewayCase { route, bytes, in_flight: MAX_IN_FLIGHT }
}

/// Measures all gateways, `passes` turns each, and returns the report.
pub(crate) async fn sections(
    options: &SuiteOptions,
    passes: usize,
    milliseconds: u64,
) -> Result<Vec<ReportSection>> {
    let program = std::env::current_exe()?;
    let ours = program.with_file_name("switchboard");
    if !ours.exists() {
        let why = format!("`{}` is missing; `cargo xtask bench gateway` builds it", ours.display());
        return Err(why.into());
    }
    let mut wanted: Vec<PeerGateway> =
        if options.no_peers { Vec::new() } else { PeerGateway::USUAL.to_vec() };
    if options.crate_peer {
        wanted.push(PeerGateway::CrateProxy);
    }
    let target = program.ancestors().nth(2).ok_or("this program is not in a target folder")?;
    let peers = peers::install(target.join("bench-peers"), &wanted).await?;
    let mut contestants = GatewayContestant::OWN.to_vec();
    contestants.extend(peers.installed.iter().copied().map(GatewayContestant::Peer));
    let baseline = options.baseline.as_deref();
    contestants.extend(baseline.map(|_| GatewayContestant::Baseline));
    let testenv = options.testenv.as_deref();
    let places = ProgramPaths { peers: &peers.folder, testenv, baseline };
    let pace = MeasurePace { passes, milliseconds };
    let mut rows = GatewayRows::default();
    for route in CallRoute::ALL {
        run_route(&mut rows, route, &contestants, places, pace).await;
    }
    let mut sections = section::sections(&rows, &peers);
    sections.push(ready::section(passes.min(5)).await?);
    sections.push(flat::section(pace, places).await?);
    Ok(sections)
}
