//! `ServerId`: the name of a server, an opaque key that is only compared as a whole.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use serde::{Serialize, Serializer};

/// Maximum length of a server name.
const MAX_NAME_BYTES: usize = 200;

/// The name of a server, as the configuration spells it.
///
/// Names such as `github.com/example/files` are in use, so no character has a meaning: a name is
/// never split, trimmed or case-folded. It is escaped for display.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerId(Arc<str>);

/// The reason that a text is not a valid server name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ServerIdError {
    #[error("a server name cannot be empty")]
    Empty,
    #[error("a server name cannot be longer than {MAX_NAME_BYTES} bytes, this one has {0}")]
    TooLong(usize),
    #[error("a server name cannot contain control characters")]
    ControlCharacter,
}

impl ServerId {
    /// Validates `name` and keeps it unchanged.
    pub fn new(name: &str) -> Result<Self, ServerIdError> {
        if name.is_empty() {
            return Err(ServerIdError::Empty);
        }
        if name.len() > MAX_NAME_BYTES {
            return Err(ServerIdError::TooLong(name.len()));
        }
        // A line break in a name could forge a line of a log or a prompt.
        if name.chars().any(char::is_control) {
            return Err(ServerIdError::ControlCharacter);
        }
        Ok(Self(name.into()))
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ServerId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}

impl AsRef<str> for ServerId {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

// Maps with this key accept `&str`: the derived `Eq`, `Ord` and `Hash` are those of the text.
impl Borrow<str> for ServerId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl Serialize for ServerId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_without_control_characters_is_a_name() {
        let longest = "x".repeat(MAX_NAME_BYTES);
        for name in ["files", "github.com/example/servers/src/github", " ", "日本", &longest] {
            assert_eq!(ServerId::new(name).map(|id| id.to_string()), Ok(name.to_owned()));
        }
    }

    #[test]
    fn empty_long_and_control_names_are_refused() {
        let cases = [
            (String::new(), ServerIdError::Empty),
            ("é".repeat(101), ServerIdError::TooLong(202)),
            ("a\nb".to_owned(), ServerIdError::ControlCharacter),
            ("a\u{1b}[31m".to_owned(), ServerIdError::ControlCharacter),
            ("a\u{85}".to_owned(), ServerIdError::ControlCharacter),
        ];
        for (name, error) in cases {
            assert_eq!(ServerId::new(&name), Err(error), "{name:?}");
        }
    }

    #[test]
    fn names_are_compared_whole() {
        assert_ne!(ServerId::new("Files"), ServerId::new("files"));
        assert_ne!(ServerId::new("files "), ServerId::new("files"));
    }

    #[test]
    fn a_name_is_written_as_plain_json_text() {
        let id = ServerId::new("a/b").unwrap();
        assert_eq!(serde_json::to_string(&id).unwrap(), r#""a/b""#);
    }
}
