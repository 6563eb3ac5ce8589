//! Words to lines: a word is written when it is complete, on the line on which it fits.

use console::measure_text_width;
use switchboard_text::escape_prose_line;

use super::style::{Paint, TextStyle};

/// However deep something is nested, this much is left for text.
const MIN_ROOM: usize = 8;

/// Takes spans apart into characters, spaces and line breaks.
pub(super) trait SpanSink {
    /// Takes a character of a word.
    fn character(&mut self, c: char, style: TextStyle);
    /// Takes the space between two words.
    fn space(&mut self);
    /// Takes the end of a line that the author wanted.
    fn line_break(&mut self);
    /// How what it takes will be painted.
    fn paint(&self) -> Paint;
}

/// What stands before the text of a line.
#[derive(Debug, Default)]
pub(super) struct Prefix {
    /// As it is written.
    pub(super) text: String,
    /// How many columns it takes.
    pub(super) width: usize,
}

/// What is waiting between the last word and the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Between {
    Nothing,
    Space,
    Break,
}

/// The lines so far.
#[derive(Debug)]
pub(super) struct Wrap {
    width: usize,
    paint: Paint,
    out: String,
    /// What stands before the lines that follow in this block.
    rest: Prefix,
    column: usize,
    /// Nothing but the prefix is on the line.
    fresh: bool,
    /// There is a line that has not ended.
    open: bool,
    word: Vec<(TextStyle, String)>,
    /// The word is one of a script that is written without spaces.
    dense: bool,
    between: Between,
}

impl Wrap {
    pub(super) fn new(width: usize, paint: Paint) -> Self {
        Self {
            width,
            paint,
            out: String::new(),
            rest: Prefix::default(),
            column: 0,
            fresh: true,
            open: false,
            word: Vec::new(),
            dense: false,
            between: Between::Nothing,
        }
    }

    /// Takes what can be printed.
    pub(super) fn take(&mut self) -> String {
        std::mem::take(&mut self.out)
    }

    /// Whether anything was written.
    pub(super) const fn is_open(&self) -> bool {
        self.open
    }

    /// How many columns are left beside a prefix.
    pub(super) fn room(&self, prefix: usize) -> usize {
        self.width.saturating_sub(prefix).max(MIN_ROOM)
    }

    /// Starts a line; those that follow from it start with `rest`.
    pub(super) fn start_line(&mut self, first: &Prefix, rest: Prefix) {
        self.end();
        self.new_line(first);
        self.rest = rest;
    }

    /// Writes a line with nothing but this.
    pub(super) fn start_blank(&mut self, text: String) {
        self.start_line(&Prefix { text, width: 0 }, Prefix::default());
    }

    /// Appends text that is never wrapped.
    pub(super) fn verbatim(&mut self, text: &str) {
        self.out.push_str(text);
        self.fresh = false;
    }

    /// Writes the last word of a block.
    pub(super) fn end(&mut self) {
        self.write_word();
        self.between = Between::Nothing;
    }

    /// Ends the last line.
    pub(super) fn finish(&mut self) {
        self.end();
        if self.open {
            self.out.push('\n');
        }
        self.open = false;
    }

    fn new_line(&mut self, prefix: &Prefix) {
        if self.open {
            self.out.push('\n');
        }
        self.out.push_str(&prefix.text);
        self.column = prefix.width;
        self.fresh = true;
        self.open = true;
    }

    fn write_word(&mut self) {
        if self.word.is_empty() {
            return;
        }
        let mut word = std::mem::take(&mut self.word);
        for (_, text) in &mut word {
            if let std::borrow::Cow::Owned(safe) = escape_prose_line(text) {
                *text = safe;
            }
        }
        let width: usize = word.iter().map(|(_, text)| measure_text_width(text)).sum();
        let space = usize::from(self.between == Between::Space && !self.fresh);
        let limit = self.rest.width + self.room(self.rest.width);
        let is_full = !self.fresh && self.column + space + width > limit;
        if self.between == Between::Break || is_full {
            let rest = std::mem::take(&mut self.rest);
            self.new_line(&rest);
            self.rest = rest;
        } else if space == 1 {
            self.out.push(' ');
            self.column += 1;
        }
        for (style, text) in &word {
            self.paint.write(&mut self.out, *style, text);
        }
        self.column += width;
        self.fresh = false;
        self.between = Between::Nothing;
    }
}

impl SpanSink for Wrap {
    fn character(&mut self, c: char, style: TextStyle) {
        // Scripts without spaces break between any two characters, but not before a full stop.
        let dense = is_wide(c);
        if !c.is_ascii() && (joins(c) || (dense && closes(c))) {
            // Stays with what is before it.
        } else if dense || self.dense {
            self.write_word();
        }
        if c.is_ascii() || !joins(c) {
            self.dense = dense;
        }
        match self.word.last_mut() {
            Some((last, text)) if *last == style => text.push(c),
            _ => self.word.push((style, c.to_string())),
        }
    }

    fn space(&mut self) {
        self.write_word();
        self.dense = false;
        if self.between == Between::Nothing {
            self.between = Between::Space;
        }
    }

    fn line_break(&mut self) {
        self.write_word();
        self.dense = false;
        self.between = Between::Break;
    }

    fn paint(&self) -> Paint {
        self.paint
    }
}

fn is_wide(c: char) -> bool {
    !c.is_ascii() && measure_text_width(c.encode_utf8(&mut [0; 4])) == 2
}

/// Whether a character only changes the one before it.
fn joins(c: char) -> bool {
    let is_skin_tone = ('\u{1f3fb}'..='\u{1f3ff}').contains(&c);
    is_skin_tone || measure_text_width(c.encode_utf8(&mut [0; 4])) == 0
}

const fn closes(c: char) -> bool {
    matches!(
        c,
        '、' | '。'
            | '，'
            | '．'
            | '！'
            | '？'
            | '：'
            | '；'
            | '）'
            | '」'
            | '』'
            | '】'
            | '》'
            | '〉'
            | '］'
    )
}
