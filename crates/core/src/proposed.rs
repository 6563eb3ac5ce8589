//! A call that someone wants, not looked up yet, its risk, and a person's answer about it.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use switchboard_wire::Json;

/// What someone wants to call, with what.
#[derive(Clone, Debug)]
pub struct ProposedCall {
    pub target: Target,
    /// The arguments: the text of a JSON object.
    pub arguments: Json,
}

/// The thing that a call is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target {
    pub server: String,
    /// Which kind of thing it is.
    pub kind: TargetKind,
    /// The tool's or prompt's name, or the resource's URI.
    pub name: String,
}

/// Which kind of thing is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TargetKind {
    /// A tool is run.
    Tool,
    /// A resource is read.
    Resource,
    /// A prompt is fetched.
    Prompt,
}

impl ProposedCall {
    /// A call of a tool.
    #[must_use]
    pub fn tool(server: &str, tool: &str, arguments: Json) -> Self {
        Self { target: Target::new(TargetKind::Tool, server, tool), arguments }
    }

    /// The reading of a resource.
    #[must_use]
    pub fn resource(server: &str, uri: &str) -> Self {
        let arguments = Json::from_trusted("{}".to_owned());
        Self { target: Target::new(TargetKind::Resource, server, uri), arguments }
    }

    /// The fetching of a prompt.
    #[must_use]
    pub fn prompt(server: &str, prompt: &str, arguments: Json) -> Self {
        Self { target: Target::new(TargetKind::Prompt, server, prompt), arguments }
    }
}

impl Target {
    /// A thing on a server.
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
    /// The kind in one word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Resource => "resource",
            Self::Prompt => "prompt",
        }
    }

    /// The kind that the word stands for.
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
    /// Run it, this once.
    Run,
    /// Run it with these arguments instead: the text of a JSON object.
    RunWith(String),
    /// Run it, and do not ask for this tool again for the rest of the caller's session.
    Session,
    /// Run it, and do not ask for this tool again.
    Always,
    Skip,
    /// Do not run it; do this instead.
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
