//! The program around a conversation: the values and operations that a conversation takes from it.

use std::pin::Pin;

use switchboard_config::{Config, Environment, Places};
use switchboard_core::ServerId;
use switchboard_host::{Host, Recording};
use switchboard_registry::KnownServers;
use switchboard_rules::Pattern;
use switchboard_terminal::{CliError, Interrupts, People, Printer};

/// An operation of the program that takes time.
pub type ProgramFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, CliError>> + 'a>>;

/// The servers of a host, and who is asked about their calls.
pub struct StartOptions {
    /// Only these servers, if any are named.
    pub only: Option<Vec<ServerId>>,
    pub people: People,
    /// Calls that need no question.
    pub allow: Vec<Pattern>,
    /// The model that answers servers, if not the usual one.
    pub model: Option<String>,
}

/// The terminal, the environment and the program of a conversation.
#[derive(Clone, Copy)]
pub struct ChatContext<'a> {
    pub printer: &'a Printer,
    /// Ctrl-C and requests to end.
    pub interrupts: &'a Interrupts,
    /// The environment of the process.
    pub environment: &'a Environment,
    /// The files of the user and of the project.
    pub places: &'a Places,
    /// Whether the conversation and its history are kept.
    pub recording: Recording,
    /// Starts hosts and lists servers.
    pub program: &'a dyn Program,
}

/// Operations of the program that conversations use.
pub trait Program {
    /// Reads the configuration and reports its problems.
    ///
    /// # Errors
    /// When it cannot be used at all.
    fn config(&self) -> Result<Config, CliError>;

    /// Finds a configured server by name.
    ///
    /// # Errors
    /// When there is none; the error names similar ones.
    fn server(&self, config: &Config, name: &str) -> Result<ServerId, CliError>;

    /// Starts a host.
    ///
    /// # Errors
    /// When its files cannot be used.
    fn start(
        &self,
        places: Places,
        environment: Environment,
        options: StartOptions,
    ) -> Result<Host, CliError>;

    /// Waits until the servers of a host are up and reports those that are not.
    fn ready<'a>(&'a self, host: &'a Host, only: Option<&'a [ServerId]>) -> ProgramFuture<'a, ()>;

    /// Asks the person about servers that nobody has approved yet.
    fn ask_about_new_servers<'a>(&'a self, host: &'a Host) -> ProgramFuture<'a, ()>;

    /// Reads the list of known servers.
    fn known_servers<'a>(&'a self, config: &'a Config) -> ProgramFuture<'a, KnownServers>;

    /// Prints the servers of a host.
    fn show_servers<'a>(&'a self, host: &'a Host) -> ProgramFuture<'a, ()>;

    /// Prints the tools of a host, or those that match the words.
    ///
    /// # Errors
    /// When they cannot be printed.
    fn show_tools(&self, host: &Host, words: &str) -> Result<(), CliError>;
}
