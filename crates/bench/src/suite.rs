//! The command line of the suite: the parts to measure, for how long, and the output format.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::json;

use crate::calls::{self, CallPlan};
use crate::error::Result;
use crate::parser::AnchorChoice;
use crate::report::{ReportSection, markdown};
use crate::{catalog, console, gateway, memory, parser, policy, prompt, scan, start};

#[derive(Args)]
pub(crate) struct SuiteOptions {
    /// Part to measure; `all` does not include `gateway` and `console`
    #[arg(default_value = "all")]
    part: SuitePart,
    /// Few short turns without the largest payload; takes less than a minute
    #[arg(long)]
    quick: bool,
    /// Turns per client (20; with --quick 3); `gateway` makes at most 10, the other parts at most 5
    #[arg(long)]
    passes: Option<usize>,
    /// Folder of the test environment: the other SDKs, the tokenizer and the browser driver
    #[arg(long, env = "SWITCHBOARD_TESTENV")]
    pub(crate) testenv: Option<PathBuf>,
    /// JSON file with servers and tools for `prompt` and `scan`; without it, `prompt` generates
    /// them
    #[arg(long)]
    catalog: Option<PathBuf>,
    /// File of attacks for `scan`, one JSON object per line: {"text": …} or a definition;
    /// repeatable; corpora/agentdojo.py creates one
    #[arg(long)]
    corpus: Vec<PathBuf>,
    /// Skip the other gateways, which `gateway` installs below target/bench-peers
    #[arg(long)]
    pub(crate) no_peers: bool,
    /// Include the crate mcp-proxy in `gateway`; its build takes minutes
    #[arg(long)]
    pub(crate) crate_peer: bool,
    /// Another build of `switchboard` to measure in the same run of `gateway`, such as the previous
    /// version
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) baseline: Option<PathBuf>,
    /// Number of calls in the record of `console` (1000000; with --quick 50000)
    #[arg(long)]
    rows: Option<usize>,
    /// Print every number as JSON instead of tables
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SuitePart {
    All,
    Calls,
    Start,
    Memory,
    Catalog,
    Parser,
    Policy,
    Prompt,
    Scan,
    Gateway,
    Console,
}

/// A part that is measured in a separate process.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum MeasuredPart {
    Start,
    Memory,
    Catalog,
    Policy,
    Parser,
    ParserAndAnchor,
}

/// Measures one part in this process and prints the numbers.
pub(crate) async fn measure(part: MeasuredPart) -> Result<()> {
    match part {
        MeasuredPart::Start => start::measure().await,
        MeasuredPart::Memory => memory::measure().await,
        MeasuredPart::Catalog => catalog::measure(),
        MeasuredPart::Policy => policy::measure(),
        MeasuredPart::Parser => parser::measure(AnchorChoice::LeftOut),
        MeasuredPart::ParserAndAnchor => parser::measure(AnchorChoice::Measured),
    }
}

/// Measures the selected parts and prints the report.
pub(crate) async fn run(options: SuiteOptions) -> Result<()> {
    let SuiteOptions { part, quick, json, .. } = options;
    let turns = options.passes.unwrap_or(if quick { 3 } else { 20 }).max(1);
    if part == SuitePart::Gateway {
        // Longer turns than for clients: in a short turn, slow gateways mostly warm up.
        let (passes, milliseconds) = if quick { (turns.min(2), 60) } else { (turns.min(10), 200) };
        show(&gateway::sections(&options, passes, milliseconds).await?, json, passes);
        return Ok(());
    }
    let testenv = options.testenv;
    if part == SuitePart::Console {
        let calls = options.rows.unwrap_or(if quick { 50_000 } else { 1_000_000 });
        let plan = console::ConsolePlan { calls, passes: turns.min(5), testenv };
        show(&[console::section(plan).await?], json, turns.min(5));
        return Ok(());
    }
    // Fewer passes: one start, or one catalog of 50,000 tools, takes as long as many turns.
    let passes = turns.min(if quick { 1 } else { 5 });
    let wanted = |one: SuitePart, name: &str| {
        let wanted = [SuitePart::All, one].contains(&part);
        if wanted {
            eprintln!("{name}");
        }
        wanted
    };
    let mut sections = Vec::new();
    if wanted(SuitePart::Calls, "calls") {
        let milliseconds = if quick { 30 } else { 60 };
        let plan = CallPlan { passes: turns, milliseconds, quick, testenv: testenv.clone() };
        sections.append(&mut calls::sections(&calls::run(&plan).await?));
    }
    if wanted(SuitePart::Start, "start") {
        sections.push(start::section(passes).await?);
    }
    if wanted(SuitePart::Memory, "memory") {
        sections.push(memory::section(passes).await?);
    }
    if wanted(SuitePart::Catalog, "catalog") {
        sections.push(catalog::section(passes).await?);
    }
    if wanted(SuitePart::Parser, "parser") {
        sections.push(parser::section(passes).await?);
    }
    if wanted(SuitePart::Policy, "policy") {
        sections.push(policy::section(passes).await?);
    }
    if wanted(SuitePart::Scan, "scan") {
        sections.push(scan::section(options.catalog.as_deref(), &options.corpus)?);
    }
    if wanted(SuitePart::Prompt, "prompt") {
        let repeats = passes * 3;
        let plan = prompt::PromptPlan { catalog: options.catalog, testenv, repeats };
        sections.append(&mut prompt::sections(&plan).await?);
    }
    show(&sections, json, turns);
    Ok(())
}

fn show(sections: &[ReportSection], as_json: bool, passes: usize) {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    if as_json {
        println!("{}", json!({ "cores": cores, "passes": passes, "sections": sections }));
        return;
    }
    println!("{cores} cores, {passes} passes.\n\n{}", markdown(sections));
    let targets = sections.iter().flat_map(|section| &section.targets);
    let (met, missed): (Vec<_>, Vec<_>) = targets.partition(|target| target.met);
    println!("{} targets met, {} missed.", met.len(), missed.len());
}
