//! Who asks for a call, and through which face.

use std::fmt;

/// Who asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The face that the call comes through.
    pub face: Face,
    /// Who proposed it there.
    pub origin: Origin,
    /// A name for the record: a user, a client, a model.
    pub name: String,
    /// The caller's own name for the call, to find it in the record by.
    pub reference: Option<String>,
}

/// A way into the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Face {
    /// A program that uses this library.
    Library,
    Cli,
    Chat,
    Gateway,
    Console,
    /// An editor or an agent, over gRPC.
    Editor,
}

/// Who proposed a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A person typed it: that is its approval.
    Person,
    /// A model wrote it.
    Model,
    /// A client sent it.
    Client,
}

impl Caller {
    /// A person at the terminal.
    #[must_use]
    pub fn person() -> Self {
        Self { face: Face::Cli, origin: Origin::Person, name: "person".to_owned(), reference: None }
    }

    /// A program that uses this library, for calls that nobody asked for one by one: the rules
    /// decide, and the reviewer where they leave it to a person.
    #[must_use]
    pub fn program(name: impl Into<String>) -> Self {
        Self { face: Face::Library, origin: Origin::Client, name: name.into(), reference: None }
    }

    /// A language model whose calls such a program carries out.
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
    /// Its name in the record.
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
    /// Its name in the record.
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
