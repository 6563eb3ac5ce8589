//! `switchboard calls`: lists, shows and verifies recorded calls.

use clap::{Args, Subcommand};
use serde::Serialize;
use serde_json::{Map, Value, json};
use switchboard_core::{Happened, OutcomeKind, ShownStep};
use switchboard_store::{CallId, CallSummary, Filter, FullCall, StoredResult};
use switchboard_terminal::{CliError, exit_code};
use switchboard_text::{escape, escape_json, escape_line};
use switchboard_views::{CallRow, CallShown, call_state};

use crate::commands::audit;
use crate::commands::audit::verify_untouched;
use crate::context::CommandContext;
use crate::recorded::reader;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct CallsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<CallsCommand>,
    #[command(flatten)]
    pub(crate) list: CallFilterArgs,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct CallFilterArgs {
    /// List only calls of this server
    #[arg(long, short, value_name = "NAME")]
    pub(crate) server: Option<String>,
    /// List only calls with this outcome: `ok`, `tool_error`, `denied`, `rejected`, `not_sent`,
    /// `refused`, `failed`, `unknown`, `cancelled` or `invalid_output`
    #[arg(long, short, value_name = "OUTCOME")]
    pub(crate) outcome: Option<String>,
    /// List only calls before this id
    #[arg(long, value_name = "ID")]
    pub(crate) before: Option<String>,
    /// Maximum number of calls to list
    #[arg(long, short = 'n', default_value_t = 20)]
    pub(crate) limit: u32,
    /// With `--json`, include everything that `calls show` prints
    #[arg(long)]
    pub(crate) full: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CallsCommand {
    /// List calls, newest first
    #[command(visible_alias = "ls")]
    List(CallFilterArgs),
    /// Show a call with its timeline
    Show {
        /// Id of the call
        id: String,
    },
    /// Check the record for tampering and report the first changed call
    Verify,
    /// Show the audit log of approvals, quarantines and added servers
    Audit,
}

pub(crate) async fn run(context: &CommandContext, args: CallsArgs) -> Result<u8, CliError> {
    match args.command.unwrap_or(CallsCommand::List(args.list)) {
        CallsCommand::List(filter) => list(context, &filter).await,
        CallsCommand::Show { id } => show(context, &id).await,
        CallsCommand::Verify => verify(context).await,
        CallsCommand::Audit => audit::list(context),
    }
}

async fn list(context: &CommandContext, filter: &CallFilterArgs) -> Result<u8, CliError> {
    let outcome = match &filter.outcome {
        None => None,
        Some(word) => Some(word.parse().map_err(|_| {
            CliError::usage(format!("unknown outcome `{word}`"))
                .with_hint("`switchboard calls --help` lists the outcomes")
        })?),
    };
    let before_id = filter.before.as_deref().map(str::parse::<CallId>).transpose();
    let before_id = before_id.map_err(|error| {
        CliError::usage(error.to_string()).with_hint("use an id from `switchboard calls`")
    })?;
    let wanted = Filter {
        server: filter.server.clone(),
        outcome,
        before_id,
        limit: filter.limit,
        ..Filter::default()
    };
    let reader = reader(context).await?;
    if context.printer.json && filter.full {
        let calls = reader.list_full(wanted).await?;
        context.printer.json(&calls.iter().map(full).collect::<Vec<_>>())?;
        return Ok(exit_code::OK);
    }
    let calls = reader.list(wanted).await?;
    let heading = ["id", "when", "server", "target", "outcome", "ms", "caller"];
    context.printer.list(&calls, as_json, heading, row)?;
    if calls.is_empty() && !context.printer.json {
        let is_narrow =
            filter.server.is_some() || filter.outcome.is_some() || filter.before.is_some();
        context.printer.say(match is_narrow || filter.limit == 0 {
            true => "no recorded call matches",
            false => "no calls are recorded",
        });
    }
    Ok(exit_code::OK)
}

async fn verify(context: &CommandContext) -> Result<u8, CliError> {
    let verified = reader(context).await?.verify().await?;
    if context.printer.json {
        context.printer.json(&verified)?;
    }
    // A broken record is reported first; the audit log matters only if the record is intact.
    if verified.wrong.is_none() {
        verify_untouched(context)?;
    }
    let Some(wrong) = &verified.wrong else {
        let sealed = verified.sealed;
        let unsealed = verified.unsealed;
        if !context.printer.json {
            context.printer.data(&format!("{sealed} calls verified, {unsealed} not sealed yet"))?;
        }
        return Ok(exit_code::OK);
    };
    let which = wrong.call.map_or_else(String::new, |call| format!("call {}: ", CallId::new(call)));
    let message = format!("the record was tampered with: {which}{}", wrong.what);
    Err(CliError::new(exit_code::TROUBLE, message))
}

async fn show(context: &CommandContext, id: &str) -> Result<u8, CliError> {
    let id: CallId = id.parse().map_err(|error| {
        CliError::usage(format!("{error}")).with_hint("`switchboard calls` lists them")
    })?;
    let found = reader(context).await?.show(id).await?;
    let Some(call) = found else {
        return Err(CliError::usage(format!("no call {id} is recorded"))
            .with_hint("`switchboard calls` lists them"));
    };
    let value = full(&call);
    if context.printer.json {
        return context.printer.json(&value).map(|()| exit_code::OK);
    }
    let mut text = String::new();
    for (key, value) in &value {
        let shown = match value {
            Value::Null => continue,
            // The timeline below shows the steps in words.
            Value::Array(_) if key == "steps" => continue,
            Value::String(text) => escape(text).into_owned(),
            other => {
                let pretty = serde_json::to_string_pretty(other).unwrap_or_default();
                escape_json(&pretty).into_owned()
            }
        };
        let break_or_space = if shown.contains('\n') { "\n" } else { " " };
        text.push_str(&format!("{key}:{break_or_space}{shown}\n"));
    }
    text.push_str("timeline:\n");
    for line in timeline_lines(&call) {
        text.push_str(&format!("{line}\n"));
    }
    context.printer.data(&text).map(|()| exit_code::OK)
}

fn row(call: &CallSummary) -> [String; 7] {
    [
        call.id.to_string(),
        call.created_at.strftime("%Y-%m-%d %H:%M:%S").to_string(),
        call.server.clone(),
        call.target.clone(),
        call_state(call).to_owned(),
        call.duration
            .map(|taken| format!("{:.1}", taken.as_secs_f64() * 1_000.0))
            .unwrap_or_default(),
        format!("{}/{}", call.face, call.caller),
    ]
}

/// Returns the members of the console's view of a call, with `outcome` instead of `state`.
fn as_json(call: &CallSummary) -> Map<String, Value> {
    with_outcome(call, &CallRow::from(call.clone()))
}

fn full(call: &FullCall) -> Map<String, Value> {
    let mut members = with_outcome(&call.summary, &CallShown::from(call.clone()));
    // These are for the console, which shows hints and loads long results separately.
    members.retain(|name, _| !["hint", "reference", "result_cut"].contains(&name.as_str()));
    let result = match &call.result {
        Some(StoredResult::Whole(bytes)) => {
            serde_json::from_slice(bytes).unwrap_or_else(|_| json!(String::from_utf8_lossy(bytes)))
        }
        Some(other) => json!(format!("{other:?}")),
        None => Value::Null,
    };
    members.insert("result".to_owned(), result);
    members
}

fn with_outcome(call: &CallSummary, view: &impl Serialize) -> Map<String, Value> {
    let Value::Object(mut members) = json!(view) else { return Map::new() };
    members.remove("state");
    members.insert("outcome".to_owned(), json!(call.outcome.map(OutcomeKind::as_str)));
    members.insert("task".to_owned(), json!(call.task));
    members
}

fn timeline_lines(call: &FullCall) -> Vec<String> {
    let summary = &call.summary;
    let timeline = call.timeline.clone().unwrap_or_default();
    let all = timeline.step_views(summary.created_at);
    let opened = summary.created_at;
    let sent = call.intent_at.map(|at| at.duration_since(opened).as_secs_f64() * 1_000.0);
    let ended = call.finished_at.map(|at| at.duration_since(opened).as_secs_f64() * 1_000.0);
    // Steps up to the moment of sending come first: verdict, hooks and reviews.
    let is_before = |step: &ShownStep| sent.is_none_or(|sent| step.after_milliseconds <= sent);
    let (before, after) = all.split_at_checked(all.partition_point(is_before)).unwrap_or_default();
    let of_step = |step: &ShownStep| line(Some(step.after_milliseconds), &sentence(step));

    let mut lines = Vec::with_capacity(all.len() + 5);
    let proposed = format!("proposed by {} through {}", summary.caller, summary.face);
    lines.push(line(Some(0.0), &proposed));
    // With hooks, each decision is a step of the timeline already.
    let is_decision = |step: &ShownStep| matches!(step.what, Happened::Decided { .. });
    if let Some((verdict, by)) = summary.verdict.as_ref().filter(|_| !all.iter().any(is_decision)) {
        lines.push(line(None, &format!("decided: {} by {by}", verdict.as_str())));
    }
    lines.extend(before.iter().map(of_step));
    if sent.is_some() {
        let to = call.instance.as_ref().map(|to| format!(" to {to}")).unwrap_or_default();
        let attempts = match call.attempts {
            0 | 1 => String::new(),
            more => format!(", {more} attempts"),
        };
        lines.push(line(sent, &format!("sent{to}{attempts}")));
    }
    lines.extend(after.iter().map(of_step));
    lines.push(match summary.outcome.map(OutcomeKind::as_str) {
        Some(outcome) => line(ended, &format!("ended: {outcome}")),
        None => line(None, "in progress"),
    });
    let is_progress = |step: &&ShownStep| matches!(step.what, Happened::Progress { .. });
    let kept = all.iter().filter(is_progress).count();
    let reports = timeline.progress_reports();
    if u64::try_from(kept).is_ok_and(|kept| kept < reports) {
        lines.push(line(None, &format!("({kept} of {reports} progress reports are kept)")));
    }
    lines
}

fn line(after: Option<f64>, text: &str) -> String {
    let time = after.map(|after| format!("+{}", duration_text(after.max(0.0)))).unwrap_or_default();
    format!("{time:>12}  {}", escape_line(text))
}

fn sentence(step: &ShownStep) -> String {
    let took = step.milliseconds.map(|took| format!(" ({})", duration_text(took)));
    let took = took.unwrap_or_default();
    let words =
        |text: &Option<String>| text.as_ref().map(|text| format!(": {text}")).unwrap_or_default();
    match &step.what {
        Happened::Decided { verdict, by } => format!("decided: {verdict} by {by}"),
        Happened::Hook { hook, level, when, answer, problem, message } => {
            let when = if when.starts_with("after") { "after" } else { "before" };
            let problem = words(problem);
            let message = words(message);
            format!("hook {when} `{hook}` ({level}): {answer}{problem}{message}{took}")
        }
        Happened::Asked { method, message, answer } => {
            let answer = answer.as_deref().unwrap_or("no answer");
            format!("the server asked `{method}`{}: {answer}{took}", words(message))
        }
        Happened::Progress { progress, total, message, .. } => {
            let total = total.as_ref().map(|total| format!(" of {total}")).unwrap_or_default();
            format!("progress {progress}{total}{}", words(message))
        }
        Happened::Said { level, text, .. } => format!("the server said ({level}): {text}"),
        Happened::Task { status, message, .. } => {
            format!("task {status}{}", words(message))
        }
    }
}

fn duration_text(time: f64) -> String {
    match time {
        ..1_000.0 => format!("{time:.1} ms"),
        _ => format!("{:.2} s", time / 1_000.0),
    }
}
