//! Says what a changed policy would have decided otherwise about recorded calls.

use serde_json::{Value, json};
use switchboard_host::config::{Annotations, Level};
use switchboard_host::host::ledger_file;
use switchboard_host::past_call;
use switchboard_host::policy::{self, Compared, Past};
use switchboard_host::record::{Filter, Full, Reader};
use switchboard_terminal::{CliError, exit_code, table};

use crate::args_policy::{LevelChoice, WhatIf};
use crate::commands::policy::{checked, usable};
use crate::context::Context;

/// A call about which the two policies do not agree.
struct Difference {
    call: Full,
    compared: Compared,
}

/// Decides recorded calls by the rules of today and by the changed ones; gives 1 if they differ.
pub(crate) async fn what_if(context: &Context, wanted: &WhatIf) -> Result<u8, CliError> {
    let config = usable(context)?;
    let level = match wanted.level {
        LevelChoice::Enterprise => Level::Enterprise,
        LevelChoice::Team => Level::Team,
        LevelChoice::Project => Level::Project,
        LevelChoice::User => Level::User,
    };
    let file = checked(&context.environment.current_dir.join(&wanted.file), level)?;
    let changed = config.policies.with_file(file);
    let calls = recorded(context, wanted).await?;
    let count = calls.len();
    let annotations = Annotations::load(&context.places.state, &config);
    let past: Vec<Past> = calls.iter().map(|call| past_call(call, &annotations)).collect();
    let compared = policy::what_if(&config, &changed, &past);
    let differences: Vec<Difference> = calls
        .into_iter()
        .zip(compared)
        .filter_map(|(call, compared)| compared.map(|compared| Difference { call, compared }))
        .collect();
    show(context, count, &differences)
}

/// The calls of the record, the oldest first.
async fn recorded(context: &Context, wanted: &WhatIf) -> Result<Vec<Full>, CliError> {
    let path = ledger_file(&context.places.state);
    if !path.exists() {
        return Ok(Vec::new());
    }
    let filter = Filter { limit: wanted.limit, ..Filter::default() };
    let filter = match wanted.since {
        Some(age) => filter.within(age),
        None => filter,
    };
    let mut calls = Reader::at(&path).list_full(filter).await?;
    calls.reverse();
    Ok(calls)
}

fn show(context: &Context, count: usize, differences: &[Difference]) -> Result<u8, CliError> {
    if context.printer.json {
        let all: Vec<Value> = differences.iter().map(as_json).collect();
        context.printer.json(&json!({"calls": count, "differences": all}))?;
    } else {
        let rows: Vec<[String; 5]> = differences
            .iter()
            .map(|difference| {
                let Difference { call, compared: Compared { today, then, by } } = difference;
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
    let Difference { call, compared: Compared { today, then, by } } = difference;
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
