//! Which parts are measured, how long, and how they are shown.

use std::path::PathBuf;

use serde_json::json;

use crate::calls::{self, CallPlan};
use crate::command_words::CommandWords;
use crate::error::Result;
use crate::gateway::{self, PeerOptions};
use crate::parser::AnchorChoice;
use crate::report::{ReportSection, markdown};
use crate::{catalog, console, memory, parser, policy, prompt, scan, start};

const PARTS: [&str; 10] = [
    "calls", "start", "memory", "catalog", "parser", "policy", "prompt", "scan", "gateway",
    "console",
];

/// Measures one part in this process and prints the numbers.
pub(crate) async fn measure(mut words: CommandWords) -> Result<()> {
    let part = words.next().unwrap_or_default();
    words.end()?;
    match part.as_str() {
        "start" => start::measure().await,
        "memory" => memory::measure().await,
        "catalog" => catalog::measure(),
        "policy" => policy::measure(),
        "parser" => parser::measure(AnchorChoice::LeftOut),
        "parser-and-anchor" => parser::measure(AnchorChoice::Measured),
        other => Err(format!("`{other}` cannot be measured so").into()),
    }
}

/// Measures what is wanted and prints the report.
pub(crate) async fn run(mut options: CommandWords) -> Result<()> {
    let quick = options.switch("--quick");
    let as_json = options.switch("--json");
    let passes: Option<usize> = options.option("--passes")?;
    let rows: Option<usize> = options.option("--rows")?;
    let testenv: Option<PathBuf> = options.option("--testenv")?;
    let testenv = testenv.or_else(|| std::env::var_os("SWITCHBOARD_TESTENV").map(PathBuf::from));
    let catalog_file: Option<PathBuf> = options.option("--catalog")?;
    let mut corpora: Vec<PathBuf> = Vec::new();
    while let Some(file) = options.option("--corpus")? {
        corpora.push(file);
    }
    let wish = PeerOptions::from_words(&mut options);
    let part = options.next().unwrap_or_else(|| "all".to_owned());
    options.end()?;
    if part != "all" && !PARTS.contains(&part.as_str()) {
        return Err(format!("`{part}` is neither `all` nor one of `{}`", PARTS.join("`, `")).into());
    }
    let turns = passes.unwrap_or(if quick { 3 } else { 20 }).max(1);
    if part == "gateway" {
        // What slow gateways do in a short turn is mostly their start.
        let (passes, milliseconds) = if quick { (turns.min(2), 60) } else { (turns.min(10), 200) };
        let sections = gateway::sections(wish, passes, milliseconds, testenv).await?;
        show(&sections, as_json, passes);
        return Ok(());
    }
    if part == "console" {
        let calls = rows.unwrap_or(if quick { 50_000 } else { 1_000_000 });
        let plan = console::ConsolePlan { calls, passes: turns.min(5), testenv };
        show(&[console::section(plan).await?], as_json, turns.min(5));
        return Ok(());
    }
    let milliseconds = if quick { 30 } else { 60 };
    // A start or a fifty-thousand-tool catalog takes as long as many turns do.
    let passes = turns.min(if quick { 1 } else { 5 });
    let mut sections = Vec::new();
    let wanted = |name: &str| {
        let is_wanted = part == "all" || part == name;
        if is_wanted && name != "calls" {
            eprintln!("{name}");
        }
        is_wanted
    };
    if wanted("calls") {
        let plan = CallPlan { passes: turns, milliseconds, quick, testenv: testenv.clone() };
        let rows = calls::run(&plan).await?;
        sections.append(&mut calls::sections(&rows));
    }
    if wanted("start") {
        sections.push(start::section(passes).await?);
    }
    if wanted("memory") {
        sections.push(memory::section(passes).await?);
    }
    if wanted("catalog") {
        sections.push(catalog::section(passes).await?);
    }
    if wanted("parser") {
        sections.push(parser::section(passes).await?);
    }
    if wanted("policy") {
        sections.push(policy::section(passes).await?);
    }
    if wanted("scan") {
        sections.push(scan::section(catalog_file.as_deref(), &corpora)?);
    }
    if wanted("prompt") {
        let plan = prompt::PromptPlan { catalog: catalog_file, testenv, repeats: passes * 3 };
        sections.append(&mut prompt::sections(&plan).await?);
    }
    show(&sections, as_json, turns);
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
