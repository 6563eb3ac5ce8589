//! Fenced code: kept as it is, line by line.

use switchboard_text::{escape, escape_line};

use super::style::{Paint, TextStyle};

/// How much of a language's name is shown.
const MAX_LANGUAGE_CHARS: usize = 40;

/// Code that has not ended.
#[derive(Debug)]
pub(super) struct CodeFence {
    mark: char,
    count: usize,
    /// How far the fence was indented; its lines are too.
    indent: usize,
    /// How many quote marks stand before each line.
    quotes: usize,
    /// The line that is being read.
    pub(super) line: String,
}

/// What a line of code is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum CodeLine {
    /// Code to show.
    Code(String),
    /// The end of the code.
    End,
    /// The quote that the code was in has ended, and the code with it.
    Outside,
}

impl CodeFence {
    pub(super) const fn new(mark: char, count: usize, indent: usize, quotes: usize) -> Self {
        Self { mark, count, indent, quotes, line: String::new() }
    }

    /// Looks at the line that was read.
    pub(super) fn read(&mut self) -> CodeLine {
        let mut rest = self.line.as_str();
        for _ in 0..self.quotes {
            let Some(inner) = rest.trim_start().strip_prefix('>') else {
                return CodeLine::Outside;
            };
            rest = inner.strip_prefix(' ').unwrap_or(inner);
        }
        let trimmed = rest.trim();
        let is_end = trimmed.len() >= self.count && trimmed.chars().all(|c| c == self.mark);
        let code = if is_end {
            CodeLine::End
        } else {
            for _ in 0..self.indent {
                rest = rest.strip_prefix(' ').unwrap_or(rest);
            }
            CodeLine::Code(escape(rest).into_owned())
        };
        self.line.clear();
        code
    }
}

/// The line above code.
pub(super) fn line_above(paint: Paint, language: &str) -> String {
    let word = language.split_whitespace().next().unwrap_or_default();
    let word: String = escape_line(word).chars().take(MAX_LANGUAGE_CHARS).collect();
    paint.paint(TextStyle::DIM, format!("  ┌─ {word}").trim_end())
}

/// A line of code.
pub(super) fn code_line(paint: Paint, code: &str) -> String {
    format!("{} {code}", paint.paint(TextStyle::DIM, "  │")).trim_end().to_owned()
}

/// The line below code.
pub(super) fn line_below(paint: Paint) -> String {
    paint.paint(TextStyle::DIM, "  └─")
}
