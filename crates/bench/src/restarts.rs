//! `restarts`: restarts a server thousands of times and checks for leaks.

use std::fmt;
use std::time::{Duration, Instant};

use clap::Args;
use switchboard_catalog::ServerStatus;
use switchboard_core::ServerId;
use switchboard_fleet::SupervisorCommand as Order;
use switchboard_host::{Host, Recording};
use tempfile::TempDir;

use crate::client::{EngineServer, require_ready, start_kept_host};
use crate::error::Result;
use crate::meter;

/// Divisor of the cycles: the baseline is taken after the first tenth, when caches are filled.
const WARM_UP: usize = 10;
/// Number of progress lines.
const PROGRESS_LINES: usize = 10;
/// How long one start may take.
const START_TIMEOUT: Duration = Duration::from_secs(60);
/// How long the resources of ended processes may take to be released.
const SETTLE_TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Args)]
pub(crate) struct RestartOptions {
    #[arg(long, default_value_t = 10_000)]
    cycles: usize,
    /// Maximum growth of memory after a tenth of the cycles, in percent
    #[arg(long, default_value_t = 5)]
    growth: u32,
}

/// Resources that this process holds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Holdings {
    files: usize,
    threads: usize,
    zombies: usize,
    resident_mb: f64,
}

/// Restarts the server, prints the held resources along the way, and fails if they grow.
pub(crate) async fn run(options: RestartOptions) -> Result<()> {
    let RestartOptions { cycles, growth } = options;
    let home = TempDir::new()?;
    let host = start_kept_host(home.path(), [EngineServer::Stdio(Vec::new())], Recording::On)?;
    host.wait_settled(None).await;
    require_ready(&host, 1)?;
    let began = Instant::now();
    println!("| restarts | open files | threads | zombies | resident MB |");
    println!("|---|---|---|---|---|");
    let mark = (cycles / PROGRESS_LINES).max(1);
    let mut warm = None;
    for number in 1..=cycles {
        restart(&host).await?;
        if number % mark == 0 {
            println!("| {number} | {} |", current_holdings()?);
        }
        if number == (cycles / WARM_UP).max(1) {
            warm = Some(settled_holdings(None).await?);
        }
    }
    let warm = warm.ok_or("no cycles were requested")?;
    let last = settled_holdings(Some(warm)).await?;
    host.stop().await;
    let seconds = began.elapsed().as_secs_f64();
    let each = seconds * 1e3 / cycles as f64;
    println!("\n{cycles} restarts in {seconds:.0} s, {each:.1} ms each.");
    println!("after {} of them: {warm}; after all: {last}", (cycles / WARM_UP).max(1));
    let allowed = warm.resident_mb * (1.0 + f64::from(growth) / 100.0);
    let is_flat = last.files <= warm.files && last.threads <= warm.threads && last.zombies == 0;
    if is_flat && last.resident_mb <= allowed {
        Ok(())
    } else {
        Err(format!("something is left behind, or memory grew by more than {growth} %").into())
    }
}

async fn restart(host: &Host) -> Result<()> {
    let id = ServerId::new("raw0")?;
    let mut changes = host.fleet().changes();
    host.command(Order::Restart(id.clone())).await;
    for wanted in [ServerStatus::Starting, ServerStatus::Ready] {
        while changes.load().servers.get(&id).map(|server| &server.status) != Some(&wanted) {
            let changed = tokio::time::timeout(START_TIMEOUT, changes.changed()).await;
            changed.map_err(|_| format!("the server is not {} in time", wanted.word()))?;
        }
    }
    Ok(())
}

/// Waits until the resources of ended processes are released, and returns the held ones.
///
/// Returns once files and threads are down to `before`, or after [`SETTLE_TIMEOUT`] with the
/// minimum seen.
async fn settled_holdings(before: Option<Holdings>) -> Result<Holdings> {
    let end = Instant::now() + SETTLE_TIMEOUT;
    let mut least = current_holdings()?;
    while Instant::now() < end {
        let is_settled = before
            .is_some_and(|before| least.files <= before.files && least.threads <= before.threads);
        if least.zombies == 0 && is_settled {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
        let now = current_holdings()?;
        least = Holdings {
            files: least.files.min(now.files),
            threads: least.threads.min(now.threads),
            zombies: now.zombies,
            resident_mb: now.resident_mb,
        };
    }
    Ok(least)
}

fn current_holdings() -> Result<Holdings> {
    let count = |folder: &str| std::fs::read_dir(folder).map(Iterator::count);
    Ok(Holdings {
        files: count("/proc/self/fd")?,
        threads: count("/proc/self/task")?,
        zombies: zombies(),
        resident_mb: meter::resident_bytes().map_or(f64::NAN, |bytes| bytes as f64 / 1e6),
    })
}

/// Counts child processes that have ended and were not waited for.
fn zombies() -> usize {
    let Ok(folder) = std::fs::read_dir("/proc") else { return 0 };
    let us = std::process::id().to_string();
    let is_zombie = |status: &str| {
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name));
        field("State:").is_some_and(|state| state.trim().starts_with('Z'))
            && field("PPid:").is_some_and(|parent| parent.trim() == us)
    };
    folder
        .filter_map(|entry| std::fs::read_to_string(entry.ok()?.path().join("status")).ok())
        .filter(|status| is_zombie(status))
        .count()
}

impl fmt::Display for Holdings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { files, threads, zombies, resident_mb } = self;
        write!(f, "{files} | {threads} | {zombies} | {resident_mb:.1}")
    }
}
