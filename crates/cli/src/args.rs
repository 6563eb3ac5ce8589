//! The command line; its help is the reference.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::args_export::{Connect, Export};
use crate::args_generate::Generate;
use crate::args_hooks::Hooks;
use crate::args_import::Import;
use crate::args_login::{Login, Logout};
use crate::args_offers::{Complete, Output, WatchResource};
use crate::args_pins::Pins;
use crate::args_policy::PolicyArguments;
use crate::args_registry::{AddArguments, BundleArguments, RegistryArguments};
use crate::args_review::{Review, WaitForReview};
use crate::args_secrets::Secrets;
use crate::args_serve::Serve;
use crate::args_servers::Servers;
use crate::args_tasks::Tasks;
use crate::args_tokens::Tokens;
use crate::commands::chat::{ChatArgs, DemoArgs, RunArgs};
use crate::commands::models::Models;
use crate::commands::sessions::SessionsArgs;

/// The place where AI agents and MCP servers meet.
#[derive(Debug, Parser)]
#[command(name = "switchboard", version, propagate_version = true, arg_required_else_help = true)]
#[command(
    after_help = "Exit codes: 0 well, 1 the tool reports a failure, 2 usage, 3 configuration, \
4 not run, 5 not allowed, 6 failed or unknown, 7 trouble with switchboard itself, 8 a conversation reached a limit, \
130 interrupted."
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) shared: Shared,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What every command takes.
#[derive(Clone, Debug, Args)]
pub(crate) struct Shared {
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
pub(crate) enum Command {
    /// List, add, remove and look after servers
    #[command(visible_alias = "server")]
    Servers(Servers),
    /// Add a server from a registry, a bundle or the list of known ones
    #[command(disable_version_flag = true)]
    Add(AddArguments),
    /// Find servers in a registry
    Registry(RegistryArguments),
    /// Look into a bundle, `.mcpb` or `.dxt`
    Bundle(BundleArguments),
    /// Log in to a server, with a browser
    Login(Login),
    /// End a login, here and at the authorization server
    Logout(Logout),
    /// Keep, list and forget secrets that entries refer to as `${keyring:NAME}`
    #[command(visible_alias = "secret")]
    Secrets(Secrets),
    /// Take over servers that other products have: what is installed, a file, or a link
    Import(Import),
    /// Write the servers, or the way to Switchboard, into the file of another product
    Export(Export),
    /// Lead another product to Switchboard, and so to all servers
    Connect(Connect),
    /// List, show and search tools
    #[command(visible_alias = "tool")]
    Tools(Tools),
    /// Call a tool
    Call(Call),
    /// List and read resources
    #[command(visible_alias = "resource")]
    Resources(Resources),
    /// List and fetch prompts
    #[command(visible_alias = "prompt")]
    Prompts(Prompts),
    /// Be one MCP server for any client, with all servers behind it
    Serve(Box<Serve>),
    /// Make, list and take back tokens for clients of `serve`
    #[command(visible_alias = "token")]
    Tokens(Tokens),
    /// Say how the value of an argument may go on
    Complete(Complete),
    /// Talk with a model that uses the tools
    Chat(ChatArgs),
    /// Have a model do one task, for scripts
    Run(RunArgs),
    /// See the whole loop in a minute, with nothing configured
    Demo(DemoArgs),
    /// List the models and find out whether they can be asked
    #[command(visible_alias = "model")]
    Models(Models),
    /// List, show, name, write out, delete and fork conversations
    #[command(visible_alias = "session")]
    Sessions(SessionsArgs),
    /// Show, check and try out the rules about calls
    Policy(PolicyArguments),
    /// List and show recorded calls
    Calls(Calls),
    /// List and answer what waits for a person, from any terminal
    #[command(visible_alias = "reviews")]
    Review(Review),
    /// List, try, approve and revoke hooks: programs that are asked before a call and told after it
    #[command(visible_alias = "hook")]
    Hooks(Hooks),
    /// Look at what servers offer that nobody approved yet, and approve it
    #[command(visible_alias = "pin")]
    Pins(Pins),
    /// Write what the servers offer into `switchboard.lock`, for `--locked`
    Lock {
        /// Write nothing; say what is different from the file
        #[arg(long)]
        check: bool,
    },
    /// List, wait for and give up calls that servers go on with by themselves
    #[command(visible_alias = "task")]
    Tasks(Tasks),
    /// Write typed functions for the tools of a server
    Generate(Generate),
    /// Say what is wrong and how to put it right
    Doctor(Doctor),
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page
    Man,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Tools {
    #[command(subcommand)]
    pub(crate) command: Option<ToolsCommand>,
    #[command(flatten)]
    pub(crate) list: ListTools,
}

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ListTools {
    #[command(flatten)]
    pub(crate) of: OfServer,
    /// What models and clients do not see, and everything else in which the scanner found something
    #[arg(long)]
    pub(crate) held: bool,
    /// Also what a rule forbids to everybody, with the rule
    #[arg(long, conflicts_with = "held")]
    pub(crate) all: bool,
}

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct OfServer {
    /// Only of this server
    #[arg(long, short, value_name = "NAME")]
    pub(crate) server: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ToolsCommand {
    /// List tools
    #[command(visible_alias = "ls")]
    List(ListTools),
    /// Show everything about a tool
    Show {
        /// The server
        server: String,
        /// The tool
        tool: String,
    },
    /// Print what a model is shown of the tools
    Prompt {
        /// For whom: text for any model, or a vendor's own definitions
        #[arg(long = "for", value_enum, default_value_t = Audience::Text)]
        audience: Audience,
        /// At most so many tokens; beyond that a shorter list and tools to search it
        #[arg(long, value_name = "TOKENS")]
        budget: Option<usize>,
        /// Only of this server
        #[arg(long, short, value_name = "NAME")]
        server: Option<String>,
    },
    /// Write the catalog as files: mcps/SERVER/tools/TOOL.json
    Index {
        /// The folder to write `mcps` into
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
    /// Find tools by words
    Search {
        /// The words
        #[arg(required = true)]
        words: Vec<String>,
        /// At most so many
        #[arg(long, short = 'n', default_value_t = 10)]
        limit: usize,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Audience {
    /// A section of text; calls are written as tags
    Text,
    /// OpenAI and everything that speaks like it
    Openai,
    /// Anthropic
    Anthropic,
    /// Google
    Gemini,
}

#[derive(Debug, Args)]
pub(crate) struct Call {
    /// The server
    pub(crate) server: String,
    /// The tool
    pub(crate) tool: String,
    /// Arguments: key=value, key:=JSON or key=@FILE
    #[arg(value_name = "KEY=VALUE")]
    pub(crate) arguments: Vec<String>,
    /// All arguments as one JSON object; `-` reads it from standard input
    #[arg(long, value_name = "JSON", conflicts_with = "arguments")]
    pub(crate) json_args: Option<String>,
    /// Treat the call as if a model had proposed it: policy decides, and may ask you
    #[arg(long)]
    pub(crate) review: bool,
    #[command(flatten)]
    pub(crate) wait: WaitForReview,
    /// Write images, audio and files of the result into this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) save: Option<PathBuf>,
    /// Have the server go on with it by itself, where it leaves that to us
    #[arg(long)]
    pub(crate) task: bool,
    /// The same, and do not wait: `switchboard tasks wait` does that later
    #[arg(long)]
    pub(crate) detach: bool,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Resources {
    #[command(subcommand)]
    pub(crate) command: Option<ResourcesCommand>,
    #[command(flatten)]
    pub(crate) list: OfServer,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ResourcesCommand {
    /// List resources and templates
    #[command(visible_alias = "ls")]
    List(OfServer),
    /// Read a resource
    Read {
        /// The server
        server: String,
        /// The resource's address
        uri: String,
        #[command(flatten)]
        to: Output,
    },
    /// Print each change of a resource, until interrupted
    Watch(WatchResource),
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Prompts {
    #[command(subcommand)]
    pub(crate) command: Option<PromptsCommand>,
    #[command(flatten)]
    pub(crate) list: OfServer,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PromptsCommand {
    /// List prompts
    #[command(visible_alias = "ls")]
    List(OfServer),
    /// Fetch a prompt
    Get {
        /// The server
        server: String,
        /// The prompt
        prompt: String,
        /// Arguments: key=value
        #[arg(value_name = "KEY=VALUE")]
        arguments: Vec<String>,
    },
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Calls {
    #[command(subcommand)]
    pub(crate) command: Option<CallsCommand>,
    #[command(flatten)]
    pub(crate) list: CallFilter,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct CallFilter {
    /// Only of this server
    #[arg(long, short, value_name = "NAME")]
    pub(crate) server: Option<String>,
    /// Only those that ended so: `ok`, `tool_error`, `denied`, `rejected`, `not_sent`, `refused`,
    /// `failed`, `unknown`, `cancelled` or `invalid_output`
    #[arg(long, short, value_name = "OUTCOME")]
    pub(crate) outcome: Option<String>,
    /// Only those before this one
    #[arg(long, value_name = "ID")]
    pub(crate) before: Option<String>,
    /// At most so many
    #[arg(long, short = 'n', default_value_t = 20)]
    pub(crate) limit: u32,
    /// With `--json`: everything about each of them, as `calls show` has it
    #[arg(long)]
    pub(crate) full: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CallsCommand {
    /// List calls, the newest first
    #[command(visible_alias = "ls")]
    List(CallFilter),
    /// Show everything about a call
    Show {
        /// The call's id
        id: String,
    },
    /// Check that the record is as it was written, and name the first call that is not
    Verify,
    /// List what became of definitions and entries: flagged, approved, taken back, added
    Audit,
}

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Only this server
    pub(crate) server: Option<String>,
}
