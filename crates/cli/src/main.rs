//! The `switchboard` binary: parses arguments, runs a command, returns its exit code.

use std::process::ExitCode;

use clap::Parser as _;
use switchboard_terminal::{CliError, exit_code, remember_mode, restore_mode, talk};

mod args;
mod commands;
mod context;
mod recorded;
mod running;

use args::{CliArgs, CliCommand};
use commands::{
    add, bundle, call, calls, chat, complete, dialects, doctor, generate, hooks, lock, login,
    manual, models, pins, policy, prompts, registry, resources, review, secrets, serve, servers,
    sessions, tasks, tokens, tools,
};
use context::CommandContext;

// Commands make many small, short-lived allocations, for which the system allocator is slower.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // Before clap and the runtime: a keeper needs neither, and every server pays for its start.
    if let Some(code) = run_as_keeper() {
        return ExitCode::from(code);
    }
    // A panic message may contain secrets; `talk` redacts them.
    std::panic::set_hook(Box::new(|panic| talk(&panic.to_string())));
    let arguments = CliArgs::parse();
    remember_mode();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            talk(&format!("error: cannot start the runtime: {error}"));
            return ExitCode::from(exit_code::TROUBLE);
        }
    };
    let code = runtime.block_on(async {
        let context = match CommandContext::new(&arguments.shared) {
            Ok(context) => context,
            Err(error) => return error.show(),
        };
        match run_command(&context, arguments.command).await {
            Ok(code) => ExitCode::from(code),
            Err(error) => error.show(),
        }
    });
    // A thread may still be blocked on a question at the terminal: do not wait for it.
    runtime.shutdown_background();
    restore_mode();
    code
}

/// Runs as the keeper of a server, or as its confined launcher, if the first argument says so.
#[cfg(unix)]
fn run_as_keeper() -> Option<u8> {
    let mut words = std::env::args_os().skip(1);
    let first = words.next()?;
    if first == context::KEEPER_WORD {
        Some(switchboard_fleet::keep(&words.collect::<Vec<_>>()))
    } else if first == switchboard_fleet::CONFINE_COMMAND {
        Some(switchboard_fleet::confine(&words.collect::<Vec<_>>()))
    } else {
        None
    }
}

#[cfg(not(unix))]
fn run_as_keeper() -> Option<u8> {
    None
}

async fn run_command(context: &CommandContext, command: CliCommand) -> Result<u8, CliError> {
    // First, because the team's files are part of the configuration that commands load.
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
