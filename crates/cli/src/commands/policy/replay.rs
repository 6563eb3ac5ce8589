//! Says what a changed policy would have decided otherwise about recorded calls.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use switchboard_host::ledger_file;
use switchboard_host::past_call;
use switchboard_host::policy::{PastCall, VerdictChange};
use switchboard_rules::PolicyLevel;
use switchboard_store::{Filter, FullCall, LedgerReader};
use switchboard_terminal::{CliError, exit_code, table};
use switchboard_trust::PinnedAnnotations;

use crate::commands::policy::{check_file, usable};
use crate::context::CommandContext;

#[derive(Debug, Args)]
pub(crate) struct WhatIfArgs {
    /// The changed rules
    pub(crate) file: PathBuf,
    /// The level whose rules they would replace
    #[arg(long, value_enum, default_value_t = LevelChoice::User)]
    pub(crate) level: LevelChoice,
    /// Only calls of so long ago at most: 90m, 12h, 7d
    #[arg(long, value_name = "TIME", value_parser = ago)]
    pub(crate) since: Option<Duration>,
    /// At most so many calls, the newest ones
    #[arg(long, short = 'n', default_value_t = 1_000)]
    pub(crate) limit: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LevelChoice {
    /// The organisation's
    Enterprise,
    /// The team's
    Team,
    /// The project's
    Project,
    /// Your own
    User,
}

/// A time as a number with a unit.
fn ago(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is no time: write it as 90m, 12h or 7d");
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    let unit = match text.strip_prefix(digits) {
        Some("s") => 1,
        Some("m") => 60,
        Some("h") => 3_600,
        Some("d") => 86_400,
        _ => return Err(wrong()),
    };
    Ok(Duration::from_secs(number.saturating_mul(unit)))
}

/// A call about which the two policies do not agree.
struct Difference {
    call: FullCall,
    compared: VerdictChange,
}

/// Decides recorded calls by the rules of today and by the changed ones; gives 1 if they differ.
pub(crate) async fn what_if(context: &CommandContext, wanted: &WhatIfArgs) -> Result<u8, CliError> {
    let config = usable(context)?;
    let level = match wanted.level {
        LevelChoice::Enterprise => PolicyLevel::Enterprise,
        LevelChoice::Team => PolicyLevel::Team,
        LevelChoice::Project => PolicyLevel::Project,
        LevelChoice::User => PolicyLevel::User,
    };
    let file = check_file(&context.environment.current_dir.join(&wanted.file), level)?;
    let changed = config.policies.with_file(file);
    let calls = recorded_calls(context, wanted).await?;
    let count = calls.len();
    let annotations = PinnedAnnotations::load(&context.places.state, &config);
    let past: Vec<PastCall> = calls.iter().map(|call| past_call(call, &annotations)).collect();
    let compared = switchboard_host::policy::what_if(&config, &changed, &past);
    let differences: Vec<Difference> = calls
        .into_iter()
        .zip(compared)
        .filter_map(|(call, compared)| compared.map(|compared| Difference { call, compared }))
        .collect();
    show(context, count, &differences)
}

/// The calls of the record, the oldest first.
async fn recorded_calls(
    context: &CommandContext,
    wanted: &WhatIfArgs,
) -> Result<Vec<FullCall>, CliError> {
    let path = ledger_file(&context.places.state);
    if !path.exists() {
        return Ok(Vec::new());
    }
    let filter = Filter { limit: wanted.limit, ..Filter::default() };
    let filter = match wanted.since {
        Some(age) => filter.within(age),
        None => filter,
    };
    let mut calls = LedgerReader::at(&path).list_full(filter).await?;
    calls.reverse();
    Ok(calls)
}

fn show(
    context: &CommandContext,
    count: usize,
    differences: &[Difference],
) -> Result<u8, CliError> {
    if context.printer.json {
        let all: Vec<Value> = differences.iter().map(as_json).collect();
        context.printer.json(&json!({"calls": count, "differences": all}))?;
    } else {
        let rows: Vec<[String; 5]> = differences
            .iter()
            .map(|difference| {
                let Difference { call, compared: VerdictChange { today, then, by } } = difference;
                let summary = &call.summary;
                [
                    summary.id.to_string(),
                    format!("{}/{}", summary.server, summary.target),
                    today.as_str().to_owned(),
                    then.as_str().to_owned(),
                    by.clone(),
                ]
            })
            .collect();
        if !rows.is_empty() {
            let heading = ["call", "target", "today", "then", "by"];
            context.printer.data(&table(context.printer.reader(), heading, &rows))?;
        }
        context.printer.say(&format!("{count} calls, {} decided otherwise", rows.len()));
    }
    Ok(if differences.is_empty() { exit_code::OK } else { exit_code::TOOL_ERROR })
}

fn as_json(difference: &Difference) -> Value {
    let Difference { call, compared: VerdictChange { today, then, by } } = difference;
    json!({
        "call": call.summary.id.to_string(),
        "target": format!("{}/{}", call.summary.server, call.summary.target),
        "caller": call.summary.caller,
        "recorded": call.summary.verdict.as_ref().map(|(verdict, _)| verdict.as_str()),
        "today": today.as_str(),
        "then": then.as_str(),
        "by": by,
    })
}
