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

    /// Returns the servers that other products have on this machine.
    ///
    /// # Errors
    /// When our own configuration file, with which they are compared, cannot be read.
    fn installed_servers(&self) -> Result<Proposal, DiscoveryError>;

    /// Parses a pasted configuration of a product, which is detected if `product` is `None`.
    /// Returns `None` if the text is in our own format.
    ///
    /// # Errors
    /// When the text cannot be parsed.
    fn parse_pasted(
        &self,
        text: &str,
        product: Option<&str>,
    ) -> Result<Option<Proposal>, DiscoveryError>;
}

/// What would be added.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Proposal {
    /// The servers.
    pub servers: Vec<ProposedServer>,
    /// What could not be taken over at all.
    pub left_out: Vec<String>,
    /// Files that cannot be read.
    pub unreadable: Vec<UnreadFile>,
}

/// A server that somebody wants to add.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ProposedServer {
    /// Its name here.
    pub name: Option<String>,
    /// Its entry as our own file would have it.
    pub entry: Value,
    /// What it runs or where it is, in a line.
    pub how: String,
    /// What to know before it runs.
    pub findings: Vec<EntryFinding>,
    /// Why it cannot be added as it is.
    pub problem: Option<String>,
    /// What to do about that.
    pub hint: Option<String>,
    /// Whether there is a server of that name.
    pub exists: bool,
    /// Why there is no need to add it.
    pub needless: Option<String>,
    /// What is different here from where it comes from, and what it needs.
    pub notes: Vec<String>,
    /// Values that are secrets and stand in a file for everybody to read.
    pub plain_secrets: Vec<String>,
    /// Where it comes from, if another product has it.
    pub source: Option<SourceShown>,
}

/// Where a server comes from.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SourceShown {
    /// What the product is called.
    pub product: &'static str,
    /// The file that has it.
    pub place: String,
    /// Whose file it is: `user`, `project`, `folder` or `link`.
    pub scope: &'static str,
    /// Its name there.
    pub name: String,
    /// What taking it has to quote, if its values stay in the file that has it.
    pub digest: Option<String>,
}

/// A file that cannot be read; the others are read all the same.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct UnreadFile {
    /// Where it is.
    pub place: String,
    /// Why it cannot be read.
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

/// The reason why servers of other products cannot be read.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct DiscoveryError {
    pub message: String,
    /// The remedy, if there is one.
    pub hint: Option<String>,
}
