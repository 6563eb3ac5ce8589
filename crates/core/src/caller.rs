//! The caller of a call, and the face it uses.

use std::fmt;

/// The caller of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    pub face: Face,
    pub origin: Origin,
    /// The name in the record: a user, a client, a model.
    pub name: String,
    /// The caller's own id for the call, by which it is found in the record.
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

/// The originator of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A person requested it, which is its approval.
    Person,
    Model,
    Client,
}

impl Caller {
    /// Returns a person at the terminal.
    #[must_use]
    pub fn person() -> Self {
        Self { face: Face::Cli, origin: Origin::Person, name: "person".to_owned(), reference: None }
    }

    /// Returns a program that embeds the host, for calls that no person requested individually:
    /// rules decide, and the reviewer where the verdict is *ask*.
    #[must_use]
    pub fn program(name: impl Into<String>) -> Self {
        Self { face: Face::Library, origin: Origin::Client, name: name.into(), reference: None }
    }

    /// Returns a language model whose calls an embedding program runs.
    #[must_use]
    pub fn model(name: impl Into<String>) -> Self {
        Self { origin: Origin::Model, ..Self::program(name) }
    }

    /// Returns the caller from the words in a record: its face, and `origin:name`.
    ///
    /// An unknown origin counts as a model, which has the fewest rights.
    #[must_use]
    pub fn from_record(face: &str, who: &str, reference: Option<String>) -> Self {
        let face = match face {
            "cli" => Face::Cli,
            "chat" => Face::Chat,
            "gateway" => Face::Gateway,
            "console" => Face::Console,
            "editor" => Face::Editor,
            _ => Face::Library,
        };
        let (origin, name) = who.split_once(':').unwrap_or_default();
        let origin = match origin {
            "person" => Origin::Person,
            "client" => Origin::Client,
            _ => Origin::Model,
        };
        Self { face, origin, name: name.to_owned(), reference }
    }
}

impl Face {
    /// Returns the name in the record.
    #[must_use]
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
    #[must_use]
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
