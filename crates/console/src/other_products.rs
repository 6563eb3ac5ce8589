//! Servers in the configuration files of other products. The program that starts the console reads
//! the files; this module has the trait and the types of the results.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use switchboard_vetting::EntryFinding;

/// Reads the configuration files of other products. All methods block.
pub trait ProductReader: Send + Sync {
    /// Returns the supported products: the id and the display name of each.
    fn products(&self) -> Vec<(&'static str, &'static str)>;

    /// Returns the servers that other products have on this machine, or an error if our own
    /// configuration file, with which they are compared, cannot be read.
    fn installed_servers(&self) -> Result<Proposal, DiscoveryError>;

    /// Parses a pasted configuration of a product, which is detected if `product` is `None`.
    /// Returns `None` if the text is in our own format.
    fn parse_pasted(
        &self,
        text: &str,
        product: Option<&str>,
    ) -> Result<Option<Proposal>, DiscoveryError>;
}

/// Servers that could be added.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Proposal {
    /// Servers that were found.
    pub servers: Vec<ProposedServer>,
    /// Entries that cannot be imported, with reasons.
    pub left_out: Vec<String>,
    /// Files that could not be read.
    pub unreadable: Vec<UnreadFile>,
}

/// A server that could be added.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ProposedServer {
    /// Name under which it would be added.
    pub name: Option<String>,
    /// Configuration entry in our own format.
    pub entry: Value,
    /// Command line or URL of the server.
    pub how: String,
    /// Security findings in the entry.
    pub findings: Vec<EntryFinding>,
    /// Reason why it cannot be added.
    pub problem: Option<String>,
    /// Remedy for the problem, if there is one.
    pub hint: Option<String>,
    /// Whether a server of that name already exists.
    pub exists: bool,
    /// Reason why it need not be added.
    pub needless: Option<String>,
    /// Differences from the original entry, and requirements.
    pub notes: Vec<String>,
    /// Names of secrets that the file has in plain text.
    pub plain_secrets: Vec<String>,
    /// Origin of the entry, if another product has it.
    pub source: Option<SourceShown>,
}

/// The origin of a server's entry.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SourceShown {
    /// Display name of the product.
    pub product: &'static str,
    /// File that contains the entry.
    pub place: String,
    /// Scope of the file: `user`, `project`, `folder` or `link`.
    pub scope: &'static str,
    /// Name of the server in that file.
    pub name: String,
    /// Digest that an import must quote. The values stay in the file until then.
    pub digest: Option<String>,
}

/// A file that could not be read. It does not affect other files.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct UnreadFile {
    /// Path of the unreadable file.
    pub place: String,
    /// Reason why the file cannot be read.
    pub message: String,
    /// Suggested remedy for a person.
    pub hint: String,
}

/// The reason why servers of other products cannot be read.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct DiscoveryError {
    pub message: String,
    pub hint: Option<String>,
}
