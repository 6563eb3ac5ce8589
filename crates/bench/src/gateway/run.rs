//! Measures the gateways that are wanted, and reports.

use std::path::PathBuf;

use super::contestant::GatewayContestant;
use super::passes::{self, GatewayRows, MeasurePace};
use super::peers::{self, PeerGateway};
use super::route::CallRoute;
use super::running_gateway::ProgramPaths;
use super::{flat, ready, section};
use crate::command_words::CommandWords;
use crate::error::Result;
use crate::report::ReportSection;

/// What is wanted beside ourselves.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PeerOptions {
    no_peers: bool,
    crate_peer: bool,
}

impl PeerOptions {
    pub(crate) fn from_words(words: &mut CommandWords) -> Self {
        Self { no_peers: words.switch("--no-peers"), crate_peer: words.switch("--crate-peer") }
    }
}

/// Measures, `passes` turns each, and gives what to print.
pub(crate) async fn sections(
    wish: PeerOptions,
    passes: usize,
    milliseconds: u64,
    testenv: Option<PathBuf>,
) -> Result<Vec<ReportSection>> {
    let program = std::env::current_exe()?;
    let ours = program.with_file_name("switchboard");
    if !ours.exists() {
        let why = format!("`{}` is missing; `cargo xtask bench gateway` builds it", ours.display());
        return Err(why.into());
    }
    let mut wanted: Vec<PeerGateway> =
        if wish.no_peers { Vec::new() } else { PeerGateway::USUAL.to_vec() };
    if wish.crate_peer {
        wanted.push(PeerGateway::CrateProxy);
    }
    let target = program.ancestors().nth(2).ok_or("this program lies in no target folder")?;
    let peers = peers::install(target.join("bench-peers"), &wanted).await?;
    let mut contestants = GatewayContestant::OWN.to_vec();
    contestants.extend(peers.installed.iter().copied().map(GatewayContestant::Peer));
    let places = ProgramPaths { peers: &peers.folder, testenv: testenv.as_deref() };
    let pace = MeasurePace { passes, milliseconds };
    let mut rows = GatewayRows::default();
    for route in CallRoute::ALL {
        passes::run(&mut rows, route, &contestants, places, pace).await;
    }
    let mut sections = section::sections(&rows, &peers);
    sections.push(ready::section(passes.min(5)).await?);
    sections.push(flat::section(pace, places).await?);
    Ok(sections)
}
