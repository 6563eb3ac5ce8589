//! `switchboard tasks`: lists, shows, awaits and cancels calls that continue as tasks.

use std::time::Duration;

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use switchboard_core::{OutcomeKind, ServerId, Target, TargetKind, TaskHandle, TaskState};
use switchboard_host::{CallOptions, Host, TaskMode};
use switchboard_store::{CallId, StoredTask, WhichTasks};
use switchboard_terminal::{CliError, exit_code, show_progress};
use switchboard_text::escape;

use crate::commands::outcome;
use crate::commands::outcome::FinishedCall;
use crate::context::CommandContext;
use crate::recorded::reader;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct TasksArgs {
    #[command(subcommand)]
    pub(crate) command: Option<TasksCommand>,
    #[command(flatten)]
    pub(crate) list: TaskListArgs,
}

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct TaskListArgs {
    /// Also query this server, which may have tasks that are not recorded here
    #[arg(long, short, value_name = "NAME")]
    pub(crate) server: Option<String>,
    /// Include tasks that have ended
    #[arg(long, short)]
    pub(crate) all: bool,
    /// Keep running and show every change
    #[arg(long, short)]
    pub(crate) watch: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TasksCommand {
    /// List calls that run as tasks on a server
    #[command(visible_alias = "ls")]
    List(TaskListArgs),
    /// Show a task with its current state on the server
    Show(TaskArgs),
    /// Wait for a task and print its result like that of a call
    Wait(TaskArgs),
    /// Cancel a task on its server
    Cancel(TaskArgs),
}

#[derive(Debug, Args)]
pub(crate) struct TaskArgs {
    /// Id of the call
    pub(crate) id: String,
}

/// How often `--watch` polls the record.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

pub(crate) async fn run(context: &CommandContext, args: TasksArgs) -> Result<u8, CliError> {
    match args.command.unwrap_or(TasksCommand::List(args.list)) {
        TasksCommand::List(list) if list.watch => watch(context, &list).await,
        TasksCommand::List(list) => show_list(context, &list).await,
        TasksCommand::Show(one) => show(context, &one).await,
        TasksCommand::Wait(one) => wait(context, &one).await,
        TasksCommand::Cancel(one) => cancel(context, &one).await,
    }
}

async fn show_list(context: &CommandContext, list: &TaskListArgs) -> Result<u8, CliError> {
    let known = reader(context).await?.tasks(which(list)).await?;
    let strangers = match &list.server {
        Some(server) => unrecorded_tasks(context, server, &known).await?,
        None => Vec::new(),
    };
    let of_server =
        |task: &&StoredTask| list.server.as_ref().is_none_or(|server| task.place.server == *server);
    let known: Vec<&StoredTask> = known.iter().filter(of_server).collect();
    if context.printer.json {
        let mut all: Vec<Value> = known.iter().map(|task| as_json(task)).collect();
        let server = list.server.as_deref().unwrap_or_default();
        all.extend(strangers.iter().map(|(task, state)| unrecorded_json(server, task, state)));
        return context.printer.json(&all).map(|()| exit_code::OK);
    }
    let mut rows: Vec<[String; 6]> = known.iter().map(|task| row(task)).collect();
    rows.extend(strangers.iter().map(|(task, state)| {
        let server = list.server.clone().unwrap_or_default();
        let status = state.status.as_str().to_owned();
        let said = state.message.clone();
        let nothing = String::new;
        [nothing(), nothing(), server, task.id.clone(), status, said.unwrap_or_default()]
    }));
    context.printer.table(["id", "since", "server", "what", "state", "says"], &rows)?;
    if rows.is_empty() {
        context.printer.say("no running tasks");
    }
    Ok(exit_code::OK)
}

async fn unrecorded_tasks(
    context: &CommandContext,
    server: &str,
    known: &[StoredTask],
) -> Result<Vec<(TaskHandle, TaskState)>, CliError> {
    let host = start_host(context, server).await?;
    let told = host.tasks().list(server).await;
    host.stop().await;
    let ours = |task: &TaskHandle| {
        known.iter().any(|known| known.place.server == server && known.task.id == task.id)
    };
    let mut told = told?;
    told.retain(|(task, _)| !ours(task));
    Ok(told)
}

async fn watch(context: &CommandContext, list: &TaskListArgs) -> Result<u8, CliError> {
    let reader = reader(context).await?;
    let watching = async {
        let mut before: Vec<StoredTask> = Vec::new();
        loop {
            // Query all tasks, so that one that has just ended is shown too.
            let now = reader.tasks(WhichTasks::All).await?;
            let first = before.is_empty();
            for task in now.iter().rev().filter(|task| !before.contains(task)) {
                let wanted = !first || list.all || task.outcome.is_none();
                let of_server =
                    list.server.as_ref().is_none_or(|server| task.place.server == *server);
                if !(wanted && of_server) {
                    continue;
                }
                if context.printer.json {
                    context.printer.json(&as_json(task))?;
                } else {
                    let line = row(task).join("  ");
                    context.printer.data(&escape(line.trim_end()))?;
                }
            }
            before = now;
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    };
    context.watch(watching).await
}

async fn show(context: &CommandContext, one: &TaskArgs) -> Result<u8, CliError> {
    let stored = find_task(context, one).await?;
    let mut value = as_json(&stored);
    if stored.outcome.is_none() {
        let host = start_host(context, &stored.place.server).await?;
        let now = host.tasks().state(stored.call).await;
        host.stop().await;
        let said = match now {
            Ok(state) => json!({"status": state.status.as_str(), "message": state.message}),
            Err(error) => json!({"error": error.to_string()}),
        };
        if let Some(members) = value.as_object_mut() {
            members.insert("now".to_owned(), said);
        }
    }
    if context.printer.json {
        return context.printer.json(&value).map(|()| exit_code::OK);
    }
    let mut text = String::new();
    for (key, value) in value.as_object().into_iter().flatten() {
        let shown = match value {
            Value::Null => continue,
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        text.push_str(&format!("{key}: {}\n", escape(&shown)));
    }
    context.printer.data(&text).map(|()| exit_code::OK)
}

async fn wait(context: &CommandContext, one: &TaskArgs) -> Result<u8, CliError> {
    let stored = find_task(context, one).await?;
    let host = start_host(context, &stored.place.server).await?;
    let target = target(&stored);
    let (progress, bar) = show_progress(&context.printer, &format!("waiting for {target}"));
    let attention = CallOptions {
        cancel: context.interrupts.token().clone(),
        progress: Some(progress),
        task_mode: TaskMode::AsConfigured,
        ..CallOptions::default()
    };
    let record = host.tasks().finish(stored.call, &attention).await;
    bar.finish_and_clear();
    host.stop().await;
    let shown = outcome::show(context, &target, &record?.into(), None);
    // Ctrl-C stops only the waiting; the task keeps running on its server.
    if context.interrupts.token().is_cancelled() { Ok(exit_code::INTERRUPTED) } else { shown }
}

async fn cancel(context: &CommandContext, one: &TaskArgs) -> Result<u8, CliError> {
    let stored = find_task(context, one).await?;
    let host = start_host(context, &stored.place.server).await?;
    let record = host.tasks().cancel(stored.call).await;
    host.stop().await;
    let record = FinishedCall::from(record?);
    if record.outcome.kind != OutcomeKind::Cancelled {
        context.printer.say("the task had already ended");
        return outcome::show(context, &target(&stored), &record, None);
    }
    if context.printer.json {
        // The user asked for the cancellation, so it is not a failure: ignore its exit code.
        outcome::show(context, &target(&stored), &record, None)?;
    } else {
        context.printer.say(&format!("cancelled task `{}`", stored.task.id));
    }
    Ok(exit_code::OK)
}

fn target(stored: &StoredTask) -> Target {
    Target::new(TargetKind::Tool, &stored.place.server, &stored.target)
}

async fn start_host(context: &CommandContext, server: &str) -> Result<Host, CliError> {
    let config = context.config()?;
    // A server that is no longer configured is not an error here: the task reports it.
    let id = ServerId::new(server).map_err(|error| CliError::usage(error.to_string()))?;
    let known = config.servers.contains_key(&id) || config.broken.contains_key(&id);
    let only = if known { vec![id.clone()] } else { Vec::new() };
    let host = context.start(Some(only.clone()))?;
    context.wait_ready(&host, Some(&only)).await?;
    Ok(host)
}

async fn find_task(context: &CommandContext, one: &TaskArgs) -> Result<StoredTask, CliError> {
    let id: CallId = one.id.parse().map_err(|error| CliError::usage(format!("{error}")))?;
    let found = reader(context).await?.task_for_call(id).await?;
    found.ok_or_else(|| {
        CliError::usage(format!("call {id} is not recorded as a task"))
            .with_hint("`switchboard tasks --all` lists the recorded tasks")
    })
}

const fn which(list: &TaskListArgs) -> WhichTasks {
    if list.all { WhichTasks::All } else { WhichTasks::Running }
}

fn row(task: &StoredTask) -> [String; 6] {
    let state = task.outcome.map_or(task.status.as_str(), |outcome| outcome.as_str());
    [
        task.call.to_string(),
        task.created_at.strftime("%Y-%m-%d %H:%M:%S").to_string(),
        task.place.server.clone(),
        task.target.clone(),
        state.to_owned(),
        task.message.clone().unwrap_or_default(),
    ]
}

fn as_json(task: &StoredTask) -> Value {
    json!({
        "id": task.call.to_string(),
        "server": task.place.server,
        "target": task.target,
        "task": task.task.id,
        "created_at": task.created_at.to_string(),
        "status": task.status,
        "message": task.message,
        "seen_at": task.seen_at.to_string(),
        "outcome": task.outcome.map(OutcomeKind::as_str),
        "expired": task.outcome.is_none() && task.is_expired(),
    })
}

fn unrecorded_json(server: &str, task: &TaskHandle, state: &TaskState) -> Value {
    json!({
        "id": null,
        "server": server,
        "task": task.id,
        "status": state.status.as_str(),
        "message": state.message,
    })
}
