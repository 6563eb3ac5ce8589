//! The command-line interface; the reference documentation is generated from its help texts.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

use crate::commands::{
    add, bundle, call, calls, chat, complete, dialects, doctor, generate, hooks, lock, login,
    models, pins, policy, prompts, registry, resources, review, secrets, serve, servers, sessions,
    tasks, tokens, tools,
};

/// The place where AI agents and MCP servers meet.
#[derive(Debug, Parser)]
#[command(name = "switchboard", version, propagate_version = true, arg_required_else_help = true)]
#[command(
    after_help = "Exit codes: 0 success, 1 tool error, 2 usage error, 3 configuration error, \
4 not run, 5 not allowed, 6 failed or unknown outcome, 7 internal error, 8 conversation limit reached, \
130 interrupted"
)]
pub(crate) struct CliArgs {
    #[command(flatten)]
    pub(crate) shared: GlobalArgs,
    #[command(subcommand)]
    pub(crate) command: CliCommand,
}

/// Options that every command accepts.
#[derive(Clone, Debug, Args)]
pub(crate) struct GlobalArgs {
    /// Use this configuration file instead of the user's and the project's (can be repeated)
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Vec<PathBuf>,
    /// Print results as JSON, for scripts
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Print only the result, without messages and warnings
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// Folder to announce to servers as a root, instead of those in the settings (can be repeated)
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) root: Vec<PathBuf>,
    /// Require that servers match `switchboard.lock`
    #[arg(long, global = true)]
    pub(crate) locked: bool,
    /// Do not record calls and conversations
    #[arg(long, global = true)]
    pub(crate) no_record: bool,
    /// Start servers here even if `switchboard serve` is running for this home
    #[arg(long, global = true)]
    pub(crate) no_running: bool,
    /// Seconds to wait for a server to start
    #[arg(long, global = true, default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) start_timeout: u64,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    /// List, add, remove, approve and inspect servers
    #[command(visible_alias = "server")]
    Servers(servers::ServersArgs),
    /// Add a server from a registry, a bundle or the list of known servers
    #[command(disable_version_flag = true)]
    Add(add::AddArgs),
    /// Search for servers in a registry
    Registry(registry::RegistryArgs),
    /// Inspect a server bundle (`.mcpb` or `.dxt`)
    Bundle(bundle::BundleArgs),
    /// Log in to a server through the browser
    Login(login::LoginArgs),
    /// Log out of a server and revoke its tokens
    Logout(login::LogoutArgs),
    /// Manage secrets, which entries reference as `${keyring:NAME}`
    #[command(visible_alias = "secret")]
    Secrets(secrets::SecretsArgs),
    /// Import servers from other products, a file or an install link
    Import(dialects::ImportArgs),
    /// Write servers, or an entry for Switchboard, to another product's configuration
    Export(dialects::ExportArgs),
    /// Point another product at Switchboard
    Connect(dialects::ConnectArgs),
    /// List, show and search tools
    #[command(visible_alias = "tool")]
    Tools(tools::ToolsArgs),
    /// Call a tool and print its result
    Call(call::CallArgs),
    /// List, read and watch resources
    #[command(visible_alias = "resource")]
    Resources(resources::ResourcesArgs),
    /// List and fetch prompts
    #[command(visible_alias = "prompt")]
    Prompts(prompts::PromptsArgs),
    /// Serve all servers as one MCP endpoint, with a web console
    Serve(Box<serve::ServeArgs>),
    /// Create, list and revoke access tokens for `serve`
    #[command(visible_alias = "token")]
    Tokens(tokens::TokensArgs),
    /// Complete an argument value
    Complete(complete::CompleteArgs),
    /// Chat with a model that can call tools
    Chat(chat::ChatArgs),
    /// Run one task with a model, for scripts
    Run(chat::RunArgs),
    /// Try Switchboard with a scripted model, without any configuration
    Demo(chat::DemoArgs),
    /// List models and check that they respond
    #[command(visible_alias = "model")]
    Models(models::ModelsArgs),
    /// List, show, rename, export, delete and fork conversations
    #[command(visible_alias = "session")]
    Sessions(sessions::SessionsArgs),
    /// Show, check and test the rules for calls
    Policy(policy::PolicyArgs),
    /// List, show and verify recorded calls
    Calls(calls::CallsArgs),
    /// List and answer pending approvals and server questions, from any terminal
    #[command(visible_alias = "reviews")]
    Review(review::ReviewArgs),
    /// List, test, approve and revoke hooks, programs that run before and after calls
    #[command(visible_alias = "hook")]
    Hooks(hooks::HooksArgs),
    /// Review and approve tool definitions that are new or have changed
    #[command(visible_alias = "pin")]
    Pins(pins::PinsArgs),
    /// Write the current servers and definitions to `switchboard.lock`
    Lock(lock::LockArgs),
    /// List, await and cancel calls that run as tasks on a server
    #[command(visible_alias = "task")]
    Tasks(tasks::TasksArgs),
    /// Generate typed functions for a server's tools
    Generate(generate::GenerateArgs),
    /// Diagnose problems with servers and configuration
    Doctor(doctor::DoctorArgs),
    /// Print a shell completion script
    Completions {
        /// Shell to print completions for
        shell: Shell,
    },
    /// Print the manual page
    Man,
}

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ServerArg {
    /// Limit the list to this server
    #[arg(long, short, value_name = "NAME")]
    pub(crate) server: Option<String>,
}
