//! Runs every case with every client: short turns, pass by pass, each time in a different order.
//!
//! All clients of a case stay running, but only one of them works at a time, so that other load on
//! the machine affects all of them alike.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::ValueEnum as _;

use super::contestant::{CallCase, CaseTransport, ClientContestant, Contender, LARGE, all_cases};
use crate::client::HttpServer;
use crate::error::Result;
use crate::load::LoadResult;

/// Maximum duration of a case, once it has had [`MIN_PASSES`].
const CASE_LIMIT: Duration = Duration::from_secs(40);
const MIN_PASSES: usize = 5;

pub(crate) struct CallPlan {
    pub(crate) passes: usize,
    /// Length of a client's turn.
    pub(crate) milliseconds: u64,
    /// Whether the largest payload is skipped.
    pub(crate) quick: bool,
    /// Folder with the SDKs of other languages.
    pub(crate) testenv: Option<PathBuf>,
}

/// Results of one client in one case, pass by pass.
pub(super) struct ClientRow {
    pub(super) case: CallCase,
    pub(super) contestant: ClientContestant,
    pub(super) passes: Vec<LoadResult>,
}

pub(crate) struct ClientRows(pub(super) Vec<ClientRow>);

impl ClientRows {
    pub(super) fn find(&self, case: CallCase, contestant: ClientContestant) -> Option<&ClientRow> {
        self.0.iter().find(|row| row.case == case && row.contestant == contestant)
    }
}

/// Measures all clients in all cases.
pub(crate) async fn run(plan: &CallPlan) -> Result<ClientRows> {
    let mut rows = Vec::new();
    for case in all_cases().into_iter().filter(|case| !plan.quick || case.bytes < LARGE) {
        eprintln!("{case}");
        rows.append(&mut measure(case, plan).await?);
    }
    Ok(ClientRows(rows))
}

async fn measure(case: CallCase, plan: &CallPlan) -> Result<Vec<ClientRow>> {
    let testenv = plan.testenv.as_deref();
    let available =
        ClientContestant::value_variants().iter().copied().filter(|one| one.is_available(testenv));
    let mut contenders = Vec::new();
    let mut rows = Vec::new();
    let mut servers = Vec::new();
    for contestant in available {
        // One server per client, as over stdio.
        let server = match case.transport {
            CaseTransport::Stdio => None,
            CaseTransport::Http => Some(HttpServer::start().await?),
        };
        let url = server.as_ref().map(|server| server.url.as_str());
        let mut contender = Contender::start(contestant, case, url, testenv)?;
        contender.measure(plan.milliseconds * contestant.warm_up()).await?;
        contenders.push(contender);
        servers.push(server);
        rows.push(ClientRow { case, contestant, passes: Vec::new() });
    }
    let started = Instant::now();
    for pass in 0..plan.passes {
        if pass >= MIN_PASSES && started.elapsed() > CASE_LIMIT {
            break;
        }
        // Rotates the order, because the first turn of a pass may be at a disadvantage.
        for place in 0..contenders.len() {
            let turn = (place + pass) % contenders.len();
            if let (Some(contender), Some(row)) = (contenders.get_mut(turn), rows.get_mut(turn)) {
                row.passes.push(contender.measure(plan.milliseconds).await?);
            }
        }
    }
    for contender in contenders {
        contender.stop().await;
    }
    Ok(rows)
}
