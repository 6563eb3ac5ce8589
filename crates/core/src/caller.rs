//! The caller of a call, and the face it uses.

use std::fmt;

/// The caller of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    pub face: Face,
    pub origin: Origin,
    /// The name of the user, client or model in the record.
    pub name: String,
    /// The caller's own id for the call; the record can be searched for it.
    pub reference: Option<String>,
}

/// An entry point to the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Face {
    /// A program that embeds the host.
    Library,
    Cli,
    Chat,
    Gateway,
    Console,
    /// An editor or an agent, over gRPC.
    Editor,
}

/// The kind of party that requested a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A person, whose request is also the approval.
    Person,
    Model,
    Client,
}

impl Caller {
    /// Returns a person at the terminal.
    pub fn person() -> Self {
        Self { face: Face::Cli, origin: Origin::Person, name: "person".to_owned(), reference: None }
    }

    /// Returns a program that embeds the host, for calls that no person requested individually.
    /// Rules decide about them, and a reviewer if the verdict is *ask*.
    pub fn program(name: impl Into<String>) -> Self {
        Self { face: Face::Library, origin: Origin::Client, name: name.into(), reference: None }
    }

    /// Returns a language model whose calls an embedding program runs.
    pub fn model(name: impl Into<String>) -> Self {
        Self { origin: Origin::Model, ..Self::program(name) }
    }

    /// Parses the caller from a record: its face, and `origin:name`.
    pub fn from_record(face: &str, who: &str, reference: Option<String>) -> Self {
        let face = match face {
            "cli" => Face::Cli,
            "chat" => Face::Chat,
            "gateway" => Face::Gateway,
            "console" => Face::Console,
            "editor" => Face::Editor,
            _ => Face::Library,
        };
        // Only the first colon separates, since names of clients may contain more of them.
        let (origin, name) = who.split_once(':').unwrap_or_default();
        let origin = match origin {
            // Anything unrecognized is a model, which has the fewest rights.
            "person" => Origin::Person,
            "client" => Origin::Client,
            _ => Origin::Model,
        };
        Self { face, origin, name: name.to_owned(), reference }
    }
}

impl Face {
    /// Returns the name in the record.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Library => "library",
            Self::Cli => "cli",
            Self::Chat => "chat",
            Self::Gateway => "gateway",
            Self::Console => "console",
            Self::Editor => "editor",
        }
    }
}

impl Origin {
    /// Returns the name in the record.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Model => "model",
            Self::Client => "client",
        }
    }
}

impl fmt::Display for Face {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
