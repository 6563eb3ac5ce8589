//! View model of the overview: servers by state, pending reviews and the traffic of the last hour.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use switchboard_host::Host;
use switchboard_store::{Minute, Traffic};
use switchboard_trust::PinnedUnseen;

use crate::calls::{CallQuery, CallRow, calls, milliseconds};
use crate::error::ViewError;
use crate::pins::{FoundShown, HeldServerShown, held_servers, scan_findings};
use crate::servers::{ServerRow, servers};

const CHART_MINUTES: u32 = 60;
const MAX_NEWEST_CALLS: u32 = 8;

/// Servers, pending reviews, quarantine and traffic at a glance.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OverviewShown {
    /// Reason why all calls are rejected, if they are: the record cannot be written.
    pub refused: Option<String>,
    /// Number of configured servers.
    pub servers: usize,
    /// Number of servers in each state.
    pub states: BTreeMap<String, usize>,
    /// Servers that need a person to act.
    pub attention: Vec<ServerRow>,
    /// Number of tools of all servers.
    pub tools: usize,
    /// Number of entries in the review queue.
    pub waiting: usize,
    /// Definitions that are in quarantine, by server.
    pub held: Vec<HeldServerShown>,
    /// Servers pinned without a review since the start, because no person could be asked.
    pub pinned_unseen: Vec<PinnedUnseen>,
    /// Scanner findings that a person should review.
    pub found: Vec<FoundShown>,
    /// Totals of the last hour.
    pub hour: MinuteShown,
    /// Minutes of the last hour, oldest first.
    pub minutes: Vec<MinuteShown>,
    /// Most recent calls, newest first.
    pub newest: Vec<CallRow>,
}

/// Number and latency of the calls in an interval.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct MinuteShown {
    /// Number of calls that started.
    pub calls: u64,
    /// Number of those calls that have ended.
    pub ended: u64,
    /// Number of those calls that failed.
    pub failed: u64,
    /// Median duration in milliseconds.
    pub p50_milliseconds: Option<f64>,
    /// 99th percentile of the duration in milliseconds.
    pub p99_milliseconds: Option<f64>,
}

/// Builds the overview of the host.
pub async fn overview(host: &Host) -> Result<OverviewShown, ViewError> {
    let servers = servers(host);
    let Traffic { minutes, whole } = host.ledger().traffic(CHART_MINUTES).await?;
    let query = CallQuery { limit: Some(MAX_NEWEST_CALLS), ..CallQuery::default() };
    let mut states = BTreeMap::new();
    for server in &servers {
        *states.entry(server.state.clone()).or_default() += 1;
    }
    Ok(OverviewShown {
        // Calls fail closed while the record cannot be written.
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

fn needs_attention(server: &ServerRow) -> bool {
    // A server that was disabled on purpose needs nothing.
    !matches!(server.state.as_str(), "ready" | "starting" | "disabled")
}

fn minute(minute: &Minute) -> MinuteShown {
    MinuteShown {
        calls: minute.calls,
        ended: minute.ended,
        failed: minute.failed,
        p50_milliseconds: minute.median.map(milliseconds),
        p99_milliseconds: minute.slowest.map(milliseconds),
    }
}
