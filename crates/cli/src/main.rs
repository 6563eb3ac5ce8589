//! The `switchboard` command: arguments to a command to an exit code.

use std::process::ExitCode;

use clap::Parser as _;
use switchboard_terminal::{exit_code, remember_mode, restore_mode, talk};

mod args;
mod commands;
mod context;
mod ready;
mod recorded;
mod running;

use args::CliArgs;
use context::CommandContext;

// Many small pieces of text live shortly here; the system's allocator is slower at that.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    if let Some(code) = run_as_keeper() {
        return ExitCode::from(code);
    }
    // What breaks must not tell what it held.
    std::panic::set_hook(Box::new(|panic| talk(&panic.to_string())));
    let arguments = CliArgs::parse();
    remember_mode();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            talk(&format!("error: the runtime does not start: {error}"));
            return ExitCode::from(exit_code::TROUBLE);
        }
    };
    let code = runtime.block_on(async {
        let context = match CommandContext::new(&arguments.shared) {
            Ok(context) => context,
            Err(error) => return error.show(),
        };
        match commands::run(&context, arguments.command).await {
            Ok(code) => ExitCode::from(code),
            Err(error) => error.show(),
        }
    });
    // A question may still wait for the terminal; nobody is going to answer it.
    runtime.shutdown_background();
    restore_mode();
    code
}

/// With a secret first word, this process stays with a server or becomes one, instead of being a
/// command.
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
