//! A proposed call, which is not resolved yet; the risk of a call, and a person's answer about it.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use switchboard_wire::Json;

/// A proposed call.
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

/// The kind of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TargetKind {
    Tool,
    Resource,
    Prompt,
}

impl ProposedCall {
    /// Proposes a tool call.
    #[must_use]
    pub fn tool(server: &str, tool: &str, arguments: Json) -> Self {
        Self { target: Target::new(TargetKind::Tool, server, tool), arguments }
    }

    /// Proposes reading a resource.
    #[must_use]
    pub fn resource(server: &str, uri: &str) -> Self {
        let arguments = Json::from_trusted("{}".to_owned());
        Self { target: Target::new(TargetKind::Resource, server, uri), arguments }
    }

    /// Proposes getting a prompt.
    #[must_use]
    pub fn prompt(server: &str, prompt: &str, arguments: Json) -> Self {
        Self { target: Target::new(TargetKind::Prompt, server, prompt), arguments }
    }
}

impl Target {
    /// Creates a target.
    #[must_use]
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
    /// Returns the kind as a word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Resource => "resource",
            Self::Prompt => "prompt",
        }
    }

    /// Parses the word of [`TargetKind::as_str`].
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Tool, Self::Resource, Self::Prompt].into_iter().find(|kind| kind.as_str() == word)
    }
}

impl fmt::Display for TargetKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A person's answer to the question whether a call may run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Runs the call, this once.
    Run,
    /// Runs the call with these arguments instead, as the text of a JSON object.
    RunWith(String),
    /// Runs the call, and allows the tool for the rest of the caller's session.
    Session,
    /// Runs the call, and always allows the tool.
    Always,
    Skip,
    /// Does not run the call; the text is feedback for the caller.
    Reject(String),
}

/// How much harm a call could do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Risk {
    /// From 0 to 100.
    pub score: u8,
    /// Why, in short sentences, the weightiest first.
    pub reasons: Vec<String>,
}
