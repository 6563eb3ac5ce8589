//! Measures the gateways that are wanted, and reports.

use std::path::PathBuf;

use super::contestant::Contestant;
use super::passes::{self, Pace, Rows};
use super::peers::{self, Peer};
use super::route::Route;
use super::running::Places;
use super::{flat, ready, section};
use crate::failure::Result;
use crate::report::Section;
use crate::words::Words;

/// What is wanted beside ourselves.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wish {
    no_peers: bool,
    crate_peer: bool,
}

impl Wish {
    pub(crate) fn from_words(words: &mut Words) -> Self {
        Self { no_peers: words.switch("--no-peers"), crate_peer: words.switch("--crate-peer") }
    }
}

/// Measures, `passes` turns each, and gives what to print.
pub(crate) async fn sections(
    wish: Wish,
    passes: usize,
    milliseconds: u64,
    testenv: Option<PathBuf>,
) -> Result<Vec<Section>> {
    let program = std::env::current_exe()?;
    let ours = program.with_file_name("switchboard");
    if !ours.exists() {
        let why = format!("`{}` is missing; `cargo xtask bench gateway` builds it", ours.display());
        return Err(why.into());
    }
    let mut wanted: Vec<Peer> = if wish.no_peers { Vec::new() } else { Peer::USUAL.to_vec() };
    if wish.crate_peer {
        wanted.push(Peer::CrateProxy);
    }
    let target = program.ancestors().nth(2).ok_or("this program lies in no target folder")?;
    let peers = peers::install(target.join("bench-peers"), &wanted).await?;
    let mut contestants = Contestant::OWN.to_vec();
    contestants.extend(peers.installed.iter().copied().map(Contestant::Peer));
    let places = Places { peers: &peers.folder, testenv: testenv.as_deref() };
    let pace = Pace { passes, milliseconds };
    let mut rows = Rows::default();
    for route in Route::ALL {
        passes::run(&mut rows, route, &contestants, (places, pace)).await;
    }
    let mut sections = section::sections(&rows, &peers);
    sections.push(ready::section(passes.min(5)).await?);
    sections.push(flat::section(pace, places).await?);
    Ok(sections)
}
