//! `soak`: the gateway under load while its servers are killed, and whether all accounts agree.

use crate::command_words::CommandWords;
use crate::error::Result;

/// Reads the plan, carries it out and prints the report; a fault is a failure.
#[cfg(unix)]
pub(crate) async fn run(mut words: CommandWords) -> Result<()> {
    use std::time::Duration;

    use switchboard_testkit::soak::{SoakPlan, run};

    let seconds = match words.option("--seconds")? {
        Some(seconds) => seconds,
        None => words.option::<u64>("--minutes")?.unwrap_or(10) * 60,
    };
    let kills = usize::try_from(seconds / 2)?;
    let growth: u32 = words.option("--growth")?.unwrap_or(20);
    let plan = SoakPlan {
        program: std::env::current_exe()?.with_file_name("switchboard"),
        clients: words.option("--clients")?.unwrap_or(1_000),
        servers: words.option("--servers")?.unwrap_or(100),
        tools: words.option("--tools")?.unwrap_or(5_000),
        length: Duration::from_secs(seconds),
        kills: words.option("--kills")?.unwrap_or(kills),
        pause: Duration::from_millis(words.option("--pause-ms")?.unwrap_or(500)),
        seed: words.option("--seed")?.unwrap_or(1),
        growth: f64::from(growth) / 100.0,
    };
    words.end()?;
    let report = run(&plan).await?;
    println!("{report}");
    if report.has_passed() { Ok(()) } else { Err("the accounts do not agree".into()) }
}

/// Servers are found and killed as Unix has it.
#[cfg(not(unix))]
pub(crate) async fn run(_words: CommandWords) -> Result<()> {
    Err("a soak needs Unix".into())
}
