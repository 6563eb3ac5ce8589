//! Calls through the `switchboard serve` that runs for this home: its servers are not started again.

use std::time::Duration;

use serde_json::Value;
use serde_json::value::RawValue;
use switchboard_catalog::definition;
use switchboard_console::{CallEnded, Proposer, TaskWanted, WantedCall, Whom};
use switchboard_core::{Origin, Outcome, ProposedCall, Target};
use switchboard_host::TaskWish;
use switchboard_terminal::{CliError, Patience, exit_code, has_person, show_progress};
use switchboard_text::percent::part;

use crate::args::OfServer;
use crate::commands::call::How;
use crate::commands::outcome::Ended;
use crate::commands::tools::row::ToolRow;
use crate::context::Context;
use crate::running::following::Following;
use crate::running::instance::Instance;
use crate::running::offers;

/// The longest call that is passed on.
const LONGEST: usize = 32 << 20;
/// What is part of this program needs no start, and looks at the folder that it is called in.
const BUILT_IN: &str = "built in";

/// A server of the instance that runs.
pub(crate) struct RunningServer {
    instance: Instance,
    name: String,
}

impl RunningServer {
    /// The server, ready where it runs; nothing if it is not: the usual way has the words for why.
    pub(crate) async fn find(context: &Context, name: &str) -> Result<Option<Self>, CliError> {
        let of = OfServer { server: Some(name.to_owned()) };
        let looking = async {
            let (instance, rows) = Instance::find(context).await?;
            let is_it = |row: &&Value| row["name"] == name;
            let row = rows.iter().find(is_it)?;
            if row["transport"] == BUILT_IN {
                return None;
            }
            offers::settled(context, &instance, &of, rows).await?;
            Some(Self { instance, name: name.to_owned() })
        };
        let found = context.interrupts.token().run_until_cancelled(looking).await;
        let found = found.ok_or_else(interrupted)?;
        if let Some(found) = &found {
            found.tell_held(context).await;
        }
        Ok(found)
    }

    /// What a tool takes.
    pub(crate) async fn schema(&self, tool: &str) -> Option<Value> {
        let (server, tool) = (part(&self.name), part(tool));
        let path = format!("/api/v1/catalog/tools/{server}/{tool}");
        let row: ToolRow = self.instance.get(&path).await?;
        serde_json::from_str(definition(&row.item()).input_schema?.get()).ok()
    }

    /// How the value of an argument may go on; nothing if it does not say.
    pub(crate) async fn complete(&self, begun: &Value) -> Option<Value> {
        self.instance.tell("/api/v1/complete", begun).await
    }

    /// Makes a call there; nothing if it was not taken, and so has not run.
    pub(crate) async fn call(
        &self,
        context: &Context,
        proposed: &ProposedCall,
        how: &How<'_>,
    ) -> Result<Option<Ended>, CliError> {
        let Some(wanted) = wanted(proposed, how) else { return Ok(None) };
        let target = &proposed.target;
        let limit_bytes = context.silent_config().settings.result_limit_bytes;
        let stop = context.interrupts.token();
        let beginning = self.instance.begin_call(&wanted, limit_bytes);
        let begun = stop.run_until_cancelled(beginning).await.ok_or_else(interrupted)?;
        let Some(stream) = begun.map_err(|_| gone(target))? else { return Ok(None) };
        let (progress, bar) = show_progress(&context.printer, &format!("calling {target}"));
        // The question needs the terminal for itself.
        if how.caller.origin != Origin::Person {
            bar.finish_and_clear();
        }
        let following = Following::new(context, &self.instance, stream, progress);
        let ended = following.until_the_end().await;
        bar.finish_and_clear();
        match ended {
            Some(ended) => Ok(Some(ended_of(ended))),
            None if stop.is_cancelled() => Err(interrupted()),
            None => Err(gone(target)),
        }
    }

    /// What a person has to look at before it can be used.
    async fn tell_held(&self, context: &Context) {
        let name = &self.name;
        let held: Vec<Value> = self.instance.get("/api/v1/pins").await.unwrap_or_default();
        let Some(held) = held.iter().find(|one| one["server"] == **name) else { return };
        let count = held["definitions"].as_array().map_or(0, Vec::len);
        context.tell_held(name, held["whole"].as_str(), count);
    }
}

/// What is told there of what is wanted; nothing if it cannot be told.
fn wanted(proposed: &ProposedCall, how: &How<'_>) -> Option<WantedCall> {
    let ProposedCall { target, arguments } = proposed;
    let text = arguments.as_str();
    let people = match how.patience {
        _ if has_person() => Whom::Here,
        Some(_) => Whom::Elsewhere,
        None => Whom::Nobody,
    };
    let wait_seconds = match how.patience {
        Some(Patience::For(limit)) => Some(limit.as_secs()),
        Some(Patience::Usual) | None => None,
    };
    let origin = match how.caller.origin {
        Origin::Person => Proposer::Person,
        Origin::Model | Origin::Client => Proposer::Model,
    };
    let task = match how.wish {
        TaskWish::AsConfigured => TaskWanted::AsConfigured,
        TaskWish::Task => TaskWanted::Task,
        TaskWish::Detach => TaskWanted::Detach,
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
    .filter(|_| text.len() <= LONGEST)
}

fn ended_of(ended: CallEnded) -> Ended {
    let outcome = Outcome {
        reason: ended.reason,
        message: ended.message,
        hint: ended.hint,
        result: ended.result.map(Into::into),
        ..Outcome::new(ended.outcome)
    };
    Ended {
        id: ended.id.and_then(|id| id.parse().ok()),
        outcome,
        duration: Duration::from_micros(ended.microseconds),
        recorded: ended.recorded,
    }
}

fn interrupted() -> CliError {
    CliError::new(exit_code::INTERRUPTED, "interrupted")
}

/// It is not called again: it may have run.
fn gone(target: &Target) -> CliError {
    let server = &target.server;
    let message = format!(
        "the `switchboard serve` that called `{target}` went away before it told how that ended; \
         it may have run"
    );
    let hint = format!("`switchboard calls --server {server}` shows what is known of it");
    CliError::new(exit_code::FAILED, message).with_hint(hint)
}
