//! Time until a client sees the tools of many servers.

use std::time::Instant;

use serde_json::json;
use tempfile::TempDir;

use super::recipe::{own_recipe, stdio_servers};
use super::running_gateway::{free_port, spawn_gateway, stop_process};
use crate::client::{BenchEndpoint, EndpointProtocol, meta, start_bare};
use crate::error::Result;
use crate::meter::median;
use crate::report::{ReportSection, Table, at_most, number};

/// Numbers of servers, one of which is slow.
const COUNTS: [usize; 3] = [1, 10, 50];
/// How long the slowest server takes to answer.
const SLOWEST_MS: u64 = 1_000;
/// Maximum number of requests for the list per start.
const MAX_TRIES: usize = 6_000;

/// Starts more and more servers behind our gateway, and returns the report.
pub(super) async fn section(passes: usize) -> Result<ReportSection> {
    let mut rows = Vec::new();
    let mut targets = Vec::new();
    let mut measured = Vec::new();
    for count in COUNTS {
        eprintln!("ready with {count} servers");
        let mut found = Vec::new();
        for _ in 0..passes {
            let alone = bare_seconds(&delays(1)).await?;
            let floor = bare_seconds(&delays(count)).await?;
            found.push((alone, floor, gateway_seconds(&delays(count)).await?));
        }
        let alone = median(found.iter().map(|one| one.0));
        let floor = median(found.iter().map(|one| one.1));
        let all = median(found.iter().map(|one| one.2));
        let ratio = median(found.iter().map(|one| one.2 / one.0));
        rows.push(vec![
            count.to_string(),
            number(alone),
            number(floor),
            number(all),
            number(ratio),
        ]);
        let what = format!("{count} servers ready to the slowest alone");
        targets.push(at_most(what, 1.1, ratio, "x"));
        measured.push(json!({ "servers": count, "milliseconds": found }));
    }
    let head = "servers|the slowest alone ms|all started bare ms|all listed by us ms|x the slowest";
    Ok(ReportSection {
        title: "gateway, ready".to_owned(),
        note: format!(
            "From the start of the process to a list with the tools of all stdio servers; they \
             answer after 100 to 500 ms, and one of them after {SLOWEST_MS} ms. For \
             comparison, the time until that server alone, and all of them, have answered a bare \
             client. Median of {passes}."
        ),
        table: Table { head, rows },
        targets,
        measured: json!(measured),
    })
}

fn delays(count: usize) -> Vec<Vec<String>> {
    let others = count.saturating_sub(1);
    let spread = |number: usize| 100 + 400 * number / others.max(1);
    let mut all: Vec<String> = (0..others).map(|number| spread(number).to_string()).collect();
    all.push(SLOWEST_MS.to_string());
    all.into_iter().map(|delay| vec!["--delay-ms".to_owned(), delay]).collect()
}

/// Returns the milliseconds until the floor has the tools of all servers.
async fn bare_seconds(words: &[Vec<String>]) -> Result<f64> {
    let started = Instant::now();
    start_bare(words.to_vec()).await?;
    Ok(started.elapsed().as_secs_f64() * 1e3)
}

/// Returns the milliseconds until our gateway lists the tools of all servers.
async fn gateway_seconds(words: &[Vec<String>]) -> Result<f64> {
    let home = TempDir::new()?;
    let listen = format!("127.0.0.1:{}", free_port()?);
    let servers = stdio_servers(words)?;
    let recipe = own_recipe(home.path(), &servers, &["--listen", &listen])?;
    let started = Instant::now();
    let gateway = spawn_gateway(&recipe)?;
    let listed = wait_until_listed(&format!("http://{listen}/mcp"), words.len()).await;
    let milliseconds = started.elapsed().as_secs_f64() * 1e3;
    stop_process(gateway).await;
    listed?;
    Ok(milliseconds)
}

/// Requests the list until it contains the tools of all servers.
async fn wait_until_listed(url: &str, servers: usize) -> Result<()> {
    let params = format!(r#"{{"_meta":{}}}"#, meta());
    let mut last = "nothing answered".to_owned();
    for _ in 0..MAX_TRIES {
        let asked = async {
            let endpoint = BenchEndpoint::open(url, "", EndpointProtocol::Modern).await?;
            endpoint.request("tools/list", &params).await
        };
        match asked.await {
            Ok(list) => {
                // Every server has a tool `echo`, which the gateway lists with a prefix.
                let found = list.matches(r#"__echo""#).count();
                if found >= servers {
                    return Ok(());
                }
                last = format!("{found} tools of {servers} are listed");
            }
            Err(failure) => last = failure.to_string(),
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    Err(last.into())
}

#[cfg(test)]
mod tests {
    use super::delays;

    #[test]
    fn one_server_is_slow_and_the_others_are_spread() {
        let found: Vec<String> = delays(3).into_iter().map(|words| words.join(" ")).collect();
        assert_eq!(found, ["--delay-ms 100", "--delay-ms 300", "--delay-ms 1000"]);
        assert_eq!((delays(1).len(), delays(50).len()), (1, 50));
    }
}
