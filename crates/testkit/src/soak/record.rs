//! What the record says, as `switchboard calls` tells it.

use serde_json::Value;

use super::SoakError;
use super::account::RecordRow;
use super::gateway::GatewayHome;
use super::plan::SoakPlan;

const PAGE: usize = 10_000;

/// The rows of every client, and how many are of nobody.
pub(super) async fn rows(
    place: &GatewayHome,
    clients: usize,
) -> Result<(Vec<Vec<RecordRow>>, usize), SoakError> {
    let names: std::collections::HashMap<String, usize> = (0..clients)
        .map(|number| (format!("client:{}", SoakPlan::client(number)), number))
        .collect();
    let mut rows = vec![Vec::new(); clients];
    let mut strangers = 0;
    let mut last: Option<String> = None;
    loop {
        let limit = PAGE.to_string();
        let mut words = vec!["calls", "--json", "--full", "--limit", &limit];
        words.extend(last.iter().flat_map(|last| ["--before", last]));
        let page: Vec<Value> = serde_json::from_slice(&place.run(&words).await?)?;
        for row in &page {
            let client = row["caller"].as_str().and_then(|caller| names.get(caller));
            match client.and_then(|client| rows.get_mut(*client)) {
                Some(rows) => rows.push(read(row)),
                None => strangers += 1,
            }
        }
        if page.len() < PAGE {
            break;
        }
        last = page.last().and_then(|row| row["id"].as_str()).map(str::to_owned);
    }
    Ok((rows, strangers))
}

fn read(row: &Value) -> RecordRow {
    let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
    RecordRow {
        id: text("id"),
        server: text("server"),
        target: text("target"),
        outcome: row["outcome"].as_str().map(str::to_owned),
        call: row["arguments"]["id"].as_str().unwrap_or_default().to_owned(),
    }
}
