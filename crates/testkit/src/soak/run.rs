//! Carries a soak out: load and kills, then the comparison.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::account::{Accounts, End, Seen};
use super::check::{Faults, compare};
use super::client::Client;
use super::gateway::{Gateway, Place};
use super::journals::Journals;
use super::memory::Memory;
use super::plan::Plan;
use super::report::Report;
use super::{killer, record};

/// Why a soak could not be carried out.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// How long after the end the last calls may take.
const LAST_CALLS: Duration = Duration::from_secs(150);

/// Puts a gateway under load while its servers are killed, and compares what everybody says of it.
///
/// # Errors
/// If the gateway does not start, or its record cannot be read.
pub async fn run(plan: &Plan) -> Result<Report, Failure> {
    let place = Place::new(plan);
    let journals = place.journals();
    let gateway = place.start().await?;
    gateway.ready(plan.tools_each() * plan.servers).await?;
    let load = load(plan, &gateway, &journals).await?;
    let mut faults = Faults::default();
    if let Err(failure) = gateway.stop().await {
        faults.add(failure.to_string());
    }
    let (rows, strangers) = record::rows(&place, plan.clients).await?;
    let accounts = Accounts {
        clients: load.seen,
        record: rows,
        strangers,
        journals: journals.arrivals(plan.servers),
    };
    let compared = compare(&accounts);
    faults.count += compared.count;
    faults.shown.extend(compared.shown);
    if load.kills < plan.kills {
        faults.add(format!("only {} of {} kills found a server", load.kills, plan.kills));
    }
    let starts: usize = (0..plan.servers).map(|server| journals.starts(server).1).sum();
    let mut rows = numbers(plan, &accounts, load.took);
    rows.push(("servers killed".to_owned(), load.kills.to_string()));
    rows.push(("servers started again".to_owned(), (starts - plan.servers).to_string()));
    rows.push(("memory of the gateway".to_owned(), memory(plan, &load.memory, &mut faults)));
    if faults.count > 0 {
        let log: String = place.log().lines().take(20).collect::<Vec<_>>().join("\n");
        rows.push(("the gateway said".to_owned(), log));
    }
    Ok(Report { rows, faults: faults.shown, fault_count: faults.count })
}

struct Load {
    seen: Vec<Vec<Seen>>,
    kills: usize,
    memory: Memory,
    took: Duration,
}

async fn load(plan: &Plan, gateway: &Gateway, journals: &Journals) -> Result<Load, Failure> {
    let mut clients = Vec::new();
    for number in 0..plan.clients {
        clients.push(Client::open(plan, number, &gateway.address).await?);
    }
    let began = Instant::now();
    let end = began + plan.length;
    let shared = Arc::new(plan.clone());
    let mut calling = JoinSet::new();
    for (number, client) in clients.into_iter().enumerate() {
        let plan = Arc::clone(&shared);
        calling.spawn(async move { (number, client.run(&plan, end).await) });
    }
    let mut seen = vec![Vec::new(); plan.clients];
    let all = async {
        while let Some(client) = calling.join_next().await {
            let (number, calls) = client?;
            if let Some(place) = seen.get_mut(number) {
                *place = calls;
            }
        }
        Ok::<(), Failure>(())
    };
    let mut memory = Memory::default();
    let process = gateway.id().ok_or("the gateway is gone")?;
    let every = (plan.length / 100).max(Duration::from_millis(50));
    let both = async {
        tokio::join!(
            tokio::time::timeout(plan.length + LAST_CALLS, all),
            killer::kill(plan, journals)
        )
    };
    let (called, kills) = tokio::select! {
        both = both => both,
        () = memory.watch(process, every) => return Err("nobody looks any more".into()),
    };
    called.map_err(|_| "some clients did not come to an end")??;
    Ok(Load { seen, kills, memory, took: began.elapsed() })
}

fn numbers(plan: &Plan, accounts: &Accounts, took: Duration) -> Vec<(String, String)> {
    let mut times: Vec<u64> = Vec::new();
    let mut ends: BTreeMap<&str, usize> = BTreeMap::new();
    for seen in accounts.clients.iter().flatten() {
        times.push(seen.microseconds);
        let end = match &seen.end {
            End::Outcome(outcome) => outcome,
            End::GivenUp => "given up by the client",
            End::Trouble(_) => "trouble",
        };
        *ends.entry(end).or_default() += 1;
    }
    times.sort_unstable();
    let at = |percent: usize| times.get(times.len() * percent / 100).copied().unwrap_or_default();
    let rate = times.len() as f64 / took.as_secs_f64();
    let ends: Vec<String> = ends.iter().map(|(end, count)| format!("{end} {count}")).collect();
    let Plan { clients, servers, seed, .. } = plan;
    let tools = plan.tools_each() * plan.servers;
    [
        ("clients, servers, tools, seed", format!("{clients}, {servers}, {tools}, {seed}")),
        ("calls", format!("{} in {:.1} s, {rate:.0} per second", times.len(), took.as_secs_f64())),
        ("ends", ends.join(", ")),
        ("calls that arrived", accounts.journals.len().to_string()),
        ("time of a call, p50 and p99", format!("{} µs, {} µs", at(50), at(99))),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .to_vec()
}

fn memory(plan: &Plan, memory: &Memory, faults: &mut Faults) -> String {
    let Some(course) = memory.course() else {
        faults.add("the gateway's memory could not be seen".to_owned());
        return "not seen".to_owned();
    };
    let [start, middle, end] = [course.start, course.middle, course.end]
        .map(|bytes| format!("{:.1} MB", bytes as f64 / 1e6));
    if !course.is_flat(plan.growth) {
        faults.add(format!("the gateway's memory grew from {start} to {end}"));
    }
    format!("{start} after a quarter, {middle} in the middle, {end} at the end")
}
