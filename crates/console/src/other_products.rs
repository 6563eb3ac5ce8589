//! Servers that other products have. Whoever starts the console knows their files; here is only
//! what is wanted of them.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use switchboard_vetting::EntryFinding;

/// Reads the files of other products. It blocks.
pub trait ProductReader: Send + Sync {
    /// The products that are known: a word for each, and what it is called.
    fn products(&self) -> Vec<(&'static str, &'static str)>;

    /// What is installed on this machine.
    ///
    /// # Errors
    /// When our own file cannot be read, with which it is compared.
    fn installed_servers(&self) -> Result<DiscoveredServers, DiscoveryError>;

    /// What is in a text, of this product or of the one that it looks like; nothing if it looks like
    /// one of our own.
    ///
    /// # Errors
    /// When it cannot be read.
    fn parse_pasted(
        &self,
        text: &str,
        product: Option<&str>,
    ) -> Result<Option<DiscoveredServers>, DiscoveryError>;
}

/// What was found.
#[derive(Debug, Default)]
pub struct DiscoveredServers {
    /// The servers.
    pub servers: Vec<DiscoveredServer>,
    /// What could not be taken over at all.
    pub left_out: Vec<String>,
    /// Files that cannot be read.
    pub unreadable: Vec<UnreadFile>,
}

/// A server of another product.
#[derive(Clone, Debug)]
pub struct DiscoveredServer {
    /// Its name there.
    pub name: String,
    /// What the product is called.
    pub product: &'static str,
    /// The file that has it.
    pub place: String,
    /// Whose file it is: `user`, `project`, `folder` or `link`.
    pub scope: &'static str,
    /// What it runs or where it is, in a line and without secrets.
    pub how: String,
    /// Its entry as our own file would have it.
    pub entry: Value,
    /// What would become of it here.
    pub becomes: ImportEffect,
    /// What is different here, and what it needs.
    pub notes: Vec<String>,
    /// What to know before it runs.
    pub findings: Vec<EntryFinding>,
    /// Values that are secrets and stand there for everybody to read.
    pub plain_secrets: Vec<String>,
}

/// What would become of a server here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImportEffect {
    /// A new one, under this name.
    New(String),
    /// Nothing: it is there, under this name.
    There(String),
    /// Nothing: it leads to us.
    Ourselves,
    /// Nothing, and why.
    Refused(String),
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

/// Why nothing can be found.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct DiscoveryError {
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}
