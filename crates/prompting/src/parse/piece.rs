//! The output of the parser.

use crate::parse::errors::ParseError;

/// A part of a message, in the order of the text.
#[derive(Clone, Debug, PartialEq)]
pub enum MessagePiece {
    Text(String),
    // For display only, while the arguments arrive: `Call` or `Refused` follows.
    Started { form: WrittenForm, server: Option<String>, tool: Option<String> },
    Call(WrittenCall),
    // If the call was never closed, its whole text precedes this as `Text`.
    Refused { reason: ParseError, excerpt: String },
}

/// The form in which a call is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrittenForm {
    UseMcpTool,
    AccessMcpResource,
    /// An element named after a registered tool.
    Named,
}

/// A call as a model wrote it, not resolved yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenCall {
    pub target: WrittenTarget,
    /// The text of a JSON object.
    pub arguments: String,
    /// A description of the repairs, if any were needed.
    pub repaired: Option<String>,
}

/// The target of a written call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WrittenTarget {
    Tool { server: String, tool: String },
    Resource { server: String, uri: String },
    Named { tool: String },
}

impl MessagePiece {
    /// Creates a refusal with the start of `written` as its excerpt.
    pub fn refusal(reason: ParseError, written: &str) -> Self {
        // Enough for a log line to identify the call.
        const LIMIT: usize = 200;
        let mut excerpt: String = written.chars().take(LIMIT).collect();
        if excerpt.len() < written.len() {
            excerpt.push('…');
        }
        Self::Refused { reason, excerpt }
    }
}
