//! The command-line interface; the reference documentation is generated from its help texts.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

use crate::commands::add::AddArgs;
use crate::commands::bundle::BundleArgs;
use crate::commands::call::CallArgs;
use crate::commands::calls::CallsArgs;
use crate::commands::chat::{ChatArgs, DemoArgs, RunArgs};
use crate::commands::complete::CompleteArgs;
use crate::commands::dialects::{ConnectArgs, ExportArgs, ImportArgs};
use crate::commands::doctor::DoctorArgs;
use crate::commands::generate::GenerateArgs;
use crate::commands::hooks::HooksArgs;
use crate::commands::lock::LockArgs;
use crate::commands::login::{LoginArgs, LogoutArgs};
use crate::commands::models::ModelsArgs;
use crate::commands::pins::PinsArgs;
use crate::commands::policy::PolicyArgs;
use crate::commands::prompts::PromptsArgs;
use crate::commands::registry::RegistryArgs;
use crate::commands::resources::ResourcesArgs;
use crate::commands::review::ReviewArgs;
use crate::commands::secrets::SecretsArgs;
use crate::commands::serve::ServeArgs;
use crate::commands::servers::ServersArgs;
use crate::commands::sessions::SessionsArgs;
use crate::commands::tasks::TasksArgs;
use crate::commands::tokens::TokensArgs;
use crate::commands::tools::ToolsArgs;

/// The place where AI agents and MCP servers meet.
#[derive(Debug, Parser)]
#[command(name = "switchboard", version, propagate_version = true, arg_required_else_help = true)]
#[command(
    after_help = "Exit codes: 0 well, 1 the tool reports a failure, 2 usage, 3 configuration, \
4 not run, 5 not allowed, 6 failed or unknown, 7 trouble with switchboard itself, 8 a conversation reached a limit, \
130 interrupted."
)]
pub(crate) struct CliArgs {
    #[command(flatten)]
    pub(crate) shared: GlobalArgs,
    #[command(subcommand)]
    pub(crate) command: CliCommand,
}

/// What every command takes.
#[derive(Clone, Debug, Args)]
pub(crate) struct GlobalArgs {
    /// Read this file instead of the user's and the project's (may be given several times)
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Vec<PathBuf>,
    /// Print JSON for scripts
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Say nothing but the result
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// A folder that servers are told of, in place of those of the settings (may be given several times)
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) root: Vec<PathBuf>,
    /// Use nothing but what `switchboard.lock` says
    #[arg(long, global = true)]
    pub(crate) locked: bool,
    /// Do not record calls
    #[arg(long, global = true)]
    pub(crate) no_record: bool,
    /// Start the servers here, also where `switchboard serve` runs for this home
    #[arg(long, global = true)]
    pub(crate) no_running: bool,
    /// Seconds that a server may take to start
    #[arg(long, global = true, default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) start_timeout: u64,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    /// List, add, remove and look after servers
    #[command(visible_alias = "server")]
    Servers(ServersArgs),
    /// Add a server from a registry, a bundle or the list of known ones
    #[command(disable_version_flag = true)]
    Add(AddArgs),
    /// Find servers in a registry
    Registry(RegistryArgs),
    /// Look into a bundle, `.mcpb` or `.dxt`
    Bundle(BundleArgs),
    /// Log in to a server, with a browser
    Login(LoginArgs),
    /// End a login, here and at the authorization server
    Logout(LogoutArgs),
    /// Keep, list and forget secrets that entries refer to as `${keyring:NAME}`
    #[command(visible_alias = "secret")]
    Secrets(SecretsArgs),
    /// Take over servers that other products have: what is installed, a file, or a link
    Import(ImportArgs),
    /// Write the servers, or the way to Switchboard, into the file of another product
    Export(ExportArgs),
    /// Lead another product to Switchboard, and so to all servers
    Connect(ConnectArgs),
    /// List, show and search tools
    #[command(visible_alias = "tool")]
    Tools(ToolsArgs),
    /// Call a tool
    Call(CallArgs),
    /// List and read resources
    #[command(visible_alias = "resource")]
    Resources(ResourcesArgs),
    /// List and fetch prompts
    #[command(visible_alias = "prompt")]
    Prompts(PromptsArgs),
    /// Be one MCP server for any client, with all servers behind it
    Serve(Box<ServeArgs>),
    /// Make, list and take back tokens for clients of `serve`
    #[command(visible_alias = "token")]
    Tokens(TokensArgs),
    /// Say how the value of an argument may go on
    Complete(CompleteArgs),
    /// Talk with a model that uses the tools
    Chat(ChatArgs),
    /// Have a model do one task, for scripts
    Run(RunArgs),
    /// See the whole loop in a minute, with nothing configured
    Demo(DemoArgs),
    /// List the models and find out whether they can be asked
    #[command(visible_alias = "model")]
    Models(ModelsArgs),
    /// List, show, name, write out, delete and fork conversations
    #[command(visible_alias = "session")]
    Sessions(SessionsArgs),
    /// Show, check and try out the rules about calls
    Policy(PolicyArgs),
    /// List and show recorded calls
    Calls(CallsArgs),
    /// List and answer what waits for a person, from any terminal
    #[command(visible_alias = "reviews")]
    Review(ReviewArgs),
    /// List, try, approve and revoke hooks: programs that are asked before a call and told after it
    #[command(visible_alias = "hook")]
    Hooks(HooksArgs),
    /// Look at what servers offer that nobody approved yet, and approve it
    #[command(visible_alias = "pin")]
    Pins(PinsArgs),
    /// Write what the servers offer into `switchboard.lock`, for `--locked`
    Lock(LockArgs),
    /// List, wait for and give up calls that servers go on with by themselves
    #[command(visible_alias = "task")]
    Tasks(TasksArgs),
    /// Write typed functions for the tools of a server
    Generate(GenerateArgs),
    /// Say what is wrong and how to put it right
    Doctor(DoctorArgs),
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page
    Man,
}

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ServerArg {
    /// Only of this server
    #[arg(long, short, value_name = "NAME")]
    pub(crate) server: Option<String>,
}
