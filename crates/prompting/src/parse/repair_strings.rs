//! Repair of strings in malformed JSON.

use crate::parse::errors::JsonProblem;
use crate::parse::repair::JsonRepairer;
use crate::parse::strings::{self, part, rest, skip_space};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum StringRole {
    Key,
    Value,
}

impl JsonRepairer<'_> {
    pub(super) fn string(&mut self, quote: u8, role: StringRole) -> Result<(), JsonProblem> {
        let begin = self.at;
        if quote == b'\'' {
            self.note("single quotes");
        }
        self.out.push('"');
        self.at += 1;
        loop {
            let ahead = rest(self.text, self.at);
            let special = |byte: &u8| matches!(byte, b'"' | b'\'' | b'\\' | 0..=0x1f);
            let Some(plain) = ahead.as_bytes().iter().position(special) else {
                self.at = begin;
                return Err(self.problem("a string is not closed"));
            };
            self.out.push_str(part(ahead, 0, plain));
            self.at += plain;
            let Some(byte) = self.peek() else { continue };
            match byte {
                b'\\' => self.escape(),
                _ if byte == quote
                    && (role == StringRole::Key || ends_string(self.text, self.at + 1)) =>
                {
                    self.at += 1;
                    self.out.push('"');
                    return Ok(());
                }
                _ if byte == quote && !(byte == b'\'' && self.is_apostrophe()) => {
                    return Err(self.problem(
                        "a quote inside of a string has no backslash, or a comma is missing",
                    ));
                }
                b'"' => {
                    self.out.push_str("\\\"");
                    self.at += 1;
                }
                b'\'' => {
                    self.out.push('\'');
                    self.at += 1;
                }
                control => {
                    self.note("line breaks inside of a string");
                    write_control(&mut self.out, control);
                    self.at += 1;
                }
            }
        }
    }

    fn is_apostrophe(&self) -> bool {
        let before = part(self.text, 0, self.at).chars().next_back();
        let after = rest(self.text, self.at + 1).chars().next();
        [before, after].into_iter().all(|side| side.is_some_and(char::is_alphabetic))
    }

    fn escape(&mut self) {
        let ahead = rest(self.text, self.at + 1);
        let hex = ahead.as_bytes().get(1..5);
        let length = match ahead.as_bytes().first() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 1,
            Some(b'u') if hex.is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit)) => 5,
            Some(b'\'') => {
                self.note("escaped single quotes");
                self.at += 1;
                return;
            }
            _ => {
                // There is no such escape, so the backslash is literal.
                self.note("backslashes that escape nothing");
                self.out.push_str("\\\\");
                self.at += 1;
                return;
            }
        };
        self.out.push('\\');
        self.out.push_str(part(ahead, 0, length));
        self.at += 1 + length;
    }
}

/// Writes the escaped content of a string.
pub(super) fn write_string(out: &mut String, text: &str) {
    let mut rest = text;
    let special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..=0x1f);
    while let Some(plain) = rest.as_bytes().iter().position(special) {
        out.push_str(part(rest, 0, plain));
        match rest.as_bytes().get(plain) {
            Some(b'"') => out.push_str("\\\""),
            Some(b'\\') => out.push_str("\\\\"),
            Some(control) => write_control(out, *control),
            None => {}
        }
        rest = strings::rest(rest, plain + 1);
    }
    out.push_str(rest);
}

fn write_control(out: &mut String, byte: u8) {
    match byte {
        b'\n' => out.push_str("\\n"),
        b'\r' => out.push_str("\\r"),
        b'\t' => out.push_str("\\t"),
        other => {
            let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or('0');
            out.push_str("\\u00");
            out.push(digit(other >> 4));
            out.push(digit(other & 0xf));
        }
    }
}

/// Returns whether the text after a quote can follow a string.
fn ends_string(text: &str, after: usize) -> bool {
    // Any other text means an unescaped quote or a missing comma. A guess could call the tool
    // with arguments that the model did not mean, so the caller reports an error.
    let ahead = rest(text, skip_space(text, after));
    ahead.is_empty()
        || ahead.starts_with([',', ':', '}', ']'])
        || ahead.starts_with("//")
        || ahead.starts_with("/*")
}
