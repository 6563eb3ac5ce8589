//! `soak`: puts the gateway under load while its servers are killed, and checks that clients,
//! record and journals agree.

use clap::Args;

use crate::error::Result;

#[derive(Args)]
pub(crate) struct SoakOptions {
    #[arg(long, default_value_t = 1_000)]
    clients: usize,
    #[arg(long, default_value_t = 100)]
    servers: usize,
    /// Total number of tools of all servers
    #[arg(long, default_value_t = 5_000)]
    tools: usize,
    /// How long the clients make calls
    #[arg(long, default_value_t = 10)]
    minutes: u64,
    #[arg(long, conflicts_with = "minutes")]
    seconds: Option<u64>,
    /// Number of servers to kill (30 per minute)
    #[arg(long)]
    kills: Option<usize>,
    /// Average pause of a client between calls
    #[arg(long, default_value_t = 500)]
    pause_ms: u64,
    /// Seed of all random choices
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Maximum growth of memory after a quarter of the time, in percent
    #[arg(long, default_value_t = 20)]
    growth: u32,
}

/// Runs the soak test and prints the report. A fault is an error.
#[cfg(unix)]
pub(crate) async fn run(options: SoakOptions) -> Result<()> {
    use std::time::Duration;

    use switchboard_testkit::soak::{SoakPlan, run};

    let seconds = options.seconds.unwrap_or(options.minutes * 60);
    let plan = SoakPlan {
        program: std::env::current_exe()?.with_file_name("switchboard"),
        clients: options.clients,
        servers: options.servers,
        tools: options.tools,
        length: Duration::from_secs(seconds),
        kills: options.kills.map_or_else(|| usize::try_from(seconds / 2), Ok)?,
        pause: Duration::from_millis(options.pause_ms),
        seed: options.seed,
        growth: f64::from(options.growth) / 100.0,
    };
    let report = run(&plan).await?;
    println!("{report}");
    if report.has_passed() { Ok(()) } else { Err("the soak test found faults".into()) }
}

/// Fails: servers are found and killed by means of Unix.
#[cfg(not(unix))]
pub(crate) async fn run(_options: SoakOptions) -> Result<()> {
    Err("the soak test needs Unix".into())
}
