//! Errors about a whole file, and `Note`s about settings that could not be converted.

use serde::Serialize;

/// Something about one server that is different on the other side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Note {
    /// The server, as its file names it; none if it is about the file.
    pub server: Option<String>,
    /// The key of its entry.
    pub key: Option<String>,
    /// How much it means.
    pub weight: NoteWeight,
    /// What it is, as a sentence without an end.
    pub message: String,
}

/// How much a difference means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NoteWeight {
    /// It is said in other words, or nearly so.
    Changed,
    /// It is not said any more.
    Lost,
    /// The whole server is left out.
    LeftOut,
}

impl Note {
    /// A note about a key of a server.
    pub(crate) fn new(
        server: &str,
        key: &str,
        weight: NoteWeight,
        message: impl Into<String>,
    ) -> Self {
        let key = Some(key.to_owned()).filter(|key| !key.is_empty());
        Self { server: Some(server.to_owned()), key, weight, message: message.into() }
    }

    /// A note that a server is left out.
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

/// Why a whole file cannot be read or changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DialectError {
    /// The file is not of the format that the product uses.
    #[error("line {line}: {message}")]
    Syntax {
        /// The line, counted from 1.
        line: usize,
        /// What is wrong there.
        message: String,
    },
    /// Something in the file is not what the product expects there.
    #[error("`{path}` must be {wanted}")]
    Shape {
        /// The keys to it, with dots between them.
        path: String,
        /// What it should be.
        wanted: &'static str,
    },
    /// The file has two servers of one name, so it is not known which one counts.
    #[error("there are two servers `{0}`")]
    Twice(String),
    /// The change would have touched something else.
    #[error("the file cannot be changed without touching something else")]
    Touches,
}

impl DialectError {
    /// What to do about it.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Syntax { .. } | Self::Shape { .. } => "put it right in an editor",
            Self::Twice(_) => "remove one of them in an editor",
            Self::Touches => "change it in an editor",
        }
    }
}
