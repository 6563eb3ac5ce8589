//! Runs every gateway of a way with every load: short turns, pass by pass, each time in another
//! order, while all of them are alive.

use std::time::{Duration, Instant};

use super::contestant::Contestant;
use super::route::{Case, MOST, Route};
use super::running::{Places, Running, Turn};
use crate::client::Order;

/// A case with slow gateways ends after this, but not before it had a few passes.
const CASE_LIMIT: Duration = Duration::from_secs(45);
const FEWEST_PASSES: usize = 4;

/// How long to measure.
#[derive(Clone, Copy)]
pub(super) struct Pace {
    pub(super) passes: usize,
    pub(super) milliseconds: u64,
}

/// What one gateway did in one case.
pub(super) struct Row {
    pub(super) case: Case,
    pub(super) contestant: Contestant,
    pub(super) turns: Vec<Turn>,
}

/// What one gateway is on a way, whatever the load.
pub(super) struct Standing {
    pub(super) route: Route,
    pub(super) contestant: Contestant,
    pub(super) ready_ms: f64,
    pub(super) idle_mb: f64,
}

/// Everything that was measured.
#[derive(Default)]
pub(super) struct Rows {
    pub(super) rows: Vec<Row>,
    pub(super) standings: Vec<Standing>,
    /// Who failed, where and why.
    pub(super) failures: Vec<(String, String)>,
}

struct Entry {
    contestant: Contestant,
    running: Running,
    /// Whoever failed once takes no more turns on this way.
    failed: bool,
}

impl Rows {
    /// What a gateway did in a case.
    pub(super) fn find(&self, case: Case, contestant: Contestant) -> Option<&Row> {
        self.rows.iter().find(|row| row.case == case && row.contestant == contestant)
    }
}

/// Measures all gateways on one way.
pub(super) async fn run(
    rows: &mut Rows,
    route: Route,
    contestants: &[Contestant],
    (places, pace): (Places<'_>, Pace),
) {
    let mut entries = Vec::new();
    for contestant in contestants.iter().copied().filter(|one| one.takes(route)) {
        eprintln!("{route}: {}", contestant.title());
        match Running::start(contestant, route, places).await {
            Ok(running) => {
                let ready_ms = running.ready.as_secs_f64() * 1e3;
                let idle_mb = running.idle_mb;
                rows.standings.push(Standing { route, contestant, ready_ms, idle_mb });
                entries.push(Entry { contestant, running, failed: false });
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

async fn measure(rows: &mut Rows, case: Case, entries: &mut [Entry], pace: Pace) {
    let Pace { passes, milliseconds } = pace;
    let Case { bytes, in_flight, .. } = case;
    let order = Order { milliseconds, bytes, in_flight, connections: in_flight };
    let mut turns: Vec<Vec<Turn>> = entries.iter().map(|_| Vec::new()).collect();
    let started = Instant::now();
    // The first pass warms up and does not count.
    for pass in 0..=passes {
        if pass > FEWEST_PASSES && started.elapsed() > CASE_LIMIT {
            break;
        }
        // Whoever comes first may have it worse, so that it is another one each time.
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
            rows.rows.push(Row { case, contestant: entry.contestant, turns });
        }
    }
}

/// The case in which memory is compared.
pub(super) const fn fullest(route: Route, bytes: usize) -> Case {
    Case { route, bytes, in_flight: MOST }
}
