//! A problem in a file, with its position, key and remedy.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use switchboard_text::{sanitize, sanitize_whole};

use crate::document::Position;

/// The severity of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProblemSeverity {
    /// The file, server or setting is ignored.
    Error,
    /// The value is used, but probably not as intended.
    Warning,
}

/// A problem in the configuration. It never contains values of `env` or `headers`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.sentence())]
pub struct ConfigError {
    /// The affected file; empty if there is none.
    pub file: Arc<Path>,
    pub line: Option<usize>,
    pub column: Option<usize>,
    /// The affected server as written, which may not be a valid name.
    pub server: Option<Box<str>>,
    /// The key inside the entry of the server, or inside the file, such as `env.API_KEY`.
    pub key: Option<Box<str>>,
    /// The problem: a lower-case sentence without the position.
    pub message: Box<str>,
    pub hint: Option<Box<str>>,
    pub severity: ProblemSeverity,
}

impl ConfigError {
    /// Creates an error about a file as a whole.
    pub fn new(file: impl Into<Arc<Path>>, message: impl Into<Box<str>>) -> Self {
        Self {
            file: file.into(),
            line: None,
            column: None,
            server: None,
            key: None,
            message: message.into(),
            hint: None,
            severity: ProblemSeverity::Error,
        }
    }

    /// Returns the message as a predicate that follows the name of the file.
    pub fn predicate(&self) -> &str {
        self.message.strip_prefix("the file ").unwrap_or(&self.message)
    }

    /// Adds the line and column, both starting at 1.
    pub fn at_place(self, line: usize, column: usize) -> Self {
        self.at(Position { line, column })
    }

    /// Adds the position in the file.
    pub fn at(mut self, position: Position) -> Self {
        self.line = Some(position.line);
        self.column = Some(position.column);
        self
    }

    /// Adds the name of the server whose entry is wrong.
    pub fn server(mut self, name: &str) -> Self {
        self.server = Some(name.into());
        self
    }

    /// Adds the key whose value is wrong.
    pub fn key(mut self, key: impl Into<Box<str>>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// Adds a remedy for the problem.
    pub fn hint(mut self, hint: impl Into<Box<str>>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Marks the problem as a warning, which does not prevent the use of the configuration.
    pub fn warning(mut self) -> Self {
        self.severity = ProblemSeverity::Warning;
        self
    }

    /// Returns whether the affected file, server or setting is ignored.
    pub fn is_error(&self) -> bool {
        self.severity == ProblemSeverity::Error
    }

    fn sentence(&self) -> String {
        let mut text = String::new();
        // Writing to a `String` cannot fail.
        if let Some(server) = &self.server {
            let _ = write!(text, "`{}`: ", sanitize(server));
        }
        text.push_str(&self.message);
        let mut place = sanitize_whole(&self.file.display().to_string());
        if let Some(line) = self.line {
            let _ = write!(place, ":{line}");
            // A key identifies the place in its line better than a column.
            if let (Some(column), None) = (self.column, &self.key) {
                let _ = write!(place, ":{column}");
            }
        }
        let unsaid = self.key.as_ref().map(|key| sanitize(key));
        if let Some(key) = unsaid.filter(|key| !self.message.contains(&format!("`{key}`"))) {
            let comma = if place.is_empty() { "" } else { ", " };
            let _ = write!(place, "{comma}key `{key}`");
        }
        if !place.is_empty() {
            let _ = write!(text, " ({place})");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_server_place_and_key() {
        let error = |message: &str| ConfigError::new(Path::new("config.json"), message);
        let at = Position { line: 7, column: 18 };
        let cases = [
            (error("cannot be read"), "cannot be read (config.json)"),
            (error("expected comma").at(at), "expected comma (config.json:7:18)"),
            (
                error("variable `TOKEN` is not set").at(at).server("files").key("env.API_KEY"),
                "`files`: variable `TOKEN` is not set (config.json:7, key `env.API_KEY`)",
            ),
            (
                error("`command` is empty").at(at).server("files").key("command"),
                "`files`: `command` is empty (config.json:7)",
            ),
            (ConfigError::new(Path::new(""), "no home folder"), "no home folder"),
        ];
        for (error, text) in cases {
            assert_eq!(error.to_string(), text);
        }
    }

    #[test]
    fn names_from_a_file_cannot_steer_the_terminal() {
        let error =
            ConfigError::new(Path::new("c.json"), "is broken").server("a\u{1b}[2J\u{202e}b");
        assert_eq!(error.to_string(), "`a\\u{1b}[2J\\u{202e}b`: is broken (c.json)");
    }

    #[test]
    fn an_error_fits_into_a_result_without_boxing() {
        assert!(size_of::<ConfigError>() < 128);
    }
}
