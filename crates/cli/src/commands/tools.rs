//! `switchboard tools`: lists, shows, searches and exports tools.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use switchboard_catalog::{Tool, definition, signature};
use switchboard_core::{ServerId, Target, TargetKind};
use switchboard_grpc::{host_index_files, write_index_files};
use switchboard_host::Host;
use switchboard_prompting::{
    Definitions, FittedPrompt, PromptOptions, Vendor, fit, fit_native, with_shown_servers,
};
use switchboard_terminal::{CliError, exit_code, pluralize};
use switchboard_text::{escape, escape_json, escape_line, nearest_names};
use switchboard_views::{CatalogQuery, CatalogTool, catalog_tool, catalog_tools};

use crate::args::ServerArg;
use crate::commands::held;
use crate::context::CommandContext;
use crate::running;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Audience {
    /// Prompt text for any model; calls are written as tags
    Text,
    /// OpenAI and APIs compatible with it
    Openai,
    /// The Messages API of Anthropic
    Anthropic,
    /// The Gemini API of Google
    Gemini,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ToolsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<ToolsCommand>,
    #[command(flatten)]
    pub(crate) list: ListToolsArgs,
}

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ListToolsArgs {
    #[command(flatten)]
    pub(crate) of: ServerArg,
    /// List definitions that are quarantined or need a review
    #[arg(long)]
    pub(crate) held: bool,
    /// Include tools that a rule denies to everyone, with the rule
    #[arg(long, conflicts_with = "held")]
    pub(crate) all: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ToolsCommand {
    /// List tools of all servers
    #[command(visible_alias = "ls")]
    List(ListToolsArgs),
    /// Show a tool's description, schemas and findings
    Show {
        /// Name of the server
        server: String,
        /// Name of the tool
        tool: String,
    },
    /// Print the tool definitions as a model sees them
    Prompt {
        /// Format: prompt text for any model, or a vendor's API
        #[arg(long = "for", value_enum, default_value_t = Audience::Text)]
        audience: Audience,
        /// Maximum tokens; a longer catalog is shortened, with tools to search it
        #[arg(long, value_name = "TOKENS")]
        budget: Option<usize>,
        /// Limit the output to this server
        #[arg(long, short, value_name = "NAME")]
        server: Option<String>,
    },
    /// Write the catalog to files: mcps/SERVER/tools/TOOL.json
    Index {
        /// Folder to create `mcps` in
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
    /// Search tools by name and description
    Search {
        /// Words to search for
        #[arg(required = true)]
        words: Vec<String>,
        /// Maximum number of results
        #[arg(long, short = 'n', default_value_t = 10)]
        limit: usize,
    },
}

pub(crate) async fn run(context: &CommandContext, tools: ToolsArgs) -> Result<u8, CliError> {
    match tools.command {
        None => list(context, &tools.list).await,
        Some(ToolsCommand::List(wanted)) => list(context, &wanted).await,
        Some(ToolsCommand::Show { server, tool }) => show(context, &server, &tool).await,
        Some(ToolsCommand::Prompt { audience, budget, server }) => {
            show_prompt(context, audience, budget, ServerArg { server }).await
        }
        Some(ToolsCommand::Index { folder }) => write_index(context, &folder).await,
        Some(ToolsCommand::Search { words, limit }) => {
            search(context, &words.join(" "), limit).await
        }
    }
}

async fn list(context: &CommandContext, wanted: &ListToolsArgs) -> Result<u8, CliError> {
    if wanted.held {
        let host = start(context, &wanted.of).await?;
        let shown = held::print(context, &host.flagged());
        host.stop().await;
        return shown.map(|()| exit_code::OK);
    }
    let server = wanted.of.server.clone();
    let query = CatalogQuery { server, all: Some(wanted.all), ..CatalogQuery::default() };
    print(context, &find_tools(context, &query).await?).map(|()| exit_code::OK)
}

async fn search(context: &CommandContext, words: &str, limit: usize) -> Result<u8, CliError> {
    let q = Some(words.to_owned());
    let query = CatalogQuery { q, limit: Some(limit), ..CatalogQuery::default() };
    let tools = find_tools(context, &query).await?;
    if tools.is_empty() {
        context.printer.say("no tool matches these words");
    }
    print(context, &tools).map(|()| exit_code::OK)
}

async fn find_tools(
    context: &CommandContext,
    query: &CatalogQuery,
) -> Result<Vec<CatalogTool>, CliError> {
    if let Some(tools) = running::tools(context, query).await? {
        return Ok(tools);
    }
    let host = start(context, &ServerArg { server: query.server.clone() }).await?;
    let tools = catalog_tools(&host, query);
    host.stop().await;
    Ok(tools)
}

async fn show(context: &CommandContext, server: &str, tool: &str) -> Result<u8, CliError> {
    if let Some(tool) = running::tool(context, server, tool).await? {
        return print_one(context, &tool, None).map(|()| exit_code::OK);
    }
    let host = start(context, &ServerArg { server: Some(server.to_owned()) }).await?;
    let target = Target::new(TargetKind::Tool, server, tool);
    let found = host.lease().flagged_definition(&target).map(held::description);
    let shown = match catalog_tool(&host, server, tool) {
        Ok(tool) => print_one(context, &tool, found.as_deref()),
        // The similar names include quarantined tools, so that a typing error is recognized in any
        // case.
        Err(_) => {
            let fleet = host.fleet().load();
            let offers = fleet.servers.get(server).map(|server| &server.offers);
            let names = offers.into_iter().flat_map(|offers| offers.tools.iter().map(Tool::name));
            Err(unknown_tool(server, tool, names))
        }
    };
    host.stop().await;
    shown.map(|()| exit_code::OK)
}

pub(crate) fn unknown_tool<'a>(
    server: &str,
    tool: &str,
    names: impl Iterator<Item = &'a str>,
) -> CliError {
    let hint = match nearest_names(tool, names, 3).as_slice() {
        [] => format!("`switchboard tools --server {server}` lists them"),
        near => format!("did you mean `{}`?", near.join("` or `")),
    };
    CliError::usage(format!("server `{server}` lists no tool `{tool}`")).with_hint(hint)
}

pub(crate) fn show_in_chat(
    context: &CommandContext,
    host: &Host,
    words: &str,
) -> Result<(), CliError> {
    let q = Some(words.to_owned());
    let query = CatalogQuery { q, limit: Some(20), ..CatalogQuery::default() };
    print(context, &catalog_tools(host, &query))
}

pub(crate) async fn start(context: &CommandContext, of: &ServerArg) -> Result<Host, CliError> {
    let only = selected_servers(context, of)?;
    let host = context.start(only.clone())?;
    context.wait_ready(&host, only.as_deref()).await?;
    Ok(host)
}

/// Starts servers like [`start`], but does not ask the user about new ones.
pub(crate) async fn start_unasked(
    context: &CommandContext,
    of: &ServerArg,
) -> Result<Host, CliError> {
    let only = selected_servers(context, of)?;
    let host = context.start(only.clone())?;
    context.wait_ready_unasked(&host, only.as_deref()).await?;
    Ok(host)
}

fn selected_servers(
    context: &CommandContext,
    of: &ServerArg,
) -> Result<Option<Vec<ServerId>>, CliError> {
    let config = context.config()?;
    let known = |name: &String| context.server_id(&config, name).map(|id| vec![id]);
    of.server.as_ref().map(known).transpose()
}

fn print(context: &CommandContext, tools: &[CatalogTool]) -> Result<(), CliError> {
    if context.printer.json {
        return context.printer.json(&json!(tools));
    }
    if tools.iter().any(|tool| tool.forbidden_by.is_some()) {
        return print_with_rules(context, tools);
    }
    let row = |tool: &CatalogTool| {
        let item = tool.item();
        let about = definition(&item);
        let arguments = about.input_schema.map(|raw| signature(raw.get())).unwrap_or_default();
        let said = first_line(about.description.as_deref().unwrap_or_default());
        [tool.server.clone(), tool.name.clone(), arguments, said]
    };
    let rows: Vec<[String; 4]> = tools.iter().map(row).collect();
    context.printer.table(["server", "tool", "arguments", "description"], &rows)
}

fn print_with_rules(context: &CommandContext, tools: &[CatalogTool]) -> Result<(), CliError> {
    let row = |tool: &CatalogTool| {
        let said = definition(&tool.item()).description.unwrap_or_default();
        let by = tool.forbidden_by.as_deref().unwrap_or_default();
        [&*tool.server, &*tool.name, &first_line(&said), by].map(str::to_owned)
    };
    let rows: Vec<[String; 4]> = tools.iter().map(row).collect();
    context.printer.table(["server", "tool", "description", "forbidden by"], &rows)
}

fn print_one(
    context: &CommandContext,
    tool: &CatalogTool,
    found: Option<&str>,
) -> Result<(), CliError> {
    if context.printer.json {
        return context.printer.json(&json!(tool));
    }
    let item = tool.item();
    let definition = definition(&item);
    let mut text = format!("{} on {}\n", escape_line(&tool.name), escape_line(&tool.server));
    for part in
        [definition.title.as_deref(), definition.description.as_deref()].into_iter().flatten()
    {
        text.push_str(&format!("\n{}\n", escape(part)));
    }
    let schemas = [
        ("arguments", definition.input_schema),
        ("structured result", definition.output_schema),
        ("annotations, as the server claims them", definition.annotations),
    ];
    for (title, raw) in schemas {
        if let Some(raw) = raw {
            text.push_str(&format!("\n{title}:\n{}\n", escape_json(&pretty(raw))));
        }
    }
    text.push_str(&format!(
        "\nname for models: {}\nfingerprint: {}\n",
        escape_line(tool.model_name.as_deref().unwrap_or_default()),
        tool.fingerprint
    ));
    if let Some(by) = &tool.forbidden_by {
        text.push_str(&format!("\nforbidden by {}\n", escape_line(by)));
    }
    if let Some(found) = found {
        text.push_str(&format!("\n{found}"));
    }
    context.printer.data(&text)
}

fn pretty(raw: &RawValue) -> String {
    serde_json::from_str::<Value>(raw.get())
        .and_then(|value| serde_json::to_string_pretty(&value))
        .unwrap_or_else(|_| raw.get().to_owned())
}

pub(crate) fn first_line(text: &str) -> String {
    text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim().to_owned()
}

async fn show_prompt(
    context: &CommandContext,
    audience: Audience,
    budget: Option<usize>,
    of: ServerArg,
) -> Result<u8, CliError> {
    let host = start(context, &of).await?;
    let lease = host.lease();
    let options = PromptOptions::default();
    let budget = budget.unwrap_or(usize::MAX);
    let plan: FittedPrompt = with_shown_servers(&lease, |servers| match audience {
        Audience::Text => fit(servers, budget, &options),
        Audience::Openai => fit_native(servers, budget, Vendor::OpenAi, &options),
        Audience::Anthropic => fit_native(servers, budget, Vendor::Anthropic, &options),
        Audience::Gemini => fit_native(servers, budget, Vendor::Gemini, &options),
    });
    host.stop().await;
    let definitions = plan.definitions.as_ref().map(Definitions::request_value);
    context.printer.say(&format!("about {} tokens", plan.tokens));
    if !plan.fits {
        context.printer.warn("even the shortest form exceeds the budget", None);
    }
    match (context.printer.json, definitions) {
        (true, definitions) => context.printer.json(&json!({
            "tokens": plan.tokens, "fits": plan.fits, "text": plan.text, "tools": definitions,
        }))?,
        (false, Some(definitions)) => context.printer.json(&definitions)?,
        (false, None) => context.printer.data(&plan.text)?,
    }
    Ok(exit_code::OK)
}

/// Writes the catalog to files; removes files of tools that no longer exist.
async fn write_index(context: &CommandContext, folder: &Path) -> Result<u8, CliError> {
    let host = start(context, &ServerArg::default()).await?;
    let files = host_index_files(&host);
    host.stop().await;
    let done = write_index_files(folder, &files).map_err(|error| {
        let folder = folder.display();
        CliError::new(exit_code::TROUBLE, format!("cannot write below `{folder}`: {error}"))
    })?;
    if context.printer.json {
        context.printer.json(&json!({ "written": done.there, "removed": done.removed }))?;
    } else {
        context.printer.say(&format!(
            "wrote {}, removed {}",
            pluralize(done.there, "file"),
            done.removed
        ));
    }
    Ok(exit_code::OK)
}
