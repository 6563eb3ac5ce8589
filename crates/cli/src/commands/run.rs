//! From what was typed to the command that does it.

use switchboard_terminal::CliError;

use crate::args::Command;
use crate::commands::{
    add, bundle, call, calls, chat, complete, dialects, doctor, generate, hooks, lock, login,
    manual, models, pins, policy, prompts, registry, resources, review, secrets, serve, servers,
    sessions, tasks, tokens, tools,
};
use crate::context::Context;

/// Runs a command; gives the exit code.
pub(crate) async fn run(context: &Context, command: Command) -> Result<u8, CliError> {
    context.fetch_team_files().await;
    context.check_packages().await;
    match command {
        Command::Servers(args) => servers::run(context, args).await,
        Command::Add(args) => add::run(context, &args).await,
        Command::Registry(args) => registry::run(context, args).await,
        Command::Bundle(args) => bundle::run(context, &args),
        Command::Login(args) => login::login(context, &args).await,
        Command::Logout(args) => login::logout(context, &args).await,
        Command::Secrets(args) => secrets::run(context, args).await,
        Command::Import(args) => dialects::import(context, &args).await,
        Command::Export(args) => dialects::export(context, &args),
        Command::Connect(args) => dialects::connect(context, &args),
        Command::Tools(args) => tools::run(context, args).await,
        Command::Call(args) => call::run(context, args).await,
        Command::Resources(args) => resources::run(context, args).await,
        Command::Prompts(args) => prompts::run(context, args).await,
        Command::Serve(args) => serve::run(context, *args).await,
        Command::Tokens(args) => tokens::run(context, args),
        Command::Complete(args) => complete::run(context, &args).await,
        Command::Chat(args) => chat::chat(context, args).await,
        Command::Run(args) => chat::run(context, args).await,
        Command::Demo(args) => chat::demo(context, args).await,
        Command::Models(args) => models::run(context, args).await,
        Command::Sessions(args) => sessions::run(context, args).await,
        Command::Calls(args) => calls::run(context, args).await,
        Command::Policy(args) => policy::run(context, args).await,
        Command::Review(args) => review::run(context, args).await,
        Command::Pins(args) => pins::run(context, args).await,
        Command::Lock(args) => lock::run(context, &args).await,
        Command::Tasks(args) => tasks::run(context, args).await,
        Command::Hooks(args) => hooks::run(context, args).await,
        Command::Generate(args) => generate::run(context, &args).await,
        Command::Doctor(args) => doctor::run(context, &args).await,
        Command::Completions { shell } => manual::completions(context, shell),
        Command::Man => manual::page(context),
    }
}
