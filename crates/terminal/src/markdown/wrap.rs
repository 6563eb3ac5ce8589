//! Wraps words to lines: a word is written when it is complete, on the line on which it fits.

use std::fmt::Write as _;

use console::{Style, measure_text_width};
use switchboard_text::escape_prose_line;

/// Minimum number of columns for text, at any nesting depth.
const MIN_ROOM: usize = 8;

#[derive(Debug, Default)]
pub(super) struct StyledText(Vec<(Style, String)>);

impl StyledText {
    pub(super) fn push(&mut self, c: char, style: &Style) {
        match self.0.last_mut() {
            Some((last, text)) if last == style => text.push(c),
            _ => self.0.push((style.clone(), c.to_string())),
        }
    }

    /// Returns the text, escaped and with the terminal codes of its styles.
    pub(super) fn render(&self) -> String {
        let mut out = String::new();
        for (style, text) in &self.0 {
            // Writing to a string cannot fail.
            _ = write!(out, "{}", style.apply_to(escape_prose_line(text)));
        }
        out
    }
}

#[derive(Debug, Default)]
pub(super) struct Wrap {
    width: usize,
    out: String,
    prefix: String,
    indent: usize,
    column: usize,
    open: bool,
    word: StyledText,
    /// Whether the word belongs to a script that is written without spaces.
    dense: bool,
    /// A space or line feed that is due before the next word.
    between: Option<char>,
}

impl Wrap {
    /// Creates a wrapper for this width; `open` tells that the line before has not ended.
    pub(super) fn new(width: usize, open: bool) -> Self {
        Self { width, open, ..Self::default() }
    }

    /// Returns the lines so far, without an incomplete word.
    pub(super) fn text(&self) -> &str {
        &self.out
    }

    pub(super) const fn is_open(&self) -> bool {
        self.open
    }

    /// Returns the number of columns left next to a prefix.
    pub(super) fn room(&self, indent: usize) -> usize {
        self.width.saturating_sub(indent).max(MIN_ROOM)
    }

    /// Returns the number of columns that the text of the last line occupies.
    pub(super) const fn text_columns(&self) -> usize {
        self.column.saturating_sub(self.indent)
    }

    /// Starts a line with `first`; its continuation lines start with `rest`, of the same width.
    pub(super) fn start_line(&mut self, first: &str, rest: &str, indent: usize) {
        self.end_block();
        self.prefix = rest.to_owned();
        self.indent = indent;
        self.new_line(first);
    }

    pub(super) fn verbatim(&mut self, text: &str) {
        self.out.push_str(text);
    }

    pub(super) fn end_block(&mut self) {
        self.end_word();
        self.between = None;
    }

    pub(super) fn character(&mut self, c: char, style: &Style) {
        // Scripts without spaces break between any two characters, but not before closing
        // punctuation.
        let is_dense = !c.is_ascii() && char_width(c) == 2;
        let is_joined = !c.is_ascii() && joins(c);
        let stays = is_joined || (is_dense && closes(c));
        if !stays && (is_dense || self.dense) {
            self.end_word();
        }
        if !is_joined {
            self.dense = is_dense;
        }
        self.word.push(c, style);
    }

    pub(super) fn space(&mut self) {
        self.end_word();
        self.between = self.between.or(Some(' '));
    }

    pub(super) fn line_break(&mut self) {
        self.end_word();
        self.between = Some('\n');
    }

    pub(super) fn end_word(&mut self) {
        self.dense = false;
        let word = std::mem::take(&mut self.word).render();
        if word.is_empty() {
            return;
        }
        let width = measure_text_width(&word);
        let is_fresh = self.column == self.indent;
        let space = usize::from(self.between == Some(' ') && !is_fresh);
        let limit = self.indent + self.room(self.indent);
        let is_full = !is_fresh && self.column + space + width > limit;
        if self.between == Some('\n') || is_full {
            let prefix = std::mem::take(&mut self.prefix);
            self.new_line(&prefix);
            self.prefix = prefix;
        } else if space == 1 {
            self.out.push(' ');
            self.column += 1;
        }
        self.out.push_str(&word);
        self.column += width;
        self.between = None;
    }

    fn new_line(&mut self, prefix: &str) {
        if std::mem::replace(&mut self.open, true) {
            self.out.push('\n');
        }
        self.out.push_str(prefix);
        self.column = self.indent;
    }
}

fn char_width(c: char) -> usize {
    measure_text_width(c.encode_utf8(&mut [0; 4]))
}

/// Returns whether a character only modifies the one before it.
fn joins(c: char) -> bool {
    let is_skin_tone = ('\u{1f3fb}'..='\u{1f3ff}').contains(&c);
    is_skin_tone || char_width(c) == 0
}

/// Returns whether a line must not start with this character.
fn closes(c: char) -> bool {
    "、。，．！？：；）」』】》〉］".contains(c)
}
