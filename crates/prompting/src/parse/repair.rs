//! Repair of malformed JSON, with a note about each repair.

use serde_json::Number;

use crate::parse::errors::JsonProblem;
use crate::parse::repair_strings::StringRole;
use crate::parse::strings::{find, part, rest, skip_space};

// Slightly below the 128 levels of `serde_json`, which parses the repaired text afterwards.
const MAX_DEPTH: usize = 120;

/// Repaired JSON, with notes about the repairs.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RepairedJson {
    pub(super) text: String,
    pub(super) notes: Vec<&'static str>,
}

/// Repairs a text and returns it as compact JSON.
pub(super) fn repair(text: &str) -> Result<RepairedJson, JsonProblem> {
    let mut reader = JsonRepairer { text, at: 0, depth: 0, out: String::new(), notes: Vec::new() };
    reader.value()?;
    reader.skip_trivia()?;
    if reader.at < text.len() {
        return Err(reader.problem("something follows after the end of the value"));
    }
    Ok(RepairedJson { text: reader.out, notes: reader.notes })
}

/// Reads `text` from `at` and writes valid JSON to `out`.
pub(super) struct JsonRepairer<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    depth: usize,
    pub(super) out: String,
    notes: Vec<&'static str>,
}

impl<'a> JsonRepairer<'a> {
    pub(super) fn problem(&self, what: &str) -> JsonProblem {
        JsonProblem::at(what, self.text, self.at)
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(super) fn note(&mut self, note: &'static str) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    fn skip_trivia(&mut self) -> Result<(), JsonProblem> {
        loop {
            self.at = skip_space(self.text, self.at);
            let ahead = rest(self.text, self.at);
            let end = if ahead.starts_with("//") {
                find(self.text, self.at, "\n").unwrap_or(self.text.len())
            } else if ahead.starts_with("/*") {
                let close = find(self.text, self.at + 2, "*/");
                close.ok_or_else(|| self.problem("a comment is not closed"))? + 2
            } else {
                return Ok(());
            };
            self.note("comments");
            self.at = end;
        }
    }

    fn value(&mut self) -> Result<(), JsonProblem> {
        self.skip_trivia()?;
        match self.peek() {
            Some(b'{') => self.container(b'}'),
            Some(b'[') => self.container(b']'),
            Some(quote @ (b'"' | b'\'')) => self.string(quote, StringRole::Value),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(_) => self.word(),
            None => Err(self.problem("a value is missing")),
        }
    }

    fn container(&mut self, close: u8) -> Result<(), JsonProblem> {
        if self.depth == MAX_DEPTH {
            return Err(self.problem("the value is nested too deeply"));
        }
        self.depth += 1;
        self.out.push(if close == b'}' { '{' } else { '[' });
        self.at += 1;
        let mut first = true;
        let mut comma = true;
        loop {
            self.skip_trivia()?;
            match self.peek() {
                Some(byte) if byte == close => {
                    self.at += 1;
                    if comma && !first {
                        self.note("a trailing comma");
                    }
                    break;
                }
                // Not after a comma: a value was about to follow, so the text is cut off.
                None if first || !comma => {
                    self.note("a missing closing brace");
                    break;
                }
                _ if !comma => {
                    let what = if close == b'}' {
                        "a comma or a closing brace is missing"
                    } else {
                        "a comma or a closing bracket is missing"
                    };
                    return Err(self.problem(what));
                }
                _ => {}
            }
            if !first {
                self.out.push(',');
            }
            first = false;
            if close == b'}' {
                self.key()?;
            }
            self.value()?;
            self.skip_trivia()?;
            comma = self.peek() == Some(b',');
            self.at += usize::from(comma);
        }
        self.out.push(char::from(close));
        self.depth -= 1;
        Ok(())
    }

    fn key(&mut self) -> Result<(), JsonProblem> {
        match self.peek() {
            Some(quote @ (b'"' | b'\'')) => self.string(quote, StringRole::Key)?,
            Some(byte) if byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$') => {
                let word = self.take_word();
                self.out.push('"');
                self.out.push_str(word);
                self.out.push('"');
                self.note("unquoted keys");
            }
            _ => return Err(self.problem("a key is missing")),
        }
        self.skip_trivia()?;
        if self.peek() != Some(b':') {
            return Err(self.problem("a colon is missing"));
        }
        self.at += 1;
        self.out.push(':');
        Ok(())
    }

    fn number(&mut self) -> Result<(), JsonProblem> {
        let ahead = rest(self.text, self.at).as_bytes();
        let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+-._".contains(byte);
        let end = self.at + ahead.iter().take_while(is_part).count();
        let text = part(self.text, self.at, end);
        // Numbers out of range pass here and are reported by the strict parser.
        if text.parse::<Number>().is_err() && text.parse::<f64>().is_err() {
            return Err(self.problem("a number cannot be read"));
        }
        self.out.push_str(text);
        self.at = end;
        Ok(())
    }

    fn word(&mut self) -> Result<(), JsonProblem> {
        let begin = self.at;
        let json = match self.take_word() {
            word @ ("true" | "false" | "null") => word,
            word @ ("True" | "False" | "None") => {
                self.note("Python's words for values");
                match word {
                    "True" => "true",
                    "False" => "false",
                    _ => "null",
                }
            }
            _ => {
                self.at = begin;
                return Err(self.problem("a value is missing or has no quotes"));
            }
        };
        self.out.push_str(json);
        Ok(())
    }

    fn take_word(&mut self) -> &'a str {
        let text = self.text;
        let ahead = rest(text, self.at).as_bytes();
        let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_$-".contains(byte);
        let begin = self.at;
        self.at += ahead.iter().take_while(is_part).count();
        part(text, begin, self.at)
    }
}

#[cfg(test)]
#[path = "repair_tests.rs"]
mod tests;
