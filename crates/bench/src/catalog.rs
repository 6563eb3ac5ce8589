//! `catalog`: time to search and lease a catalog of 50,000 tools.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;
use switchboard_catalog::{Catalog, CheckCache, Fleet, Lease, Offers, Server, ServerStatus};
use switchboard_core::{ProposedCall, ServerId};
use switchboard_wire::{Json, ListedItem};

use crate::error::Result;
use crate::meter::{measure_passes, median, median_of};
use crate::report::{ReportSection, Table, at_most, number};
use crate::server::{MadeTool, definitions, questions};

const SERVERS: u64 = 25;
const TOOLS: usize = 2_000;
const QUESTIONS: usize = 50;
/// Number of runs per question; their median is not affected by a pause.
const REPEATS: usize = 9;

#[derive(Deserialize, Serialize)]
struct CatalogTimes {
    tools: usize,
    lease_us: f64,
    resolve_us: f64,
    names_ms: f64,
    index_ms: f64,
    search_p50_ms: f64,
    search_worst_ms: f64,
}

/// Generates the tools, searches and leases them, and prints the times.
pub(crate) fn measure() -> Result<()> {
    let fleet = Arc::new(fleet()?);
    let checks = Arc::new(CheckCache::default());
    // Includes building a new catalog, as after every change of the fleet.
    let lease = || {
        Lease::new(Arc::clone(&fleet), Arc::new(Catalog::from_fleet(&fleet)), Arc::clone(&checks))
    };
    let lease_us = median((0..REPEATS).map(|_| time(lease).0)) * 1e6;
    let lease = lease();
    let catalog = lease.catalog();
    let names_ms = time(|| catalog.names()).0 * 1e3;
    let index_ms = time(|| catalog.search("anything", 10)).0 * 1e3;
    let mut times = Vec::new();
    for question in questions(QUESTIONS) {
        let ask = || catalog.search(&question, 10).len();
        if ask() == 0 {
            return Err(format!("nothing was found for `{question}`").into());
        }
        times.push(median((0..REPEATS).map(|_| time(ask).0)) * 1e3);
    }
    let resolve = || {
        let arguments = Json::from_trusted(r#"{"text":"x"}"#.to_owned());
        lease.resolve(ProposedCall::tool("made24", "echo", arguments)).is_ok()
    };
    if !resolve() {
        return Err("`echo` is not in the catalog".into());
    }
    let resolve_us = median((0..1_000).map(|_| time(resolve).0)) * 1e6;
    let found = CatalogTimes {
        tools: catalog.len(),
        lease_us,
        resolve_us,
        names_ms,
        index_ms,
        search_p50_ms: median(times.iter().copied()),
        search_worst_ms: times.iter().copied().fold(0.0, f64::max),
    };
    println!("{}", serde_json::to_string(&found)?);
    Ok(())
}

fn time<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let started = Instant::now();
    let done = std::hint::black_box(work());
    (started.elapsed().as_secs_f64(), done)
}

fn fleet() -> Result<Fleet> {
    let mut servers = BTreeMap::new();
    for number in 0..SERVERS {
        let id = ServerId::new(&format!("made{number}"))?;
        let tools: Result<Vec<ListedItem>> =
            definitions(TOOLS, number).into_iter().map(item).collect();
        let offers = Offers::new(tools?, Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let server = Server {
            id: id.clone(),
            config: None,
            status: ServerStatus::Ready,
            instances: Vec::new(),
            offers: Arc::new(offers),
            agreement: None,
        };
        servers.insert(id, Arc::new(server));
    }
    Ok(Fleet { servers, edition: 1, ..Fleet::default() })
}

fn item(made: MadeTool) -> Result<ListedItem> {
    Ok(ListedItem { key: made.name.into(), raw: RawValue::from_string(made.definition)? })
}

/// Measures in child processes and returns the report.
pub(crate) async fn section(passes: usize) -> Result<ReportSection> {
    let found: Vec<CatalogTimes> = measure_passes("catalog", passes).await?;
    let middle = |of: fn(&CatalogTimes) -> f64| median_of(&found, of);
    let lease = middle(|found| found.lease_us);
    let worst = middle(|found| found.search_worst_ms);
    let row = vec![
        number(lease),
        number(middle(|found| found.resolve_us)),
        number(middle(|found| found.names_ms)),
        number(middle(|found| found.index_ms)),
        number(middle(|found| found.search_p50_ms)),
        number(worst),
    ];
    let head = "lease µs|resolve µs|names ms|index ms|search p50 ms|worst search ms";
    Ok(ReportSection {
        title: "catalog".to_owned(),
        note: format!(
            "{SERVERS} servers with {TOOLS} tools each; {QUESTIONS} questions, each the median of \
             {REPEATS}; names and index are built once per change, on first use. Median of {passes}."
        ),
        table: Table { head, rows: vec![row] },
        targets: vec![
            at_most("the worst search among 50,000 tools", 5.0, worst, " ms"),
            at_most("a lease of 50,000 tools after a change", 1_000.0, lease, " µs"),
        ],
        measured: json!(found),
    })
}
