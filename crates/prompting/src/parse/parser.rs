//! Takes a message chunk by chunk and gives back its pieces.

use std::vec::Drain;

use crate::parse::build;
use crate::parse::call::{OpenCall, Step};
use crate::parse::dialect::Dialect;
use crate::parse::errors::ParseError;
use crate::parse::piece::Piece;
use crate::parse::prose::Prose;
use crate::parse::strings::{part, rest};
use crate::parse::tag::Coming;

/// Reads one message of a model.
///
/// Text is given back as soon as it can no longer be a part of a call. How the message is cut into
/// chunks makes no difference, except for where text is divided.
#[derive(Debug)]
pub struct Parser {
    dialect: Dialect,
    prose: Prose,
    open: Option<OpenCall>,
    /// What was not decided yet: half a tag, or the open call from its first letter.
    pending: String,
    pieces: Vec<Piece>,
    /// How many more times a call may be cut short to save what follows it. Each one reads a part
    /// of the message again, so there are few.
    cuts: u8,
}

impl Parser {
    /// A parser at the beginning of a message.
    #[must_use]
    pub const fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            prose: Prose::new(),
            open: None,
            pending: String::new(),
            pieces: Vec::new(),
            cuts: 8,
        }
    }

    /// Takes the next chunk and gives back what became certain by it.
    pub fn push(&mut self, chunk: &str) -> Drain<'_, Piece> {
        self.take_in(chunk, Coming::More);
        self.pieces.drain(..)
    }

    /// Ends the message: what is still open is given back as text or refused.
    #[must_use]
    pub fn finish(mut self) -> Vec<Piece> {
        self.take_in("", Coming::Nothing);
        self.pieces
    }

    fn take_in(&mut self, chunk: &str, coming: Coming) {
        if self.pending.is_empty() {
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

    /// Reads as far as it can be decided, and says how far that is.
    fn advance(&mut self, source: &str, coming: Coming) -> usize {
        let mut at = 0;
        loop {
            let Some(call) = &mut self.open else {
                let next = self.prose.advance(source, at, coming, &self.dialect);
                self.text(part(source, at, next.upto));
                at = next.upto;
                let Some(tag) = next.call else { return at };
                let form = self.dialect.form(tag.name);
                self.open = form.map(|form| OpenCall::new(form, &tag, at));
                continue;
            };
            let written = rest(source, at);
            let end = match call.advance(written, coming, &self.dialect, &mut self.cuts) {
                Step::Wait => return at,
                Step::Started(piece) => {
                    self.pieces.push(piece);
                    continue;
                }
                Step::Closed { end } => {
                    let piece = match build::written_call(call, &self.dialect) {
                        Ok(call) => Piece::Call(call),
                        Err(reason) => Piece::refused(reason, part(written, 0, end)),
                    };
                    self.pieces.push(piece);
                    end
                }
                Step::Text { end } => {
                    self.text(part(written, 0, end));
                    end
                }
                Step::Unclosed { end, missing } => {
                    let raw = part(written, 0, end);
                    let element = call.element().to_owned();
                    self.text(raw);
                    let reason = ParseError::Unclosed { element, missing };
                    self.pieces.push(Piece::refused(reason, raw));
                    end
                }
            };
            self.open = None;
            self.prose.pass(source, at, at + end);
            at += end;
        }
    }

    fn text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if let Some(Piece::Text(before)) = self.pieces.last_mut() {
            before.push_str(text);
        } else {
            self.pieces.push(Piece::Text(text.to_owned()));
        }
    }
}

#[cfg(test)]
#[path = "parser_tests.rs"]
mod tests;
