//! Text that waits for the end of a span, in order, and the openings that it waits for.

use std::collections::VecDeque;

use super::inline::MAX_SPAN_CHARS;
use super::style::{Paint, TextStyle};
use super::wrap::SpanSink;

/// How many openings may wait at once; then the oldest is plain text.
const MAX_OPENINGS: usize = 16;

/// A piece of a block.
#[derive(Debug)]
pub(super) enum SpanToken {
    Text(String),
    Space,
    Break,
    Code(String),
    /// Marks that are text, then looks that begin.
    Open {
        literal: String,
        looks: Vec<TextStyle>,
    },
    Close(TextStyle),
    /// The end of a link to this address.
    LinkEnd(String),
}

impl SpanToken {
    /// How many characters it holds back.
    fn weight(&self) -> usize {
        match self {
            Self::Text(text) | Self::Code(text) | Self::LinkEnd(text) => text.chars().count(),
            Self::Space | Self::Break | Self::Open { .. } | Self::Close(_) => 1,
        }
    }
}

/// An opening that waits for its end.
#[derive(Debug)]
struct SpanOpening {
    mark: char,
    count: usize,
    /// Where it stands, counted from the beginning of the block.
    place: usize,
}

/// What waits.
#[derive(Debug, Default)]
pub(super) struct SpanQueue {
    tokens: VecDeque<SpanToken>,
    /// How many tokens have left.
    gone: usize,
    openings: Vec<SpanOpening>,
    held: usize,
    base: TextStyle,
    looks: Vec<TextStyle>,
    /// The text of the link that is being written.
    link: Option<String>,
}

impl SpanQueue {
    pub(super) fn begin(&mut self, base: TextStyle) {
        self.base = base;
    }

    /// Takes a character of a word.
    pub(super) fn character(&mut self, c: char, sink: &mut impl SpanSink) {
        if self.openings.is_empty() && self.tokens.is_empty() {
            self.write_character(c, sink);
            return;
        }
        self.held += 1;
        if let Some(SpanToken::Text(text)) = self.tokens.back_mut() {
            text.push(c);
        } else {
            self.tokens.push_back(SpanToken::Text(c.to_string()));
        }
        self.release(sink);
    }

    pub(super) fn push(&mut self, token: SpanToken, sink: &mut impl SpanSink) {
        self.held += token.weight();
        self.tokens.push_back(token);
        self.release(sink);
    }

    /// Takes a run of marks that stands between two characters.
    pub(super) fn run(
        &mut self,
        mark: char,
        count: usize,
        before: char,
        after: char,
        sink: &mut impl SpanSink,
    ) {
        let is_markup = if mark == '~' { count == 2 } else { count <= 3 };
        // An underscore within a word belongs to it.
        let in_word = |c: char| mark == '_' && c.is_alphanumeric();
        let closes = is_markup && !before.is_whitespace() && !in_word(after);
        let lone = after.is_ascii_punctuation() && before.is_alphanumeric();
        let opens = is_markup && !after.is_whitespace() && !in_word(before) && !lone;
        let mut left = count;
        while closes && left > 0 {
            let Some(used) = self.close(mark, left) else { break };
            left -= used;
            self.push(SpanToken::Close(mark_style(mark, used)), sink);
        }
        if left == 0 {
            return;
        }
        let literal: String = std::iter::repeat_n(mark, left).collect();
        if opens {
            self.open(mark, left, literal, sink);
        } else {
            self.push(SpanToken::Text(literal), sink);
        }
    }

    pub(super) fn open_bracket(&mut self, literal: &str, sink: &mut impl SpanSink) {
        self.open('[', 1, literal.to_owned(), sink);
    }

    pub(super) fn has_bracket(&self) -> bool {
        self.openings.iter().any(|opening| opening.mark == '[')
    }

    /// The innermost bracket is plain text.
    pub(super) fn forget_bracket(&mut self) {
        if let Some(at) = self.openings.iter().rposition(|opening| opening.mark == '[') {
            self.openings.remove(at);
        }
    }

    /// The text from the innermost bracket on leads to this address.
    pub(super) fn close_link(&mut self, address: String, sink: &mut impl SpanSink) {
        if let Some(at) = self.openings.iter().rposition(|opening| opening.mark == '[') {
            self.begin_style(at, 1, TextStyle::LINK);
        }
        self.push(SpanToken::LinkEnd(address), sink);
    }

    /// An address that is its own text.
    pub(super) fn link(&mut self, address: String, sink: &mut impl SpanSink) {
        let looks = vec![TextStyle::LINK];
        self.push(SpanToken::Open { literal: String::new(), looks }, sink);
        self.push(SpanToken::Text(address.clone()), sink);
        self.push(SpanToken::LinkEnd(address), sink);
    }

    /// Writes all that waits.
    pub(super) fn finish(&mut self, sink: &mut impl SpanSink) {
        self.openings.clear();
        self.release(sink);
        self.looks.clear();
        self.link = None;
    }

