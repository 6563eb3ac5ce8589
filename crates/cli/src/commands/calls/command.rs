//! Lists and shows recorded calls.

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use switchboard_core::OutcomeKind;
use switchboard_store::{CallId, CallSummary, Filter, FullCall, StoredResult};
use switchboard_terminal::{CliError, exit_code, table};
use switchboard_text::{escape, escape_json};

use crate::commands::audit;
use crate::commands::audit::verify_untouched;
use crate::commands::calls::timeline;
use crate::commands::outcome::milliseconds;
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
    /// Only of this server
    #[arg(long, short, value_name = "NAME")]
    pub(crate) server: Option<String>,
    /// Only those that ended so: `ok`, `tool_error`, `denied`, `rejected`, `not_sent`, `refused`,
    /// `failed`, `unknown`, `cancelled` or `invalid_output`
    #[arg(long, short, value_name = "OUTCOME")]
    pub(crate) outcome: Option<String>,
    /// Only those before this one
    #[arg(long, value_name = "ID")]
    pub(crate) before: Option<String>,
    /// At most so many
    #[arg(long, short = 'n', default_value_t = 20)]
    pub(crate) limit: u32,
    /// With `--json`: everything about each of them, as `calls show` has it
    #[arg(long)]
    pub(crate) full: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CallsCommand {
    /// List calls, the newest first
    #[command(visible_alias = "ls")]
    List(CallFilterArgs),
    /// Show everything about a call
    Show {
        /// The call's id
        id: String,
    },
    /// Check that the record is as it was written, and name the first call that is not
    Verify,
    /// List what became of definitions and entries: flagged, approved, taken back, added
    Audit,
}

/// Runs `switchboard calls`.
pub(crate) async fn run(context: &CommandContext, args: CallsArgs) -> Result<u8, CliError> {
    match args.command.unwrap_or(CallsCommand::List(args.list)) {
        CallsCommand::List(filter) => list(context, &filter).await,
        CallsCommand::Show { id } => show(context, &id).await,
        CallsCommand::Verify => verify(context).await,
        CallsCommand::Audit => audit::list(context),
    }
}

