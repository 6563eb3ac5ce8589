//! Says what a changed policy would have decided otherwise about recorded calls.

use std::collections::HashMap;

use serde_json::{Value, json};
use switchboard_host::config::{Config, Effect, Level};
use switchboard_host::host::ledger_file;
use switchboard_host::policy::{Facts, Policy, Rules, SessionFacts, is_trusted};
use switchboard_host::record::{Filter, Full, Reader};
use switchboard_host::{Caller, Face, Origin, Target};

use crate::args_policy::{LevelChoice, WhatIf};
use crate::commands::policy::{checked, usable, with_file};
use crate::context::Context;
use crate::error::CliError;
use crate::exit_code;
use crate::ui::table::table;

/// A call about which the two policies do not agree.
struct Difference {
    call: Full,
    was: Effect,
    would_be: Effect,
    by: String,
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
    let changed = with_file(&config.policies, file);
    let (today, changed) = (Policy::of(&config.policies), Policy::of(&changed));
    let calls = recorded(context, wanted).await?;
    let count = calls.len();
    let mut sessions: HashMap<String, SessionFacts> = HashMap::new();
    let mut differences = Vec::new();
    for call in calls {
        let caller = caller(&call);
        let session = sessions.entry(session_of(&call)).or_default();
        let (was, _) = decided(&config, &today, &call, (&caller, session));
        let (would_be, by) = decided(&config, &changed, &call, (&caller, session));
        session.calls += 1;
        if call.intent_at.is_some() {
            let server = call.summary.server.as_str();
            match config.servers.get(server).is_some_and(is_trusted) {
                true => session.read(server),
                false => session.read_untrusted(server),
            }
        }
        if was != would_be {
            differences.push(Difference { call, was, would_be, by });
        }
    }
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
    let reader = Reader::at(&path);
    let listed = reader.list(filter).await?;
    let mut calls = Vec::new();
    for summary in listed.into_iter().rev() {
        calls.extend(reader.show(summary.id).await?);
    }
    Ok(calls)
}

fn decided(
    config: &Config,
    policy: &Policy,
    call: &Full,
    (caller, session): (&Caller, &SessionFacts),
) -> (Effect, String) {
    let summary = &call.summary;
    let target = Target::new(summary.kind, &summary.server, &summary.target);
    let bytes = call.sent_arguments.as_ref().unwrap_or(&call.arguments);
    let arguments = String::from_utf8_lossy(bytes);
    let server = config.servers.get(summary.server.as_str());
    let facts = Facts::without_definition(&target, &arguments, server, caller, session);
    let rules = Rules { policy: Some(policy), ..Rules::of(&config.settings, &[]) };
    let verdict = match server {
        Some(server) => rules.verdict(&facts, Some(server)),
        None => rules.verdict_alone(&facts),
    };
    let (effect, by) = verdict.told();
    (effect, by.to_owned())
}

fn caller(call: &Full) -> Caller {
    let face = match call.summary.face.as_str() {
        "cli" => Face::Cli,
        "chat" => Face::Chat,
        "gateway" => Face::Gateway,
        "console" => Face::Console,
        _ => Face::Library,
    };
    let (origin, name) = call.summary.caller.split_once(':').unwrap_or_default();
    let origin = match origin {
        "person" => Origin::Person,
        "client" => Origin::Client,
        _ => Origin::Model,
    };
    Caller { face, origin, name: name.to_owned(), reference: call.reference.clone() }
}

/// Which calls belong together.
fn session_of(call: &Full) -> String {
    let conversation = call.reference.as_deref().and_then(|text| text.split_once('/'));
    conversation.map_or_else(|| call.summary.caller.clone(), |(session, _)| session.to_owned())
}

fn show(context: &Context, count: usize, differences: &[Difference]) -> Result<u8, CliError> {
    if context.printer.json {
        let all: Vec<Value> = differences.iter().map(as_json).collect();
        context.printer.json(&json!({"calls": count, "differences": all}))?;
    } else {
        let rows: Vec<[String; 5]> = differences
            .iter()
            .map(|difference| {
                let Difference { call, was, would_be, by } = difference;
                let summary = &call.summary;
                [
                    summary.id.to_string(),
                    format!("{}/{}", summary.server, summary.target),
                    was.as_str().to_owned(),
                    would_be.as_str().to_owned(),
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
    let Difference { call, was, would_be, by } = difference;
    json!({
        "call": call.summary.id.to_string(),
        "target": format!("{}/{}", call.summary.server, call.summary.target),
        "caller": call.summary.caller,
        "recorded": call.summary.verdict.as_ref().map(|(verdict, _)| verdict.as_str()),
        "today": was.as_str(),
        "then": would_be.as_str(),
        "by": by,
    })
}
