//! `switchboard complete`: completes an argument value with the values that a server suggests.

use std::collections::BTreeMap;

use clap::Args;
use serde_json::json;
use switchboard_fleet::{Completion, CompletionRequest, CompletionTarget};
use switchboard_terminal::{CliError, exit_code};
use switchboard_text::escape_line;
use switchboard_views::ToComplete;

use crate::args::ServerArg;
use crate::commands::tools;
use crate::context::CommandContext;
use crate::running::RunningServer;

#[derive(Debug, Args)]
pub(crate) struct CompleteArgs {
    /// Name of the server
    pub(crate) server: String,
    /// Prompt name, or resource template such as `file:///{path}`
    pub(crate) name: String,
    /// Argument to complete and its value so far
    #[arg(value_name = "NAME=VALUE")]
    pub(crate) argument: String,
    /// Value of another argument (can be repeated)
    #[arg(long, short, value_name = "NAME=VALUE")]
    pub(crate) given: Vec<String>,
}

pub(crate) async fn run(context: &CommandContext, wanted: &CompleteArgs) -> Result<u8, CliError> {
    let (argument, value) = pair(&wanted.argument)?;
    let given: Result<Vec<_>, CliError> = wanted.given.iter().map(|word| pair(word)).collect();
    let given: BTreeMap<String, String> =
        given?.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    if let Some(completion) = complete_on_instance(context, wanted, argument, value, &given).await?
    {
        return show(context, &completion).map(|()| exit_code::OK);
    }
    let only = ServerArg { server: Some(wanted.server.clone()) };
    let host = tools::start(context, &only).await?;
    let of = match is_template(&wanted.name) {
        true => CompletionTarget::Template(&wanted.name),
        false => CompletionTarget::Prompt(&wanted.name),
    };
    let completing = CompletionRequest { target: of, argument, value, context: &given };
    let lease = host.lease();
    let asking = host.complete(&lease, &wanted.server, &completing);
    let answer = context.or_interrupted(asking).await;
    host.stop().await;
    let completion =
        answer?.map_err(|error| CliError::new(exit_code::NOT_RUN, error.to_string()))?;
    show(context, &completion).map(|()| exit_code::OK)
}

/// Requests completions from the running instance; `None` if there is none, or if it cannot answer.
async fn complete_on_instance(
    context: &CommandContext,
    wanted: &CompleteArgs,
    argument: &str,
    value: &str,
    given: &BTreeMap<String, String>,
) -> Result<Option<Completion>, CliError> {
    let Some(running) = RunningServer::find(context, &wanted.server).await? else {
        return Ok(None);
    };
    let config = context.config()?;
    context.server_id(&config, &wanted.server)?;
    let name = Some(wanted.name.clone());
    let (prompt, template) = if is_template(&wanted.name) { (None, name) } else { (name, None) };
    let begun = ToComplete {
        server: wanted.server.clone(),
        prompt,
        template,
        argument: argument.to_owned(),
        value: value.to_owned(),
        context: given.clone(),
    };
    context.or_interrupted(running.complete(&begun)).await
}

fn show(context: &CommandContext, completion: &Completion) -> Result<(), CliError> {
    let Completion { values, total, has_more } = completion;
    if context.printer.json {
        return context
            .printer
            .json(&json!({"values": values, "total": total, "hasMore": has_more}));
    }
    let lines: String = values.iter().map(|value| format!("{}\n", escape_line(value))).collect();
    context.printer.data(&lines)?;
    if *has_more {
        context.printer.say("(more values are available)");
    }
    Ok(())
}

/// Returns whether a name is a resource template: prompts have neither a scheme nor placeholders.
fn is_template(name: &str) -> bool {
    name.contains("://") || name.contains('{')
}

fn pair(word: &str) -> Result<(&str, &str), CliError> {
    word.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or_else(|| {
        CliError::usage(format!("the argument `{word}` is not a name and a value"))
            .with_hint("write it as name=value; the value may be empty")
    })
}
