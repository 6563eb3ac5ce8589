//! `switchboard call`: calls one tool.

use std::path::PathBuf;

use clap::Args;
use serde_json::Value;
use switchboard_config::Config;
use switchboard_core::{Caller, Face, Origin, ProposedCall, ServerId, Target};
use switchboard_host::{CallOptions, Host, TaskMode};
use switchboard_terminal::{
    CliError, ReviewWait, arguments_from_json, arguments_from_words, show_progress,
};

use crate::args::ServerArg;
use crate::commands::outcome::FinishedCall;
use crate::commands::review::ReviewWaitArgs;
use crate::commands::{outcome, tools};
use crate::context::CommandContext;
use crate::running::RunningServer;

#[derive(Debug, Args)]
pub(crate) struct CallArgs {
    /// Name of the server
    pub(crate) server: String,
    /// Name of the tool
    pub(crate) tool: String,
    /// Arguments as key=value, key:=JSON or key=@FILE
    #[arg(value_name = "KEY=VALUE")]
    pub(crate) arguments: Vec<String>,
    /// All arguments as one JSON object; `-` reads standard input
    #[arg(long, value_name = "JSON", conflicts_with = "arguments")]
    pub(crate) json_args: Option<String>,
    /// Apply the policy as if a model had proposed the call, which may require approval
    #[arg(long)]
    pub(crate) review: bool,
    #[command(flatten)]
    pub(crate) wait: ReviewWaitArgs,
    /// Save images, audio and files of the result to this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) save: Option<PathBuf>,
    /// Run the call as a task on the server, if the server supports it
    #[arg(long)]
    pub(crate) task: bool,
    /// Run the call as a task and return at once; `switchboard tasks wait` gets the result
    #[arg(long)]
    pub(crate) detach: bool,
}

pub(crate) async fn run(context: &CommandContext, call: CallArgs) -> Result<u8, CliError> {
    if call.detach && context.shared.no_record {
        return Err(CliError::usage("`--detach` needs the record, which `--no-record` turns off")
            .with_hint("omit one of the two options"));
    }
    let config = context.config()?;
    let id = context.server_id(&config, &call.server)?;
    // Before a server starts, so that a mistake in the JSON is reported at once.
    let mut given = call.json_args.as_deref().map(arguments_from_json).transpose()?;
    let how = CallSettings {
        caller: caller(&call),
        wish: task_mode(&call),
        save: call.save.as_deref(),
        patience: call.wait.patience,
    };
    if let Some(running) = RunningServer::find(context, &call.server).await? {
        let arguments = match given {
            Some(given) => given,
            None if call.arguments.is_empty() => arguments_from_words(&[], None)?,
            None => {
                arguments_from_words(&call.arguments, running.schema(&call.tool).await.as_ref())?
            }
        };
        let proposed = ProposedCall::tool(&call.server, &call.tool, arguments);
        if let Some(ended) = running.call(context, &proposed, &how).await? {
            return show(context, &proposed.target, &ended, &how);
        }
        // Arguments read from standard input cannot be read again.
        given = Some(proposed.arguments);
    }
    let only = Some(with_fallbacks(&config, &id, &call.tool));
    let host = context.start_with_wait(only, call.wait.patience)?;
    context.wait_ready(&host, Some(std::slice::from_ref(&id))).await?;
    let arguments = match given {
        Some(given) => Ok(given),
        None => arguments_from_words(&call.arguments, schema(&host, &id, &call.tool).as_ref()),
    };
    let outcome = match arguments {
        Ok(arguments) => {
            let proposed = ProposedCall::tool(&call.server, &call.tool, arguments);
            execute(context, &host, proposed, how).await
        }
        Err(error) => Err(error),
    };
    host.stop().await;
    outcome
}

pub(crate) struct CallSettings<'a> {
    pub(crate) caller: Caller,
    pub(crate) wish: TaskMode,
    pub(crate) save: Option<&'a std::path::Path>,
    /// How long the call waits for a reviewer at another face.
    pub(crate) patience: Option<ReviewWait>,
}

