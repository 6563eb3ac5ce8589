//! What the parser gives back.

use crate::parse::errors::ParseError;

/// A part of a message, in the order in which it was written.
#[derive(Clone, Debug, PartialEq)]
pub enum MessagePiece {
    /// Words for the person.
    Text(String),
    /// The beginning of a call whose names are known while its arguments still come. For display:
    /// a [`MessagePiece::Call`] or a [`MessagePiece::Refused`] follows.
    Started {
        /// How the call is written.
        form: WrittenForm,
        /// The server, where it is known.
        server: Option<String>,
        /// The tool, where it is known.
        tool: Option<String>,
    },
    Call(WrittenCall),
    /// What was meant as a call and cannot be one. If the call was never closed, its whole text
    /// came as [`MessagePiece::Text`] just before.
    Refused {
        /// What is wrong with it.
        reason: ParseError,
        /// Its beginning, as it was written.
        excerpt: String,
    },
}

/// How a call is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrittenForm {
    UseMcpTool,
    AccessMcpResource,
    /// An element named like a registered tool.
    Named,
}

/// A call as a model wrote it, not looked up yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenCall {
    pub target: WrittenTarget,
    /// The text of a JSON object.
    pub arguments: String,
    /// What had to be repaired to read it.
    pub repaired: Option<String>,
}

/// What a written call is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WrittenTarget {
    /// A tool of a server.
    Tool { server: String, tool: String },
    /// A resource of a server.
    Resource { server: String, uri: String },
    /// A tool under the name by which it is registered.
    Named {
        /// The tool's registered name.
        tool: String,
    },
}

impl MessagePiece {
    /// A refusal that quotes the beginning of `written`.
    pub fn refusal(reason: ParseError, written: &str) -> Self {
        const LIMIT: usize = 200;
        let mut excerpt: String = written.chars().take(LIMIT).collect();
        if excerpt.len() < written.len() {
            excerpt.push('…');
        }
        Self::Refused { reason, excerpt }
    }
}
