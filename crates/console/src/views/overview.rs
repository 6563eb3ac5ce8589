//! The whole at a glance: servers by state, what waits, and how busy the last hour was.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use switchboard_store::{Minute, Traffic};
use switchboard_trust::PinnedUnseen;

use super::calls::{CallQuery, CallRow, calls, milliseconds};
use super::pins::{FoundShown, HeldServerShown, held_servers, scan_findings};
use super::servers::{ServerRow, servers};
use crate::console::Console;
use crate::reply::ApiError;

/// So many minutes are looked at.
const CHART_MINUTES: u32 = 60;
/// So many of the newest calls are shown.
const MAX_NEWEST_CALLS: u32 = 8;

/// The whole at a glance.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct OverviewShown {
    /// Why calls are refused at this moment, if they are: they could not be recorded.
    pub(crate) refused: Option<String>,
    /// How many servers there are.
    pub(crate) servers: usize,
    /// How many servers are in each state.
    pub(crate) states: BTreeMap<&'static str, usize>,
    /// Servers that want something.
    pub(crate) attention: Vec<ServerRow>,
    /// How many tools they offer.
    pub(crate) tools: usize,
    /// How many things wait for a person.
    pub(crate) waiting: usize,
    /// Definitions that are held until somebody approves them.
    pub(crate) held: Vec<HeldServerShown>,
    /// Servers that were pinned as they are since this began, because nobody was asked.
    pub(crate) pinned_unseen: Vec<PinnedUnseen>,
    /// What the scanner found that a person should look at.
    pub(crate) found: Vec<FoundShown>,
    /// The last hour together.
    pub(crate) hour: MinuteShown,
    /// Its minutes, the oldest first.
    pub(crate) minutes: Vec<MinuteShown>,
    /// The newest calls.
    pub(crate) newest: Vec<CallRow>,
}

/// Calls of a stretch of time.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct MinuteShown {
    /// How many calls began.
    pub(crate) calls: u64,
    /// How many of them have ended.
    pub(crate) ended: u64,
    /// How many did not end well.
    pub(crate) failed: u64,
    /// Half of them took no longer.
    pub(crate) p50_milliseconds: Option<f64>,
    /// All but one in a hundred took no longer.
    pub(crate) p99_milliseconds: Option<f64>,
}

/// Gathers the whole.
pub(crate) async fn overview(console: &Console) -> Result<OverviewShown, ApiError> {
    let servers = servers(console);
    let traffic = console.host.ledger().traffic(CHART_MINUTES).await;
    let Traffic { minutes, whole } =
        traffic.map_err(|error| ApiError::internal(error.to_string()))?;
    let query = CallQuery { limit: Some(MAX_NEWEST_CALLS), ..CallQuery::default() };
    let mut states = BTreeMap::new();
    for server in &servers {
        *states.entry(server.state).or_default() += 1;
    }
    let waiting = console.host.reviews().list().await;
    Ok(OverviewShown {
        refused: console.host.ledger().check().err().map(|error| error.to_string()),
        servers: servers.len(),
        states,
        tools: servers.iter().map(|server| server.tools).sum(),
        attention: servers.into_iter().filter(needs_attention).collect(),
        waiting: waiting.map_err(|error| ApiError::internal(error.to_string()))?.len(),
        held: held_servers(console),
        pinned_unseen: console.host.first_use().pinned_unseen().load().to_vec(),
        found: scan_findings(console),
        hour: minute(&whole),
        minutes: minutes.iter().map(minute).collect(),
        newest: calls(console, &query).await?.calls,
    })
}

/// Whoever was switched off wants nothing.
fn needs_attention(server: &ServerRow) -> bool {
    !matches!(server.state, "ready" | "starting" | "disabled")
}

fn minute(minute: &Minute) -> MinuteShown {
    let taken = |duration: Option<Duration>| duration.map(milliseconds);
    MinuteShown {
        calls: minute.calls,
        ended: minute.ended,
        failed: minute.failed,
        p50_milliseconds: taken(minute.median),
        p99_milliseconds: taken(minute.slowest),
    }
}
