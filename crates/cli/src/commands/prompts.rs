//! `switchboard prompts`: lists and fetches prompts.

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use switchboard_catalog::definition;
use switchboard_core::ProposedCall;
use switchboard_terminal::{CliError, exit_code, text_arguments};
use switchboard_views::{CatalogItem, ItemList};

use crate::args::ServerArg;
use crate::commands::{call, tools};
use crate::context::CommandContext;
use crate::running;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct PromptsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<PromptsCommand>,
    #[command(flatten)]
    pub(crate) list: ServerArg,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PromptsCommand {
    /// List prompts of all servers
    #[command(visible_alias = "ls")]
    List(ServerArg),
    /// Fetch a prompt from a server
    Get {
        /// Name of the server
        server: String,
        /// Name of the prompt
        prompt: String,
        /// Arguments of the prompt, as key=value
        #[arg(value_name = "KEY=VALUE")]
        arguments: Vec<String>,
    },
}

pub(crate) async fn run(context: &CommandContext, args: PromptsArgs) -> Result<u8, CliError> {
    match args.command.unwrap_or(PromptsCommand::List(args.list)) {
        PromptsCommand::List(of) => list(context, &of).await,
        PromptsCommand::Get { server, prompt, arguments } => {
            get(context, &server, &prompt, &arguments).await
        }
    }
}

async fn list(context: &CommandContext, of: &ServerArg) -> Result<u8, CliError> {
    let all = running::items(context, of, ItemList::Prompts).await?;
    let json = |one: &CatalogItem| json!({"server": one.server, "definition": one.definition});
    let heading = ["server", "prompt", "arguments", "description"];
    let shown = context.printer.list(&all, json, heading, |one| {
        let item = one.item();
        let about = definition(&item);
        let wanted: Vec<Value> = about
            .arguments
            .and_then(|raw| serde_json::from_str(raw.get()).ok())
            .unwrap_or_default();
        let names: Vec<String> = wanted.iter().map(argument).collect();
        let description = tools::first_line(about.description.as_deref().unwrap_or_default());
        [one.server.clone(), one.key.clone(), names.join(", "), description]
    });
    shown.map(|()| exit_code::OK)
}

async fn get(
    context: &CommandContext,
    server: &str,
    prompt: &str,
    words: &[String],
) -> Result<u8, CliError> {
    let arguments = text_arguments(words)?;
    let proposed = ProposedCall::prompt(server, prompt, arguments);
    let target = proposed.target.clone();
    let how = call::CallSettings::person();
    let ended = call::run_anywhere(context, proposed, &how).await?;
    call::show(context, &target, &ended, &how)
}

fn argument(argument: &Value) -> String {
    let name = argument.get("name").and_then(Value::as_str).unwrap_or("?");
    let required = argument.get("required").and_then(Value::as_bool).unwrap_or(false);
    if required { name.to_owned() } else { format!("{name}?") }
}
