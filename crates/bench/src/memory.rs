//! `memory`: resident memory of a host with a hundred ready servers.

use serde::{Deserialize, Serialize};
use serde_json::json;
use switchboard_host::Recording;
use tempfile::TempDir;

use crate::client::{EngineServer, require_ready, start_host};
use crate::error::Result;
use crate::meter;
use crate::meter::{measure_passes, median_of};
use crate::report::{ReportSection, Table, at_most, number};

const SERVERS: usize = 100;
const TOOLS: usize = 20;

#[derive(Deserialize, Serialize)]
struct Resident {
    before_mb: f64,
    ready_mb: f64,
    searched_mb: f64,
}

/// Starts the servers and prints the resident memory of this process before, with all ready, and
/// after a search.
pub(crate) async fn measure() -> Result<()> {
    let before_mb = resident();
    let home = TempDir::new()?;
    let words = || vec!["--tools".to_owned(), TOOLS.to_string()];
    let servers = (0..SERVERS).map(|_| EngineServer::Stdio(words()));
    let host = start_host(home.path(), servers, Recording::On)?;
    host.wait_settled(None).await;
    require_ready(&host, SERVERS)?;
    let lease = host.lease();
    let tools = lease.catalog().len();
    if tools != SERVERS * TOOLS {
        return Err(format!("{tools} tools instead of {}", SERVERS * TOOLS).into());
    }
    let ready_mb = resident();
    if lease.catalog().search("create an issue", 10).is_empty() {
        return Err("the search found nothing".into());
    }
    let searched_mb = resident();
    host.stop().await;
    println!("{}", serde_json::to_string(&Resident { before_mb, ready_mb, searched_mb })?);
    Ok(())
}

fn resident() -> f64 {
    meter::resident_bytes().map_or(f64::NAN, |bytes| bytes as f64 / 1e6)
}

/// Measures in child processes and returns the report.
pub(crate) async fn section(passes: usize) -> Result<ReportSection> {
    let found: Vec<Resident> = measure_passes("memory", passes).await?;
    let middle = |of: fn(&Resident) -> f64| median_of(&found, of);
    let ready = middle(|resident| resident.ready_mb);
    let row = vec![
        number(middle(|resident| resident.before_mb)),
        number(ready),
        number(middle(|resident| resident.searched_mb)),
    ];
    Ok(ReportSection {
        title: "memory".to_owned(),
        note: format!(
            "{SERVERS} ready stdio servers with {TOOLS} tools each, the ledger on; resident memory \
             of the host's process in MB, median of {passes}. No keepers run here; each would be a \
             small separate process."
        ),
        table: Table { head: "before|all ready|after a search", rows: vec![row] },
        targets: vec![at_most("memory with 100 servers and 2,000 tools", 40.0, ready, " MB")],
        measured: json!(found),
    })
}
