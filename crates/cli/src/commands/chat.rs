//! `switchboard chat`, `run` and `demo`: conversations at the terminal.

use clap::Args;
use switchboard_chat::{ChatContext, Program, ProgramFuture, StartOptions, TalkOptions, Task};
use switchboard_config::{Config, Environment, Places};
use switchboard_core::ServerId;
use switchboard_host::Host;
use switchboard_registry::KnownServers;
use switchboard_rules::Pattern;
use switchboard_terminal::CliError;

use crate::commands::review::ReviewWaitArgs;
use crate::commands::{first_use, registry, servers, tools};
use crate::context::CommandContext;

/// Options that all conversations share.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct TalkArgs {
    /// Model profile, or provider:model such as `ollama:qwen3`
    #[arg(long, short, value_name = "NAME", env = "SWITCHBOARD_MODEL")]
    pub(crate) model: Option<String>,
    /// Allow calls that match this pattern without approval: server or server/tool, with `*` for
    /// any text (can be repeated)
    #[arg(long, value_name = "PATTERN", value_parser = parse_pattern)]
    pub(crate) allow: Vec<Pattern>,
    /// Use only this server (can be repeated)
    #[arg(long, short, value_name = "NAME")]
    pub(crate) server: Vec<String>,
    /// Name of the conversation
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Maximum number of model requests per turn
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) max_steps: Option<u32>,
}

fn parse_pattern(text: &str) -> Result<Pattern, String> {
    Pattern::parse(text).map_err(|bad| format!("it {bad}; {}", bad.hint))
}

#[derive(Clone, Debug, Args)]
pub(crate) struct ChatArgs {
    #[command(flatten)]
    pub(crate) talk: TalkArgs,
    /// Resume a conversation by id or name, or the last one
    #[arg(long, short, value_name = "SESSION", num_args = 0..=1, default_missing_value = "last")]
    pub(crate) resume: Option<String>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct RunArgs {
    /// Task for the model; `-` reads it from standard input
    #[arg(required_unless_present = "resume", value_name = "PROMPT")]
    pub(crate) prompt: Vec<String>,
    #[command(flatten)]
    pub(crate) talk: TalkArgs,
    /// Resume a conversation by id or name, or the last one
    #[arg(long, short, value_name = "SESSION")]
    pub(crate) resume: Option<String>,
    #[command(flatten)]
    pub(crate) wait: ReviewWaitArgs,
}

#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct DemoArgs {
    /// Answer every question with yes
    #[arg(long, short)]
    pub(crate) yes: bool,
}

pub(crate) async fn chat(context: &CommandContext, args: ChatArgs) -> Result<u8, CliError> {
    let talk = args.talk.into();
    switchboard_chat::chat(&context.for_chat(), &talk, args.resume.as_deref()).await
}

pub(crate) async fn run(context: &CommandContext, args: RunArgs) -> Result<u8, CliError> {
    let RunArgs { prompt, talk, resume, wait } = args;
    let task = Task { prompt, talk: talk.into(), resume, patience: wait.patience };
    switchboard_chat::run_task(&context.for_chat(), task).await
}

pub(crate) async fn demo(context: &CommandContext, args: DemoArgs) -> Result<u8, CliError> {
    switchboard_chat::demo(&context.for_chat(), args.yes).await
}

impl From<TalkArgs> for TalkOptions {
    fn from(args: TalkArgs) -> Self {
        let TalkArgs { model, allow, server, name, max_steps } = args;
        Self { model, allow, server, name, max_steps }
    }
}

impl CommandContext {
    fn for_chat(&self) -> ChatContext<'_> {
        ChatContext {
            printer: &self.printer,
            interrupts: &self.interrupts,
            environment: &self.environment,
            places: &self.places,
            recording: self.recording(),
            program: self,
        }
    }
}

impl Program for CommandContext {
    fn config(&self) -> Result<Config, CliError> {
        self.config()
    }

    fn server(&self, config: &Config, name: &str) -> Result<ServerId, CliError> {
        self.server_id(config, name)
    }

    fn start(
        &self,
        places: Places,
        environment: Environment,
        options: StartOptions,
    ) -> Result<Host, CliError> {
        self.start_at(places, environment, options)
    }

    fn ready<'a>(&'a self, host: &'a Host, only: Option<&'a [ServerId]>) -> ProgramFuture<'a, ()> {
        Box::pin(self.wait_ready(host, only))
    }

    fn ask_about_new_servers<'a>(&'a self, host: &'a Host) -> ProgramFuture<'a, ()> {
        Box::pin(first_use::ask_about_new(self, host))
    }

    fn known_servers<'a>(&'a self, config: &'a Config) -> ProgramFuture<'a, KnownServers> {
        Box::pin(registry::known_servers(config))
    }

    fn show_servers<'a>(&'a self, host: &'a Host) -> ProgramFuture<'a, ()> {
        Box::pin(servers::show_in_chat(self, host))
    }

    fn show_tools(&self, host: &Host, words: &str) -> Result<(), CliError> {
        tools::show_in_chat(self, host, words)
    }
}
