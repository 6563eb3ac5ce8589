//! A proposed call, which is not resolved yet; the risk of a call, and a person's answer about it.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use switchboard_wire::Json;

/// A call before its target is looked up and its arguments are checked.
#[derive(Clone, Debug)]
pub struct ProposedCall {
    pub target: Target,
    /// The arguments, as the text of a JSON object.
    pub arguments: Json,
}

/// The tool, resource or prompt of a call.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target {
    pub server: String,
    pub kind: TargetKind,
    /// The tool's or prompt's name, or the resource's URI.
    pub name: String,
}

/// The kind of definition that a call refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TargetKind {
    Tool,
    Resource,
    Prompt,
}

impl ProposedCall {
    /// Proposes to call a tool.
    pub fn tool(server: &str, tool: &str, arguments: Json) -> Self {
        Self { target: Target::new(TargetKind::Tool, server, tool), arguments }
    }

    /// Proposes to read a resource.
    pub fn resource(server: &str, uri: &str) -> Self {
        // Policy and record expect an object, although a resource takes no arguments.
        let arguments = Json::from_trusted("{}".to_owned());
        Self { target: Target::new(TargetKind::Resource, server, uri), arguments }
    }

    /// Proposes to get a prompt.
    pub fn prompt(server: &str, prompt: &str, arguments: Json) -> Self {
        Self { target: Target::new(TargetKind::Prompt, server, prompt), arguments }
    }
}

impl Target {
    /// Creates a target from its parts, unchecked.
    pub fn new(kind: TargetKind, server: &str, name: &str) -> Self {
        Self { server: server.to_owned(), kind, name: name.to_owned() }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.server, self.name)
    }
}

impl TargetKind {
    /// Returns the kind as a lower-case word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Resource => "resource",
            Self::Prompt => "prompt",
        }
    }

    /// Parses the word of [`TargetKind::as_str`].
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Tool, Self::Resource, Self::Prompt].into_iter().find(|kind| kind.as_str() == word)
    }
}

impl fmt::Display for TargetKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A person's answer in a review.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Runs the call only this time.
    Run,
    /// Runs the call with other arguments, as the text of a JSON object.
    RunWith(String),
    /// Runs the call, and allows the tool for the rest of the caller's session.
    Session,
    /// Runs the call, and always allows the tool.
    Always,
    Skip,
    /// Does not run the call; the text is feedback for the caller.
    Reject(String),
}

/// The estimated harm that a call could do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Risk {
    /// The score, from 0 (harmless) to 100.
    pub score: u8,
    /// The reasons in short sentences, the most important first.
    pub reasons: Vec<String>,
}
