//! Fallback for systems on which a pipe cannot be peeked into: a call is read and held back.

use std::io::{self, BufRead};

pub(crate) enum PeekedLine {
    Line(Vec<u8>),
    /// A `tools/call` is next.
    Call,
    End,
}

pub(crate) struct Peek {
    held: Option<Vec<u8>>,
}

impl Peek {
    pub(crate) fn new() -> Self {
        Self { held: None }
    }

    /// Waits for the next line; with `look`, a call is announced instead of returned.
    pub(crate) fn next(&mut self, look: bool) -> PeekedLine {
        if let Some(line) = self.held.take() {
            return PeekedLine::Line(line);
        }
        let mut line = Vec::new();
        match io::stdin().lock().read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => PeekedLine::End,
            Ok(_) if look && String::from_utf8_lossy(&line).contains("\"tools/call\"") => {
                self.held = Some(line);
                PeekedLine::Call
            }
            Ok(_) => PeekedLine::Line(line),
        }
    }
}
