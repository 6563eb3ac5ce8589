//! `Note`: what could not be taken over as it is.

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