    fn open(&mut self, mark: char, count: usize, literal: String, sink: &mut impl SpanSink) {
        if self.openings.len() == MAX_OPENINGS {
            self.openings.remove(0);
        }
        self.openings.push(SpanOpening { mark, count, place: self.gone + self.tokens.len() });
        self.push(SpanToken::Open { literal, looks: Vec::new() }, sink);
    }

    /// Finds the opening that so many marks close, and says how many of them it takes.
    fn close(&mut self, mark: char, count: usize) -> Option<usize> {
        let same = |opening: &SpanOpening| opening.mark == mark;
        let exact = |opening: &SpanOpening| same(opening) && opening.count == count;
        // Three marks are two spans in one; one mark and two are not the same span.
        let partly = |opening: &SpanOpening| same(opening) && (opening.count == 3 || count == 3);
        let at = self.openings.iter().rposition(exact);
        let at = at.or_else(|| self.openings.iter().rposition(partly))?;
        let used = self.openings.get(at)?.count.min(count).min(2);
        self.begin_style(at, used, mark_style(mark, used));
        Some(used)
    }

    /// An opening has found its end; those inside it that did not are text.
    fn begin_style(&mut self, at: usize, used: usize, style: TextStyle) {
        self.openings.truncate(at + 1);
        let Some(opening) = self.openings.last_mut() else { return };
        opening.count -= used;
        let place = opening.place - self.gone;
        if opening.count == 0 {
            self.openings.pop();
        }
        if let Some(SpanToken::Open { literal, looks }) = self.tokens.get_mut(place) {
            let left = literal.chars().count().saturating_sub(used);
            *literal = if style == TextStyle::LINK {
                String::new()
            } else {
                literal.chars().take(left).collect()
            };
            looks.insert(0, style);
        }
    }

    /// Writes what waits for nothing.
    fn release(&mut self, sink: &mut impl SpanSink) {
        loop {
            let end = self.openings.first().map(|opening| opening.place - self.gone);
            for _ in 0..end.unwrap_or(self.tokens.len()) {
                let Some(token) = self.tokens.pop_front() else { break };
                self.gone += 1;
                self.held -= token.weight();
                self.write(token, sink);
            }
            if self.held <= MAX_SPAN_CHARS || self.openings.is_empty() {
                return;
            }
            self.openings.remove(0);
        }
    }

    fn write(&mut self, token: SpanToken, sink: &mut impl SpanSink) {
        match token {
            SpanToken::Text(text) => self.write_text(&text, sink),
            SpanToken::Space => {
                self.remember(' ');
                sink.space();
            }
            SpanToken::Break => sink.line_break(),
            SpanToken::Code(text) => {
                self.looks.push(TextStyle::CODE);
                self.write_code(&text, sink);
                self.looks.pop();
            }
            SpanToken::Open { literal, looks } => {
                self.write_text(&literal, sink);
                if looks.contains(&TextStyle::LINK) {
                    self.link = Some(String::new());
                }
                self.looks.extend(looks);
            }
            SpanToken::Close(style) => self.end_style(style),
            SpanToken::LinkEnd(address) => {
                self.end_style(TextStyle::LINK);
                let text = self.link.take().unwrap_or_default();
                let plain = address.strip_prefix("mailto:").unwrap_or(&address);
                if !address.is_empty() && text != address && text != plain {
                    sink.space();
                    let style = self.style().and(TextStyle::DIM);
                    let shown = format!("({address})");
                    shown.chars().for_each(|c| write_spaced(c, style, sink));
                }
            }
        }
    }

    fn write_text(&mut self, text: &str, sink: &mut impl SpanSink) {
        for c in text.chars() {
            self.write_character(c, sink);
        }
    }

    fn write_character(&mut self, c: char, sink: &mut impl SpanSink) {
        self.remember(c);
        write_spaced(c, self.style(), sink);
    }

    /// Code breaks at its spaces too, but keeps all of them.
    fn write_code(&mut self, text: &str, sink: &mut impl SpanSink) {
        let style = self.style();
        let mark = |sink: &mut dyn SpanSink| {
            if sink.paint() == Paint::Plain {
                sink.character('`', style);
            }
        };
        let mut before = ' ';
        mark(sink);
        for c in text.chars() {
            self.remember(c);
            if c == ' ' && before != ' ' {
                sink.space();
            } else {
                sink.character(c, style);
            }
            before = c;
        }
        mark(sink);
    }

    fn remember(&mut self, c: char) {
        if let Some(link) = &mut self.link {
            link.push(c);
        }
    }

    fn end_style(&mut self, style: TextStyle) {
        if let Some(at) = self.looks.iter().rposition(|look| *look == style) {
            self.looks.remove(at);
        }
    }

    fn style(&self) -> TextStyle {
        self.looks.iter().fold(self.base, |all, look| all.and(*look))
    }
}

const fn mark_style(mark: char, count: usize) -> TextStyle {
    match (mark, count) {
        ('~', _) => TextStyle::STRUCK,
        (_, 1) => TextStyle::ITALIC,
        _ => TextStyle::BOLD,
    }
}

fn write_spaced(c: char, style: TextStyle, sink: &mut impl SpanSink) {
    if matches!(c, ' ' | '\t') { sink.space() } else { sink.character(c, style) }
}
