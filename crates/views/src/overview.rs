//! View model of the overview: servers by state, pending reviews and the traffic of the last hour.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use switchboard_host::Host;
use switchboard_store::{Minute, Traffic};
use switchboard_trust::PinnedUnseen;

use crate::calls::{CallQuery, CallRow, calls, milliseconds};
use crate::error::ViewError;
use crate::pins::{FoundShown, HeldServerShown, held_servers, scan_findings};
use crate::servers::{ServerRow, servers};

/// Length of the traffic chart.
const CHART_MINUTES: u32 = 60;
/// Maximum number of recent calls.
const MAX_NEWEST_CALLS: u32 = 8;

/// The whole at a glance.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OverviewShown {
    /// Why calls are refused at this moment, if they are: they could not be recorded.
    pub refused: Option<String>,
    /// How many servers there are.
    pub servers: usize,
    /// How many servers are in each state.
    pub states: BTreeMap<String, usize>,
    /// Servers that want something.
    pub attention: Vec<ServerRow>,
    /// How many tools they offer.
    pub tools: usize,
    /// How many things wait for a person.
    pub waiting: usize,
    /// Definitions that are held until somebody approves them.
    pub held: Vec<HeldServerShown>,
    /// Servers that were pinned as they are since this began, because nobody was asked.
    pub pinned_unseen: Vec<PinnedUnseen>,
    /// What the scanner found that a person should look at.
    pub found: Vec<FoundShown>,
    /// The last hour together.
    pub hour: MinuteShown,
    /// Its minutes, the oldest first.
    pub minutes: Vec<MinuteShown>,
    /// The newest calls.
    pub newest: Vec<CallRow>,
}

/// Calls of a stretch of time.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct MinuteShown {
    /// How many calls began.
    pub calls: u64,
    /// How many of them have ended.
    pub ended: u64,
    /// How many did not end well.
    pub failed: u64,
    /// Half of them took no longer.
    pub p50_milliseconds: Option<f64>,
    /// All but one in a hundred took no longer.
    pub p99_milliseconds: Option<f64>,
}

/// Returns the overview.
pub async fn overview(host: &Host) -> Result<OverviewShown, ViewError> {
    let servers = servers(host);
    let Traffic { minutes, whole } = host.ledger().traffic(CHART_MINUTES).await?;
    let query = CallQuery { limit: Some(MAX_NEWEST_CALLS), ..CallQuery::default() };
    let mut states = BTreeMap::new();
    for server in &servers {
        *states.entry(server.state.clone()).or_default() += 1;
    }
    Ok(OverviewShown {
        refused: host.ledger().check().err().map(|error| error.to_string()),
        servers: servers.len(),
        states,
        tools: servers.iter().map(|server| server.tools).sum(),
        attention: servers.into_iter().filter(needs_attention).collect(),
        waiting: host.reviews().list().await?.len(),
        held: held_servers(host),
        pinned_unseen: host.first_use().pinned_unseen().load().to_vec(),
        found: scan_findings(host),
        hour: minute(&whole),
        minutes: minutes.iter().map(minute).collect(),
        newest: calls(host, &query).await?.calls,
    })
}

/// Returns whether a person has to act. Disabled servers were disabled on purpose.
fn needs_attention(server: &ServerRow) -> bool {
    !matches!(server.state.as_str(), "ready" | "starting" | "disabled")
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
