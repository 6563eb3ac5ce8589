//! The two kinds of failure: protocol errors, and tool results that report an error.

use std::io;

use serde_json::{Value, json};

use crate::display_text;

/// A JSON-RPC error, for invalid requests rather than failed calls.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct BuiltinRpcError {
    pub code: i64,
    pub message: String,
    /// Additional data that the protocol requires, such as the supported revisions.
    pub data: Option<Value>,
}

impl BuiltinRpcError {
    pub(crate) fn unknown_method(method: &str) -> Self {
        Self::new(-32601, format!("unknown method `{}`", display_text::brief(method)))
    }

    pub(crate) fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(-32602, message)
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(-32603, message)
    }

    pub(crate) fn legacy_resource_missing(message: impl Into<String>) -> Self {
        // The modern revision uses -32602 for a resource that does not exist.
        Self::new(-32002, message)
    }

    pub(crate) fn unsupported_revision(requested: &str, supported: &[&str]) -> Self {
        let data = json!({ "supported": supported, "requested": requested });
        let message = format!("revision `{}` is not supported", display_text::brief(requested));
        Self::new(-32022, message).with_data(data)
    }

    pub(crate) fn with_data(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }

    fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }
}

/// The reason why a tool refused a call, worded so that a model can act on it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct ToolRefusal {
    pub message: String,
    pub hint: Option<String>,
    /// Whether the target does not exist, for which the protocol has its own code.
    pub missing: bool,
}

impl ToolRefusal {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, missing: false }
    }

    pub(crate) fn parameter(name: &str, problem: &str) -> Self {
        Self::new(format!("parameter `{}` {problem}", display_text::brief(name)))
    }

    pub(crate) fn missing(path: &str) -> Self {
        let mut refusal = Self::new(format!("`{}` does not exist", display_text::brief(path)))
            .with_hint("list the folder with `files_list`");
        refusal.missing = true;
        refusal
    }

    pub(crate) fn from_io_error(path: &str, problem: &io::Error) -> Self {
        let name = display_text::brief(path);
        match problem.kind() {
            io::ErrorKind::NotFound => Self::missing(path),
            io::ErrorKind::IsADirectory => Self::new(format!("`{name}` is a folder"))
                .with_hint("list it with `files_list`, or name a file in it"),
            io::ErrorKind::NotADirectory => Self::new(format!("`{name}` is not a folder"))
                .with_hint("read it with `files_read` if it is a file"),
            io::ErrorKind::InvalidInput => {
                Self::new(format!("`{name}` is a device, pipe or socket"))
                    .with_hint("only regular files are opened")
            }
            io::ErrorKind::PermissionDenied => {
                Self::new(format!("`{name}` cannot be read: permission denied"))
            }
            _ => Self::new(format!("`{name}` cannot be read: {problem}")),
        }
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Returns the message and, on its own line, the hint.
    pub(crate) fn full_text(&self) -> String {
        match &self.hint {
            Some(hint) => format!("{}\nhint: {hint}", self.message),
            None => self.message.clone(),
        }
    }
}
