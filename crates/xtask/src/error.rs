//! Errors of `cargo xtask`, with a hint if there is a next step.

use std::fmt;

/// The reason why a command stopped, with the next step if there is one.
#[derive(Debug)]
pub(crate) struct XtaskError {
    message: String,
    hint: Option<String>,
}

/// The result of every command of this program.
pub(crate) type Result<T> = std::result::Result<T, XtaskError>;

impl XtaskError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None }
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for XtaskError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "error: {}", self.message)?;
        if let Some(hint) = &self.hint {
            write!(out, "\n hint: {hint}")?;
        }
        Ok(())
    }
}
