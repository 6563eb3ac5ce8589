//! `start`: time until twenty servers are ready, compared with the slowest of them alone.

use std::time::Instant;

use serde::{Deserialize, Serialize};
use serde_json::json;
use switchboard_host::Recording;
use tempfile::TempDir;

use crate::client::{EngineServer, require_ready, start_bare, start_host};
use crate::error::Result;
use crate::meter::{measure_passes, median_of};
use crate::report::{ReportSection, Table, at_most, number};

/// How long the slowest server takes to answer.
const SLOWEST_MS: u64 = 1_000;

#[derive(Deserialize, Serialize)]
struct StartTimes {
    alone_ms: f64,
    all_ms: f64,
    bare_ms: f64,
}

/// Starts the slowest server alone, all servers, and all servers for the floor; prints the times.
pub(crate) async fn measure() -> Result<()> {
    let alone_ms = until_ready(&[SLOWEST_MS]).await?;
    let mut delays: Vec<u64> = (0..19).map(|number| 100 + number * 400 / 18).collect();
    delays.push(SLOWEST_MS);
    let all_ms = until_ready(&delays).await?;
    let started = Instant::now();
    start_bare(delays.iter().map(server_words).collect()).await?;
    let bare_ms = started.elapsed().as_secs_f64() * 1e3;
    println!("{}", serde_json::to_string(&StartTimes { alone_ms, all_ms, bare_ms })?);
    Ok(())
}

fn server_words(delay: &u64) -> Vec<String> {
    vec!["--delay-ms".to_owned(), delay.to_string()]
}

async fn until_ready(delays: &[u64]) -> Result<f64> {
    let home = TempDir::new()?;
    let servers: Vec<EngineServer<'_>> =
        delays.iter().map(server_words).map(EngineServer::Stdio).collect();
    let started = Instant::now();
    let host = start_host(home.path(), servers, Recording::On)?;
    host.wait_settled(None).await;
    let milliseconds = started.elapsed().as_secs_f64() * 1e3;
    require_ready(&host, delays.len())?;
    host.stop().await;
    Ok(milliseconds)
}

/// Measures in child processes and returns the report.
pub(crate) async fn section(passes: usize) -> Result<ReportSection> {
    let found: Vec<StartTimes> = measure_passes("start", passes).await?;
    let ratio = median_of(&found, |started| started.all_ms / started.alone_ms);
    let alone = median_of(&found, |started| started.alone_ms);
    let all = median_of(&found, |started| started.all_ms);
    let bare = median_of(&found, |started| started.bare_ms);
    let row = vec![number(alone), number(all), number(ratio), number(bare)];
    Ok(ReportSection {
        title: "start".to_owned(),
        note: format!(
            "Twenty stdio servers that answer after 100 to 500 ms, and one of them after \
             {SLOWEST_MS} ms; milliseconds until all are ready, median of {passes}."
        ),
        table: Table {
            head: "the slowest alone|all twenty|ratio|all twenty by the floor",
            rows: vec![row],
        },
        targets: vec![at_most("twenty servers to the slowest alone", 1.1, ratio, "x")],
        measured: json!(found),
    })
}
