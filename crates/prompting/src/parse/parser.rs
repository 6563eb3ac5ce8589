//! The streaming parser of model messages.

use std::vec::Drain;

use crate::parse::build;
use crate::parse::call::{CallScan, CallStep};
use crate::parse::dialect::CallDialect;
use crate::parse::errors::ParseError;
use crate::parse::piece::MessagePiece;
use crate::parse::prose::Prose;
use crate::parse::strings::{part, rest};
use crate::parse::tag::MoreInput;

/// Parses one message of a model.
///
/// Text is returned as soon as it can no longer be part of a call. The split of the message into
/// chunks does not affect the result, except for where text is divided.
#[derive(Debug)]
pub struct MessageParser {
    dialect: CallDialect,
    prose: Prose,
    open: Option<CallScan>,
    /// Undecided input: a partial tag, or the open call from its first character.
    pending: String,
    pieces: Vec<MessagePiece>,
    /// How many more values may be cut at their first closing tag, to recover the text after it.
    cuts: u8,
}

impl MessageParser {
    /// Creates a parser at the start of a message.
    #[must_use]
    pub const fn new(dialect: CallDialect) -> Self {
        Self {
            dialect,
            prose: Prose::new(),
            open: None,
            pending: String::new(),
            pieces: Vec::new(),
            // Each cut scans a part of the message again. Without a limit, a long message of
            // stray quotes takes quadratic time.
            cuts: 8,
        }
    }

    /// Adds a chunk and returns the pieces that it made certain.
    pub fn push(&mut self, chunk: &str) -> Drain<'_, MessagePiece> {
        self.ingest(chunk, MoreInput::Possible);
        self.pieces.drain(..)
    }

    /// Ends the message, and returns open input as text or as a refusal.
    #[must_use]
    pub fn finish(mut self) -> Vec<MessagePiece> {
        self.ingest("", MoreInput::Never);
        self.pieces
    }

    fn ingest(&mut self, chunk: &str, coming: MoreInput) {
        if self.pending.is_empty() {
            // The common case of plain prose: no copy of the chunk.
            let done = self.advance(chunk, coming);
            self.pending.push_str(rest(chunk, done));
        } else {
            let mut source = std::mem::take(&mut self.pending);
            source.push_str(chunk);
            let done = self.advance(&source, coming);
            if done > 0 {
                source.drain(..done);
            }
            self.pending = source;
        }
    }

    fn advance(&mut self, source: &str, coming: MoreInput) -> usize {
        let mut at = 0;
        loop {
            let Some(call) = &mut self.open else {
                let next = self.prose.advance(source, at, coming, &self.dialect);
                self.push_text(part(source, at, next.upto));
                at = next.upto;
                let Some(tag) = next.call else { return at };
                let form = self.dialect.form(tag.name);
                self.open = form.map(|form| CallScan::new(form, &tag, at));
                continue;
            };
            let written = rest(source, at);
            let end = match call.advance(written, coming, &self.dialect, &mut self.cuts) {
                CallStep::Wait => return at,
                CallStep::Started(piece) => {
                    self.pieces.push(piece);
                    continue;
                }
                CallStep::Closed { end } => {
                    let piece = match build::build_call(call, &self.dialect) {
                        Ok(call) => MessagePiece::Call(call),
                        Err(reason) => MessagePiece::refusal(reason, part(written, 0, end)),
                    };
                    self.pieces.push(piece);
                    end
                }
                CallStep::Text { end } => {
                    self.push_text(part(written, 0, end));
                    end
                }
                CallStep::Unclosed { end, missing } => {
                    let raw = part(written, 0, end);
                    let element = call.element.clone();
                    // The user sees the text of a broken call: it may be prose that looks like one.
                    self.push_text(raw);
                    let reason = ParseError::Unclosed { element, missing };
                    self.pieces.push(MessagePiece::refusal(reason, raw));
                    end
                }
            };
            self.open = None;
            self.prose.advance_past(source, at, at + end);
            at += end;
        }
    }

    fn push_text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if let Some(MessagePiece::Text(before)) = self.pieces.last_mut() {
            before.push_str(text);
        } else {
            self.pieces.push(MessagePiece::Text(text.to_owned()));
        }
    }
}

#[cfg(test)]
#[path = "parser_tests.rs"]
mod tests;
