//! `soak`: the gateway under load while its servers are killed, and whether all accounts agree.

use clap::Args;

use crate::error::Result;

#[derive(Args)]
pub(crate) struct SoakOptions {
    #[arg(long, default_value_t = 1_000)]
    clients: usize,
    #[arg(long, default_value_t = 100)]
    servers: usize,
    /// Tools of all servers together
    #[arg(long, default_value_t = 5_000)]
    tools: usize,
    /// How long the clients call
    #[arg(long, default_value_t = 10)]
    minutes: u64,
    #[arg(long, conflicts_with = "minutes")]
    seconds: Option<u64>,
    /// Servers that are killed meanwhile (30 a minute)
    #[arg(long)]
    kills: Option<usize>,
    /// How long a client rests between calls, on average
    #[arg(long, default_value_t = 500)]
    pause_ms: u64,
    /// What all choices follow from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// By how many percent memory may grow after a quarter
    #[arg(long, default_value_t = 20)]
    growth: u32,
}

/// Carries the soak out and prints the report; a fault is a failure.
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
    if report.has_passed() { Ok(()) } else { Err("the accounts do not agree".into()) }
}

/// Servers are found and killed as Unix has it.
#[cfg(not(unix))]
pub(crate) async fn run(_options: SoakOptions) -> Result<()> {
    Err("a soak needs Unix".into())
}
