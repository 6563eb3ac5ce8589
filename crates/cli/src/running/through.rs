//! Calls through the `switchboard serve` that runs for this home: its servers are not started again.

use std::time::Duration;

use serde_json::Value;
use serde_json::value::RawValue;
use switchboard_catalog::definition;
use switchboard_console::{CallEnded, Proposer, TaskWanted, WantedCall, Whom};
use switchboard_core::{Origin, Outcome, ProposedCall, Target};
use switchboard_host::TaskMode;
use switchboard_terminal::{CliError, ReviewWait, exit_code, has_person, show_progress};
use switchboard_text::percent::encode_component;

use crate::args::ServerArg;
use crate::commands::call::CallSettings;
use crate::commands::outcome::FinishedCall;
use crate::commands::tools::row::ToolListing;
use crate::context::CommandContext;
use crate::running::following::RemoteCall;
use crate::running::instance::RunningInstance;
use crate::running::offers;

/// The longest call that is passed on.
const MAX_CALL_BYTES: usize = 32 << 20;
/// What is part of this program needs no start, and looks at the folder that it is called in.
const BUILT_IN: &str = "built in";

/// A server of the instance that runs.
pub(crate) struct RunningServer {
    instance: RunningInstance,
    name: String,
}

impl RunningServer {
    /// The server, ready where it runs; nothing if it is not: the usual way has the words for why.
    pub(crate) async fn find(
        context: &CommandContext,
        name: &str,
    ) -> Result<Option<Self>, CliError> {
        let of = ServerArg { server: Some(name.to_owned()) };
        let looking = async {
            let (instance, rows) = RunningInstance::find(context).await?;
            let is_it = |row: &&Value| row["name"] == name;
            let row = rows.iter().find(is_it)?;
            if row["transport"] == BUILT_IN {
                return None;
            }
            offers::wait_settled(context, &instance, &of, rows).await?;
            Some(Self { instance, name: name.to_owned() })
        };
        let found = context.interrupts.token().run_until_cancelled(looking).await;
        let found = found.ok_or_else(interrupted_error)?;
        if let Some(found) = &found {
            found.tell_held(context).await;
        }
        Ok(found)
    }

    /// What a tool takes.
    pub(crate) async fn schema(&self, tool: &str) -> Option<Value> {
        let server = encode_component(&self.name);
        let tool = encode_component(tool);
        let path = format!("/api/v1/catalog/tools/{server}/{tool}");
        let row: ToolListing = self.instance.get(&path).await?;
        serde_json::from_str(definition(&row.item()).input_schema?.get()).ok()
    }

    /// How the value of an argument may go on; nothing if it does not say.
    pub(crate) async fn complete(&self, begun: &Value) -> Option<Value> {
        self.instance.post_json("/api/v1/complete", begun).await
    }

    /// Makes a call there; nothing if it was not taken, and so has not run.
    pub(crate) async fn call(
        &self,
        context: &CommandContext,
        proposed: &ProposedCall,
        how: &CallSettings<'_>,
    ) -> Result<Option<FinishedCall>, CliError> {
        let Some(wanted) = to_wanted_call(proposed, how) else { return Ok(None) };
        let target = &proposed.target;
        let limit_bytes = context.silent_config().settings.result_limit_bytes;
        let stop = context.interrupts.token();
        let beginning = self.instance.begin_call(&wanted, limit_bytes);
        let begun = stop.run_until_cancelled(beginning).await.ok_or_else(interrupted_error)?;
        let Some(stream) = begun.map_err(|_| lost_call_error(target))? else { return Ok(None) };
        let (progress, bar) = show_progress(&context.printer, &format!("calling {target}"));
        // The question needs the terminal for itself.
        if how.caller.origin != Origin::Person {
            bar.finish_and_clear();
        }
        let following = RemoteCall::new(context, &self.instance, stream, progress);
        let ended = following.run().await;
        bar.finish_and_clear();
        match ended {
            Some(ended) => Ok(Some(to_finished_call(ended))),
            None if stop.is_cancelled() => Err(interrupted_error()),
            None => Err(lost_call_error(target)),
        }
    }

    /// What a person has to look at before it can be used.
    async fn tell_held(&self, context: &CommandContext) {
        let name = &self.name;
        let held: Vec<Value> = self.instance.get("/api/v1/pins").await.unwrap_or_default();
        let Some(held) = held.iter().find(|one| one["server"] == **name) else { return };
        let count = held["definitions"].as_array().map_or(0, Vec::len);
        context.report_held(name, held["whole"].as_str(), count);
    }
}

/// What is told there of what is wanted; nothing if it cannot be told.
fn to_wanted_call(proposed: &ProposedCall, how: &CallSettings<'_>) -> Option<WantedCall> {
    let ProposedCall { target, arguments } = proposed;
    let text = arguments.as_str();
    let people = match how.patience {
        _ if has_person() => Whom::Here,
        Some(_) => Whom::Elsewhere,
        None => Whom::Nobody,
    };
    let wait_seconds = match how.patience {
        Some(ReviewWait::For(limit)) => Some(limit.as_secs()),
        Some(ReviewWait::Usual) | None => None,
    };
    let origin = match how.caller.origin {
        Origin::Person => Proposer::Person,
        Origin::Model | Origin::Client => Proposer::Model,
    };
    let task = match how.wish {
        TaskMode::AsConfigured => TaskWanted::AsConfigured,
        TaskMode::Task => TaskWanted::Task,
        TaskMode::Detach => TaskWanted::Detach,
    };
    Some(WantedCall {
        server: target.server.clone(),
        kind: target.kind.as_str().to_owned(),
        name: target.name.clone(),
        arguments: Some(RawValue::from_string(text.to_owned()).ok()?),
        origin,
        people,
        wait_seconds,
        task,
    })
    .filter(|_| text.len() <= MAX_CALL_BYTES)
}

fn to_finished_call(ended: CallEnded) -> FinishedCall {
    let outcome = Outcome {
        reason: ended.reason,
        message: ended.message,
        hint: ended.hint,
        result: ended.result.map(Into::into),
        ..Outcome::new(ended.outcome)
    };
    FinishedCall {
        id: ended.id.and_then(|id| id.parse().ok()),
        outcome,
        duration: Duration::from_micros(ended.microseconds),
        recorded: ended.recorded,
    }
}

fn interrupted_error() -> CliError {
    CliError::new(exit_code::INTERRUPTED, "interrupted")
}

/// It is not called again: it may have run.
fn lost_call_error(target: &Target) -> CliError {
    let server = &target.server;
    let message = format!(
        "the `switchboard serve` that called `{target}` went away before it told how that ended; \
         it may have run"
    );
    let hint = format!("`switchboard calls --server {server}` shows what is known of it");
    CliError::new(exit_code::FAILED, message).with_hint(hint)
}
