//! Runs a soak: load and kills, then the comparison.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::check::{Accounts, ClientCall, ClientEnd};
use super::check::{Faults, compare};
use super::client::SoakClient;
use super::gateway::{GatewayHome, SoakGateway};
use super::journals::Journals;
use super::journals::{self, Kill};
use super::plan::SoakPlan;
use super::report::MemorySamples;
use super::report::SoakReport;

/// The reason why a soak could not be carried out.
pub type SoakError = Box<dyn std::error::Error + Send + Sync>;

/// How long a killed server may take to restart.
const RESTART_TIMEOUT: Duration = Duration::from_secs(30);
/// How long the last calls may take after the end of the run.
const LAST_CALLS_TIMEOUT: Duration = Duration::from_secs(150);

/// Puts a gateway under load while its servers are killed, and compares all accounts of the calls.
pub async fn run(plan: &SoakPlan) -> Result<SoakReport, SoakError> {
    let place = GatewayHome::new(plan);
    let journals = place.journals();
    let gateway = place.start().await?;
    gateway.wait_ready(plan.tools_each() * plan.servers).await?;
    let load = load(plan, &gateway, &journals).await?;
    let mut faults = Faults::default();
    if let Err(failure) = gateway.stop().await {
        faults.add(failure.to_string());
    }
    let (rows, strangers) = place.rows(plan.clients).await?;
    let accounts = Accounts {
        clients: load.seen,
        record: rows,
        strangers,
        journals: journals.arrivals(plan.servers),
        trouble: load.trouble,
        killed: load.kills.iter().map(|kill| kill.server).collect(),
    };
    let compared = compare(&accounts);
    faults.count += compared.count;
    faults.shown.extend(compared.shown);
    let kills = load.kills.len();
    if kills < plan.kills {
        faults.add(format!("only {kills} of {} kills found a server", plan.kills));
    }
    let unread = journals.unfinished_lines(plan.servers);
    if unread > kills {
        faults.add(format!("{unread} lines of the journals say nothing, after {kills} kills"));
    }
    not_back(&load.kills, load.ended, &journals, &mut faults);
    let starts: usize = (0..plan.servers).map(|server| journals.starts(server).1).sum();
    let mut rows = numbers(plan, &accounts, load.took);
    rows.push(("servers killed".to_owned(), kills.to_string()));
    let again = starts.saturating_sub(plan.servers);
    rows.push(("servers started again".to_owned(), again.to_string()));
    rows.push(("memory of the gateway".to_owned(), memory(plan, &load.memory, &mut faults)));
    if faults.count > 0 {
        let log: String = place.log().lines().take(20).collect::<Vec<_>>().join("\n");
        rows.push(("the gateway said".to_owned(), log));
    }
    Ok(SoakReport { rows, faults: faults.shown, fault_count: faults.count })
}

struct SoakLoad {
    seen: Vec<Vec<ClientCall>>,
    trouble: Vec<String>,
    kills: Vec<Kill>,
    memory: MemorySamples,
    took: Duration,
    ended: Instant,
}

/// Adds a fault for each server that was killed and did not restart although there was time.
fn not_back(kills: &[Kill], ended: Instant, journals: &Journals, faults: &mut Faults) {
    let mut of_server: BTreeMap<usize, Vec<Instant>> = BTreeMap::new();
    for kill in kills {
        of_server.entry(kill.server).or_default().push(kill.at);
    }
    for (server, times) in of_server {
        let last = times.iter().max();
        let had_time =
            last.is_some_and(|last| ended.saturating_duration_since(*last) > RESTART_TIMEOUT);
        let (_, starts) = journals.starts(server);
        if had_time && starts <= times.len() {
            let name = SoakPlan::server(server);
            let kills = times.len();
            faults.add(format!("{name} was killed {kills} times and started {starts} times"));
        }
    }
}

async fn load(
    plan: &SoakPlan,
    gateway: &SoakGateway,
    journals: &Journals,
) -> Result<SoakLoad, SoakError> {
    let mut clients = Vec::new();
    for number in 0..plan.clients {
        clients.push(SoakClient::open(plan, number, &gateway.address).await?);
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
    let mut trouble = Vec::new();
    let all = async {
        while let Some(client) = calling.join_next().await {
            let (number, (calls, beside)) = client?;
            trouble.extend(beside);
            if let Some(place) = seen.get_mut(number) {
                *place = calls;
            }
        }
        Ok::<(), SoakError>(())
    };
    let mut memory = MemorySamples::default();
    let process = gateway.id().ok_or("the gateway is gone")?;
    let every = (plan.length / 100).max(Duration::from_millis(50));
    let both = async {
        tokio::join!(
            tokio::time::timeout(plan.length + LAST_CALLS_TIMEOUT, all),
            journals::kill(plan, journals)
        )
    };
    let (called, kills) = tokio::select! {
        both = both => both,
        // `watch` never returns; this branch only drives it.
        () = memory.watch(process, every) => return Err("nobody looks any more".into()),
    };
    called.map_err(|_| "some clients did not come to an end")??;
    let took = began.elapsed();
    let ended = Instant::now();
    Ok(SoakLoad { seen, trouble, kills, memory, took, ended })
}

fn numbers(plan: &SoakPlan, accounts: &Accounts, took: Duration) -> Vec<(String, String)> {
    let mut times: Vec<u64> = Vec::new();
    let mut ends: BTreeMap<&str, usize> = BTreeMap::new();
    for seen in accounts.clients.iter().flatten() {
        times.push(seen.microseconds);
        let end = match &seen.end {
            ClientEnd::Outcome(outcome) => outcome,
            ClientEnd::GivenUp => "given up by the client",
            ClientEnd::Trouble(_) => "trouble",
        };
        *ends.entry(end).or_default() += 1;
    }
    times.sort_unstable();
    let at = |percent: usize| times.get(times.len() * percent / 100).copied().unwrap_or_default();
    let rate = times.len() as f64 / took.as_secs_f64();
    let ends: Vec<String> = ends.iter().map(|(end, count)| format!("{end} {count}")).collect();
    let SoakPlan { clients, servers, seed, .. } = plan;
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

fn memory(plan: &SoakPlan, memory: &MemorySamples, faults: &mut Faults) -> String {
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