/// Lists calls, the newest first.
async fn list(context: &CommandContext, filter: &CallFilterArgs) -> Result<u8, CliError> {
    let outcome = match &filter.outcome {
        None => None,
        Some(word) => Some(word.parse().map_err(|_| {
            CliError::usage(format!("there is no outcome `{word}`"))
                .with_hint("`switchboard calls --help` lists them")
        })?),
    };
    let before_id = filter.before.as_deref().map(str::parse::<CallId>).transpose();
    let before_id = before_id.map_err(|error| {
        CliError::usage(error.to_string()).with_hint("give a number of that list")
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
    if context.printer.json {
        context.printer.json(&calls.iter().map(as_json).collect::<Vec<_>>())?;
    } else {
        let rows: Vec<[String; 7]> = calls.iter().map(row).collect();
        let heading = ["id", "when", "server", "target", "outcome", "ms", "caller"];
        context.printer.data(&table(context.printer.reader(), heading, &rows))?;
        if calls.is_empty() {
            let is_narrow =
                filter.server.is_some() || filter.outcome.is_some() || filter.before.is_some();
            context.printer.say(match is_narrow || filter.limit == 0 {
                true => "no recorded call is among those that are wanted",
                false => "no calls are recorded",
            });
        }
    }
    Ok(exit_code::OK)
}

/// Checks that the record is as it was written.
async fn verify(context: &CommandContext) -> Result<u8, CliError> {
    let verified = reader(context).await?.verify().await?;
    if context.printer.json {
        context.printer.json(&verified)?;
    }
    if verified.wrong.is_none() {
        verify_untouched(context)?;
    }
    let Some(wrong) = &verified.wrong else {
        let sealed = verified.sealed;
        let unsealed = verified.unsealed;
        if !context.printer.json {
            let text =
                format!("{sealed} calls are as they were recorded, {unsealed} not sealed yet");
            context.printer.data(&text)?;
        }
        return Ok(exit_code::OK);
    };
    let which = wrong.call.map_or_else(String::new, |call| format!("call {}: ", CallId::new(call)));
    Err(CliError::new(exit_code::TROUBLE, format!("the record was changed: {which}{}", wrong.what)))
}

/// Shows everything about a call.
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
        context.printer.json(&value)?;
        return Ok(exit_code::OK);
    }
    let mut text = String::new();
    for (key, value) in value.as_object().into_iter().flatten() {
        let shown = match value {
            Value::Null => continue,
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
    for line in timeline::lines(&call) {
        text.push_str(&format!("{line}\n"));
    }
    context.printer.data(&text)?;
    Ok(exit_code::OK)
}

fn row(call: &CallSummary) -> [String; 7] {
    [
        call.id.to_string(),
        call.created_at.strftime("%Y-%m-%d %H:%M:%S").to_string(),
        call.server.clone(),
        call.target.clone(),
        state(call).to_owned(),
        call.duration
            .map(|taken| format!("{:.1}", taken.as_secs_f64() * 1_000.0))
            .unwrap_or_default(),
        format!("{}/{}", call.face, call.caller),
    ]
}

/// How it ended, or what it does instead.
fn state(call: &CallSummary) -> &'static str {
    match (call.outcome, &call.task) {
        (Some(outcome), _) => outcome.as_str(),
        (None, Some(_)) => "running",
        (None, None) => "under way",
    }
}

fn as_json(call: &CallSummary) -> Value {
    json!({
        "id": call.id.to_string(),
        "created_at": call.created_at.to_string(),
        "face": call.face,
        "caller": call.caller,
        "server": call.server,
        "kind": call.kind.as_str(),
        "target": call.target,
        "verdict": call.verdict.as_ref().map(|(verdict, _)| verdict.as_str()),
        "verdict_by": call.verdict.as_ref().map(|(_, by)| by),
        "outcome": call.outcome.map(OutcomeKind::as_str),
        "reason": call.reason,
        "milliseconds": call.duration.map(milliseconds),
        "result_bytes": call.result_bytes,
        "task": call.task,
    })
}

fn full(call: &FullCall) -> Value {
    let mut value = as_json(&call.summary);
    let text = |bytes: &[u8]| {
        serde_json::from_slice(bytes).unwrap_or_else(|_| json!(String::from_utf8_lossy(bytes)))
    };
    let result = match &call.result {
        None => Value::Null,
        Some(StoredResult::Whole(bytes)) => text(bytes),
        Some(other) => json!(format!("{other:?}")),
    };
    if let Some(members) = value.as_object_mut() {
        members.insert("arguments".to_owned(), text(&call.arguments));
        let sent = call.sent_arguments.as_ref().map_or(Value::Null, |sent| text(sent));
        members.insert("sent_arguments".to_owned(), sent);
        members.insert("message".to_owned(), json!(call.message));
        members.insert("instance".to_owned(), json!(call.instance));
        members.insert("attempts".to_owned(), json!(call.attempts));
        members.insert("fallback".to_owned(), json!(call.fallback));
        members.insert("definition".to_owned(), json!(call.definition_digest));
        members.insert(
            "late_answer".to_owned(),
            call.late.as_ref().map_or(Value::Null, |late| text(late)),
        );
        members.insert("result".to_owned(), result);
        members.insert("sent_at".to_owned(), json!(call.intent_at.map(|at| at.to_string())));
        let finished_at = call.finished_at.map(|at| at.to_string());
        members.insert("finished_at".to_owned(), json!(finished_at));
        let timeline = call.timeline.clone().unwrap_or_default();
        members.insert("steps".to_owned(), json!(timeline.step_views(call.summary.created_at)));
        members.insert("progress_reports".to_owned(), json!(timeline.progress_reports()));
        members.insert("messages_heard".to_owned(), json!(timeline.messages()));
    }
    value
}
