//! From what was typed to the command that does it.

use switchboard_terminal::CliError;

use crate::args::CliCommand;
use crate::commands::{
    add, bundle, call, calls, chat, complete, dialects, doctor, generate, hooks, lock, login,
    manual, models, pins, policy, prompts, registry, resources, review, secrets, serve, servers,
    sessions, tasks, tokens, tools,
};
use crate::context::CommandContext;

/// Runs a command; gives the exit code.
pub(crate) async fn run(context: &CommandContext, command: CliCommand) -> Result<u8, CliError> {
    context.fetch_team_files().await;
    context.check_packages().await;
    match command {
        CliCommand::Servers(args) => servers::run(context, args).await,
        CliCommand::Add(args) => add::run(context, &args).await,
        CliCommand::Registry(args) => registry::run(context, args).await,
        CliCommand::Bundle(args) => bundle::run(context, &args),
        CliCommand::Login(args) => login::login(context, &args).await,
        CliCommand::Logout(args) => login::logout(context, &args).await,
        CliCommand::Secrets(args) => secrets::run(context, args).await,
        CliCommand::Import(args) => dialects::import(context, &args).await,
        CliCommand::Export(args) => dialects::export(context, &args),
        CliCommand::Connect(args) => dialects::connect(context, &args),
        CliCommand::Tools(args) => tools::run(context, args).await,
        CliCommand::Call(args) => call::run(context, args).await,
        CliCommand::Resources(args) => resources::run(context, args).await,
        CliCommand::Prompts(args) => prompts::run(context, args).await,
        CliCommand::Serve(args) => serve::run(context, *args).await,
        CliCommand::Tokens(args) => tokens::run(context, args),
        CliCommand::Complete(args) => complete::run(context, &args).await,
        CliCommand::Chat(args) => chat::chat(context, args).await,
        CliCommand::Run(args) => chat::run(context, args).await,
        CliCommand::Demo(args) => chat::demo(context, args).await,
        CliCommand::Models(args) => models::run(context, args).await,
        CliCommand::Sessions(args) => sessions::run(context, args).await,
        CliCommand::Calls(args) => calls::run(context, args).await,
        CliCommand::Policy(args) => policy::run(context, args).await,
        CliCommand::Review(args) => review::run(context, args).await,
        CliCommand::Pins(args) => pins::run(context, args).await,
        CliCommand::Lock(args) => lock::run(context, &args).await,
        CliCommand::Tasks(args) => tasks::run(context, args).await,
        CliCommand::Hooks(args) => hooks::run(context, args).await,
        CliCommand::Generate(args) => generate::run(context, &args).await,
        CliCommand::Doctor(args) => doctor::run(context, &args).await,
        CliCommand::Completions { shell } => manual::completions(context, shell),
        CliCommand::Man => manual::page(context),
    }
}
