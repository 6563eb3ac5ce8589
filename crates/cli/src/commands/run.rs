//! From what was typed to the command that does it.

use switchboard_terminal::CliError;

use crate::args::{
    CallsCommand, Command, OfServer, PromptsCommand, ResourcesCommand, Tools, ToolsCommand,
};
use crate::args_hooks::HooksCommand;
use crate::args_pins::{PinsCommand, Which};
use crate::args_secrets::SecretsCommand;
use crate::args_servers::ServersCommand;
use crate::args_tasks::TasksCommand;
use crate::args_tokens::TokensCommand;
use crate::commands::models::ModelsCommand;
use crate::commands::sessions::SessionsCommand;
use crate::commands::{
    add, audit, bundle, call, calls, chat, complete, dialects, doctor, edit, generate, hooks,
    index, learn, lock, login, logout, logs, manual, models, pins, policy, prompt, prompts,
    registry, resources, review, secrets, serve, server_show, servers, sessions, tasks, tokens,
    tools, watch_resource,
};
use crate::context::Context;

/// Runs a command; gives the exit code.
pub(crate) async fn run(context: &Context, command: Command) -> Result<u8, CliError> {
    context.fetch_team_files().await;
    context.check_packages().await;
    match command {
        Command::Servers(servers) => {
            let listing = ServersCommand::List { watch: false };
            server_command(context, servers.command.unwrap_or(listing)).await
        }
        Command::Add(wanted) => add::add(context, &wanted).await,
        Command::Registry(of) => registry::registry(context, of.command).await,
        Command::Bundle(of) => bundle::bundle(context, &of.command),
        Command::Login(login) => login::login(context, &login).await,
        Command::Logout(logout) => logout::logout(context, &logout).await,
        Command::Secrets(of) => {
            secrets::secrets(context, of.command.unwrap_or(SecretsCommand::List)).await
        }
        Command::Import(import) => dialects::import(context, &import).await,
        Command::Export(export) => dialects::export(context, &export),
        Command::Connect(connect) => dialects::connect(context, &connect),
        Command::Tools(tools) => tool_command(context, tools).await,
        Command::Call(call) => call::call(context, call).await,
        Command::Resources(resources) => match resources.command {
            None => resources::list(context, &resources.list).await,
            Some(ResourcesCommand::List(of)) => resources::list(context, &of).await,
            Some(ResourcesCommand::Read { server, uri, to }) => {
                resources::read(context, &server, &uri, &to).await
            }
            Some(ResourcesCommand::Watch(wanted)) => watch_resource::watch(context, &wanted).await,
        },
        Command::Prompts(prompts) => match prompts.command {
            None => prompts::list(context, &prompts.list).await,
            Some(PromptsCommand::List(of)) => prompts::list(context, &of).await,
            Some(PromptsCommand::Get { server, prompt, arguments }) => {
                prompts::get(context, &server, &prompt, &arguments).await
            }
        },
        Command::Serve(serve) => serve::serve(context, *serve).await,
        Command::Tokens(of) => tokens::tokens(context, of.command.unwrap_or(TokensCommand::List)),
        Command::Complete(wanted) => complete::complete(context, &wanted).await,
        Command::Chat(chat) => chat::chat(context, chat).await,
        Command::Run(run) => chat::run(context, run).await,
        Command::Demo(demo) => chat::demo(context, demo).await,
        Command::Models(models) => {
            let check = ModelsCommand::Check { name: None };
            models::models(context, models.command.unwrap_or(check)).await
        }
        Command::Sessions(sessions) => {
            let list = SessionsCommand::List { limit: 20 };
            sessions::sessions(context, sessions.command.unwrap_or(list)).await
        }
        Command::Calls(calls) => match calls.command {
            None => calls::list(context, &calls.list).await,
            Some(CallsCommand::List(filter)) => calls::list(context, &filter).await,
            Some(CallsCommand::Show { id }) => calls::show(context, &id).await,
            Some(CallsCommand::Verify) => calls::verify(context).await,
            Some(CallsCommand::Audit) => audit::list(context),
        },
        Command::Policy(policy) => policy::policy(context, policy).await,
        Command::Review(review) => review::review(context, review).await,
        Command::Pins(of) => {
            let list = PinsCommand::List(Which::default());
            pins::pins(context, of.command.unwrap_or(list)).await
        }
        Command::Lock { check: false } => lock::write(context).await,
        Command::Lock { check: true } => lock::check(context).await,
        Command::Tasks(tasks) => {
            let list = TasksCommand::List(tasks.list);
            tasks::tasks(context, tasks.command.unwrap_or(list)).await
        }
        Command::Hooks(of) => hooks::hooks(context, of.command.unwrap_or(HooksCommand::List)).await,
        Command::Generate(of) => generate::generate(context, &of.command).await,
        Command::Doctor(doctor) => doctor::doctor(context, doctor.server.as_deref()).await,
        Command::Completions { shell } => manual::completions(context, shell),
        Command::Man => manual::page(context),
    }
}

async fn server_command(context: &Context, command: ServersCommand) -> Result<u8, CliError> {
    match command {
        ServersCommand::List { watch: false } => servers::list(context, &OfServer::default()).await,
        ServersCommand::List { watch: true } => servers::watch(context).await,
        ServersCommand::Add(add) => edit::add(context, &add).await,
        ServersCommand::Show { name } => server_show::show(context, &name),
        ServersCommand::Remove { name, place } => edit::remove(context, &name, place.scope),
        ServersCommand::Enable { name } => edit::enable(context, &name),
        ServersCommand::Disable { name } => edit::disable(context, &name),
        ServersCommand::Approve { name, yes } => edit::approve(context, &name, yes.into()).await,
        ServersCommand::Sandbox { name, seconds, enforce } => {
            let then = if enforce { learn::Then::Enforce } else { learn::Then::Propose };
            learn::learn(context, &name, seconds, then).await
        }
        ServersCommand::Restart { name } => servers::restart(context, &name).await,
        ServersCommand::Logs { name, lines, messages: false } => logs::show(context, &name, lines),
        ServersCommand::Logs { name, lines, messages: true } => {
            logs::messages(context, &name, lines)
        }
    }
}

async fn tool_command(context: &Context, tools: Tools) -> Result<u8, CliError> {
    match tools.command {
        None => tools::list(context, &tools.list).await,
        Some(ToolsCommand::List(list)) => tools::list(context, &list).await,
        Some(ToolsCommand::Show { server, tool }) => tools::show(context, &server, &tool).await,
        Some(ToolsCommand::Prompt { audience, budget, server }) => {
            prompt::show(context, audience, budget, OfServer { server }).await
        }
        Some(ToolsCommand::Index { folder }) => index::write(context, &folder).await,
        Some(ToolsCommand::Search { words, limit }) => {
            tools::search(context, &words.join(" "), limit).await
        }
    }
}
