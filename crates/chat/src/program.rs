//! The interface between a conversation and the program that runs it.

use std::pin::Pin;

use switchboard_config::{Config, Environment, Places};
use switchboard_core::ServerId;
use switchboard_host::{Host, Recording};
use switchboard_registry::KnownServers;
use switchboard_rules::Pattern;
use switchboard_terminal::{CliError, Interrupts, People, Printer};

/// A future returned by an operation of [`Program`].
pub type ProgramFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, CliError>> + 'a>>;

/// Options for starting a host: its servers, and who reviews their calls.
pub struct StartOptions {
    /// The servers to start; all of them if `None`.
    pub only: Option<Vec<ServerId>>,
    pub people: People,
    pub allow: Vec<Pattern>,
    /// The model that answers sampling requests of servers, if not the default one.
    pub model: Option<String>,
}

/// Everything a conversation needs: terminal, environment, files and program.
#[derive(Clone, Copy)]
pub struct ChatContext<'a> {
    pub printer: &'a Printer,
    pub interrupts: &'a Interrupts,
    pub environment: &'a Environment,
    pub places: &'a Places,
    /// Whether the conversation and the input history are stored.
    pub recording: Recording,
    pub program: &'a dyn Program,
}

/// Operations that conversations request from the program.
pub trait Program {
    /// Reads the configuration and prints its problems; fails if it cannot be used at all.
    fn config(&self) -> Result<Config, CliError>;

    /// Finds a configured server by name; the error suggests similar names.
    fn server(&self, config: &Config, name: &str) -> Result<ServerId, CliError>;

    /// Starts a host; fails if its files cannot be used.
    fn start(
        &self,
        places: Places,
        environment: Environment,
        options: StartOptions,
    ) -> Result<Host, CliError>;

    /// Waits until the servers of a host have started, and reports those that have not.
    fn ready<'a>(&'a self, host: &'a Host, only: Option<&'a [ServerId]>) -> ProgramFuture<'a, ()>;

    /// Asks the user about servers that are not approved yet.
    fn ask_about_new_servers<'a>(&'a self, host: &'a Host) -> ProgramFuture<'a, ()>;

    /// Loads the list of known servers.
    fn known_servers<'a>(&'a self, config: &'a Config) -> ProgramFuture<'a, KnownServers>;

    /// Prints the servers of a host.
    fn show_servers<'a>(&'a self, host: &'a Host) -> ProgramFuture<'a, ()>;

    /// Prints the tools of a host, or only those that match `words`.
    fn show_tools(&self, host: &Host, words: &str) -> Result<(), CliError>;
}
