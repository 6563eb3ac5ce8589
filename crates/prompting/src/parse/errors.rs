//! Errors of calls that a model wrote, worded for that model.

use thiserror::Error;

/// The reason why a written call is invalid.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ParseError {
    #[error("`{element}` has no value for its required parameter `{parameter}`")]
    MissingParameter { element: String, parameter: String },
    #[error("the arguments are not valid JSON: {0}")]
    Json(JsonProblem),
    #[error("the arguments must be a JSON object, not {found}")]
    NotAnObject { found: &'static str },
    // The message ended inside of the call, or another call started there.
    #[error("`{element}` was not closed: {missing} is missing")]
    Unclosed { element: String, missing: String },
    #[error("the call names no tool")]
    NoName,
}

/// An error in a JSON text, with its position.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{what} at line {line}, column {column}, near `{excerpt}`")]
pub struct JsonProblem {
    pub what: String,
    pub line: usize,
    /// In characters, not bytes; both counts start at 1.
    pub column: usize,
    pub excerpt: String,
}

impl ParseError {
    /// Returns the remedy for this error.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::MissingParameter { element, parameter } => {
                format!("write the call again with `<{parameter}>` inside of `<{element}>`")
            }
            Self::Json(_) => "write the arguments again as one JSON object: double quotes around \
                              keys and strings, a backslash before quotes inside of strings"
                .to_owned(),
            Self::NotAnObject { .. } => {
                "put the values into an object, one member for each parameter".to_owned()
            }
            Self::Unclosed { missing, .. } => {
                format!("write the whole call again and end it with {missing}")
            }
            Self::NoName => "name the tool to call".to_owned(),
        }
    }

    /// Returns the message for the model: the error, that nothing ran, and the remedy.
    #[must_use]
    pub fn for_model(&self) -> String {
        // First that nothing ran: the model must not count on an effect of the call.
        format!("Nothing was called: {self}. To continue, {}.", self.hint())
    }
}

impl JsonProblem {
    /// Creates a problem at the byte `offset` of `text`.
    pub fn at(what: impl Into<String>, text: &str, offset: usize) -> Self {
        // Enough to find the place, and too little to repeat a long argument to the model.
        const CONTEXT_CHARS: usize = 16;
        let before = text.get(..offset).unwrap_or(text);
        let after = text.get(offset..).unwrap_or_default();
        let last_line = before.rsplit('\n').next().unwrap_or_default();
        let tail: Vec<char> = before.chars().rev().take(CONTEXT_CHARS).collect();
        let shown = tail.into_iter().rev().chain(after.chars().take(CONTEXT_CHARS));
        Self {
            what: what.into(),
            line: memchr::memchr_iter(b'\n', before.as_bytes()).count() + 1,
            column: last_line.chars().count() + 1,
            // On one line, so that the excerpt cannot break the layout of the message.
            excerpt: shown.map(|c| if c.is_control() { ' ' } else { c }).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{JsonProblem, ParseError};

    #[test]
    fn a_problem_names_its_line_its_column_and_what_stands_there() {
        let problem = JsonProblem::at("a colon is missing", "{\n \"é\" 1}", 7);
        let expected = JsonProblem {
            what: "a colon is missing".to_owned(),
            line: 2,
            column: 5,
            excerpt: "{  \"é\" 1}".to_owned(),
        };
        assert_eq!(problem, expected);
    }

    #[test]
    fn a_model_reads_what_is_missing_and_what_to_do() {
        let error = ParseError::MissingParameter {
            element: "use_mcp_tool".to_owned(),
            parameter: "server_name".to_owned(),
        };
        assert_eq!(
            error.for_model(),
            "Nothing was called: `use_mcp_tool` has no value for its required parameter \
             `server_name`. To continue, write the call again with `<server_name>` inside of \
             `<use_mcp_tool>`."
        );
    }
}
