//! Errors about a whole file, and `Note`s about settings that could not be converted.

use serde::Serialize;

/// A difference between an entry and its conversion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Note {
    /// The server as named in its file; `None` if the note is about the file.
    pub server: Option<String>,
    pub key: Option<String>,
    pub weight: NoteWeight,
    /// The difference, as a predicate without a full stop.
    pub message: String,
}

/// The severity of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NoteWeight {
    /// The setting is expressed differently or approximately.
    Changed,
    Lost,
    /// The whole server is left out.
    LeftOut,
}

impl Note {
    pub(crate) fn new(
        server: &str,
        key: &str,
        weight: NoteWeight,
        message: impl Into<String>,
    ) -> Self {
        let key = Some(key.to_owned()).filter(|key| !key.is_empty());
        Self { server: Some(server.to_owned()), key, weight, message: message.into() }
    }

    pub(crate) fn left_out(server: &str, message: impl Into<String>) -> Self {
        Self::new(server, "", NoteWeight::LeftOut, message)
    }
}

impl std::fmt::Display for Note {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(server) = &self.server {
            write!(formatter, "`{server}`: ")?;
        }
        match &self.key {
            Some(key) => write!(formatter, "`{key}` {}", self.message),
            None => write!(formatter, "{}", self.message),
        }
    }
}

/// Why a file cannot be read or changed as a whole.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DialectError {
    #[error("line {line}: {message}")]
    Syntax { line: usize, message: String },
    #[error("`{path}` must be {wanted}")]
    Shape { path: String, wanted: &'static str },
    #[error("two servers are named `{0}`")]
    Twice(String),
    #[error("cannot change the file without affecting other parts of it")]
    Touches,
}

impl DialectError {
    /// Returns the remedy for the user.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Syntax { .. } | Self::Shape { .. } => "correct the file in an editor",
            Self::Twice(_) => "remove one of them in an editor",
            Self::Touches => "make the change in an editor",
        }
    }
}
