//! The output of the parser.

use crate::parse::errors::ParseError;

/// A part of a message, in the order of the text.
#[derive(Clone, Debug, PartialEq)]
pub enum MessagePiece {
    /// Text for the user.
    Text(String),
    /// The start of a call whose target is known while its arguments still arrive. For display
    /// only: a [`MessagePiece::Call`] or a [`MessagePiece::Refused`] follows.
    Started {
        form: WrittenForm,
        /// The server, if known.
        server: Option<String>,
        /// The tool, if known.
        tool: Option<String>,
    },
    Call(WrittenCall),
    /// An invalid call. If the call was never closed, its whole text precedes this as
    /// [`MessagePiece::Text`].
    Refused {
        reason: ParseError,
        /// The start of the call, as it was written.
        excerpt: String,
    },
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
    /// Text of a JSON object.
    pub arguments: String,
    /// Description of the repairs.
    pub repaired: Option<String>,
}

/// The target of a written call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WrittenTarget {
    Tool {
        server: String,
        tool: String,
    },
    Resource {
        server: String,
        uri: String,
    },
    /// A tool by its registered name.
    Named {
        tool: String,
    },
}

impl MessagePiece {
    /// Creates a refusal with the start of `written` as its excerpt.
    pub fn refusal(reason: ParseError, written: &str) -> Self {
        const LIMIT: usize = 200;
        let mut excerpt: String = written.chars().take(LIMIT).collect();
        if excerpt.len() < written.len() {
            excerpt.push('…');
        }
        Self::Refused { reason, excerpt }
    }
}