impl CallSettings<'_> {
    pub(crate) fn person() -> Self {
        Self { caller: Caller::person(), wish: TaskMode::AsConfigured, save: None, patience: None }
    }
}

/// Runs a call with a progress display, cancels it on Ctrl-C, and shows its outcome.
pub(crate) async fn execute(
    context: &CommandContext,
    host: &Host,
    proposed: ProposedCall,
    how: CallSettings<'_>,
) -> Result<u8, CliError> {
    let target = proposed.target.clone();
    let ended = run_own(context, host, proposed, &how).await;
    show(context, &target, &ended, &how)
}

/// Runs a call in a running instance, or else with a server that is started for it.
pub(crate) async fn run_anywhere(
    context: &CommandContext,
    proposed: ProposedCall,
    how: &CallSettings<'_>,
) -> Result<FinishedCall, CliError> {
    let server = &proposed.target.server;
    if let Some(running) = RunningServer::find(context, server).await? {
        // Report configuration problems even if another instance runs the servers.
        let config = context.config()?;
        context.server_id(&config, server)?;
        if let Some(ended) = running.call(context, &proposed, how).await? {
            return Ok(ended);
        }
    }
    let host = tools::start(context, &ServerArg { server: Some(server.clone()) }).await?;
    let ended = run_own(context, &host, proposed, how).await;
    host.stop().await;
    Ok(ended)
}

pub(crate) fn show(
    context: &CommandContext,
    target: &Target,
    ended: &FinishedCall,
    how: &CallSettings<'_>,
) -> Result<u8, CliError> {
    if how.wish == TaskMode::Detach && ended.outcome.is_running() {
        return outcome::show_task(context, target, ended);
    }
    outcome::show(context, target, ended, how.save)
}

async fn run_own(
    context: &CommandContext,
    host: &Host,
    proposed: ProposedCall,
    how: &CallSettings<'_>,
) -> FinishedCall {
    let CallSettings { caller, wish, .. } = how;
    let target = &proposed.target;
    let (progress, bar) = show_progress(&context.printer, &format!("calling {target}"));
    // A review question needs the terminal, so do not draw a progress bar.
    if caller.origin != Origin::Person {
        bar.finish_and_clear();
    }
    let attention = CallOptions {
        cancel: context.interrupts.token().clone(),
        progress: Some(progress),
        task_mode: *wish,
        ..CallOptions::default()
    };
    let record = host.call_with(&host.lease(), proposed, caller, &attention).await;
    bar.finish_and_clear();
    record.into()
}

const fn task_mode(call: &CallArgs) -> TaskMode {
    match (call.detach, call.task) {
        (true, _) => TaskMode::Detach,
        (false, true) => TaskMode::Task,
        (false, false) => TaskMode::AsConfigured,
    }
}

fn caller(call: &CallArgs) -> Caller {
    if call.review {
        let name = "review".to_owned();
        Caller { face: Face::Cli, origin: Origin::Model, name, reference: None }
    } else {
        Caller::person()
    }
}

/// Returns the servers that a call may need: its own, and its fallbacks.
fn with_fallbacks(config: &Config, id: &ServerId, tool: &str) -> Vec<ServerId> {
    let mut servers = vec![id.clone()];
    if let Some(server) = config.servers.get(id) {
        let of_tool = server.tools.get(tool).and_then(|tool| tool.fallback.as_deref());
        for place in [of_tool, server.fallback.as_deref()].into_iter().flatten() {
            let name = place.rsplit_once('/').map_or(place, |(server, _)| server);
            // A fallback is `server` or `server/tool`, and a server name may contain slashes.
            let known = |wanted: &str| config.servers.keys().find(|id| id.as_str() == wanted);
            servers.extend([place, name].into_iter().find_map(known).cloned());
        }
    }
    servers
}

fn schema(host: &Host, id: &ServerId, tool: &str) -> Option<Value> {
    let fleet = host.fleet().load();
    let tool = fleet.servers.get(id)?.offers.tool(tool)?;
    serde_json::from_str(tool.definition().input_schema?.get()).ok()
}
