//! What the record says, as `switchboard calls` tells it.

use serde_json::Value;

use super::Failure;
use super::account::Row;
use super::gateway::Place;
use super::plan::Plan;

const PAGE: usize = 50_000;

/// The rows of every client, in the order in which they were opened, and how many are of nobody.
pub(super) async fn rows(place: &Place, clients: usize) -> Result<(Vec<Vec<Row>>, usize), Failure> {
    let mut all = Vec::new();
    loop {
        let limit = PAGE.to_string();
        let mut words = vec!["calls", "--json", "--limit", &limit];
        let last = all.last().and_then(|row: &Value| row["id"].as_str()).map(str::to_owned);
        words.extend(last.iter().flat_map(|last| ["--before", last]));
        let page: Vec<Value> = serde_json::from_slice(&place.run(&words).await?)?;
        let is_last = page.len() < PAGE;
        all.extend(page);
        if is_last {
            break;
        }
    }
    let names: std::collections::HashMap<String, usize> =
        (0..clients).map(|number| (format!("client:{}", Plan::client(number)), number)).collect();
    let (mut rows, mut strangers) = (vec![Vec::new(); clients], 0);
    for row in all.into_iter().rev() {
        let client = row["caller"].as_str().and_then(|caller| names.get(caller));
        match client.and_then(|client| rows.get_mut(*client)) {
            Some(rows) => rows.push(read(&row)),
            None => strangers += 1,
        }
    }
    Ok((rows, strangers))
}

fn read(row: &Value) -> Row {
    let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
    Row {
        id: text("id"),
        server: text("server"),
        target: text("target"),
        outcome: row["outcome"].as_str().map(str::to_owned),
    }
}

/// The `id` among the arguments of a recorded call: the order of rows is no proof by itself.
pub(super) async fn id_in_arguments(place: &Place, row: &Row) -> Result<String, Failure> {
    let shown: Value =
        serde_json::from_slice(&place.run(&["calls", "show", &row.id, "--json"]).await?)?;
    Ok(shown["arguments"]["id"].as_str().unwrap_or_default().to_owned())
}
