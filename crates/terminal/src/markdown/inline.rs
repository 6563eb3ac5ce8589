//! Spans within a block: a character is held only while it may be markup.

use super::spans::{SpanQueue, SpanToken};
use super::style::TextStyle;
use super::wrap::SpanSink;

/// How many characters may wait for the end of a span; after that its start is plain text.
pub(super) const MAX_SPAN_CHARS: usize = 500;

/// How deep parentheses may go in the address of a link.
const MAX_PARENTHESES: usize = 3;

/// What the characters just read may become.
#[derive(Debug, Default)]
enum PendingMark {
    #[default]
    Nothing,
    /// A run of `*`, `_` or `~`, and what stood before it.
    Run {
        mark: char,
        count: usize,
        before: char,
    },
    /// A run of backticks that opens.
    Ticks(usize),
    Code(CodeSpan),
    Backslash,
    /// `!`, which may open a picture.
    Bang,
    /// `]` of a link's text.
    Bracket,
    /// What is between `(` and `)` of a link.
    Address {
        text: String,
        depth: usize,
    },
    /// What follows `<`.
    Angle(String),
}

/// Code that has not ended.
#[derive(Debug)]
struct CodeSpan {
    /// How many backticks opened it.
    ticks: usize,
    body: String,
    /// How many backticks have just been read.
    run: usize,
}

/// The spans of one block.
#[derive(Debug, Default)]
pub(super) struct Inline {
    queue: SpanQueue,
    pending: PendingMark,
    before: Option<char>,
}

impl Inline {
    /// Begins a block in which all text looks like `base`.
    pub(super) fn begin(&mut self, base: TextStyle) {
        self.queue.begin(base);
        self.before = None;
    }

    /// Takes the next character.
    pub(super) fn push(&mut self, c: char, sink: &mut impl SpanSink) {
        match std::mem::take(&mut self.pending) {
            PendingMark::Nothing => self.character(c, sink),
            PendingMark::Run { mark, count, before } if c == mark => {
                self.pending = PendingMark::Run { mark, count: count + 1, before };
            }
            PendingMark::Run { mark, count, before } => {
                self.queue.run(mark, count, before, c, sink);
                self.character(c, sink);
            }
            PendingMark::Ticks(count) if c == '`' => self.pending = PendingMark::Ticks(count + 1),
            PendingMark::Ticks(ticks) => {
                self.code(CodeSpan { ticks, body: String::new(), run: 0 }, c, sink);
            }
            PendingMark::Code(code) => self.code(code, c, sink),
            PendingMark::Backslash => self.after_backslash(c, sink),
            PendingMark::Bang if c == '[' => {
                self.queue.open_bracket("![", sink);
                self.before = Some('[');
            }
            PendingMark::Bang => {
                self.text('!', sink);
                self.character(c, sink);
            }
            PendingMark::Bracket if c == '(' => {
                self.pending = PendingMark::Address { text: String::new(), depth: 0 };
            }
            PendingMark::Bracket => {
                self.queue.forget_bracket();
                self.text(']', sink);
                self.character(c, sink);
            }
            PendingMark::Address { text, depth } => self.address(text, depth, c, sink),
            PendingMark::Angle(text) => self.angle(text, c, sink),
        }
    }

    /// Ends the block: what was not closed is plain text.
    pub(super) fn finish(&mut self, sink: &mut impl SpanSink) {
        // Each round gives up one opening, so this ends.
        loop {
            match std::mem::take(&mut self.pending) {
                PendingMark::Nothing => break,
                PendingMark::Run { mark, count, before } => {
                    self.queue.run(mark, count, before, ' ', sink);
                }
                PendingMark::Ticks(count) => self.reread('`', count, "", sink),
                PendingMark::Code(code) if code.run == code.ticks => {
                    self.queue.push(SpanToken::Code(trim_code(&code.body)), sink);
                }
                PendingMark::Code(mut code) => {
                    code.body.extend(std::iter::repeat_n('`', code.run));
                    self.reread('`', code.ticks, &code.body, sink);
                }
                PendingMark::Backslash => self.text('\\', sink),
                PendingMark::Bang => self.text('!', sink),
                PendingMark::Bracket => {
                    self.queue.forget_bracket();
                    self.text(']', sink);
                }
                PendingMark::Address { text, .. } => self.no_address(&text, sink),
                PendingMark::Angle(text) => self.reread('<', 1, &text, sink),
            }
        }
        self.queue.finish(sink);
        self.before = None;
    }

    /// Takes a character that ends nothing.
    fn character(&mut self, c: char, sink: &mut impl SpanSink) {
        match c {
            '\n' => self.queue.push(SpanToken::Break, sink),
            ' ' | '\t' => self.queue.push(SpanToken::Space, sink),
            '*' | '_' | '~' => {
                let before = self.before.unwrap_or(' ');
                self.pending = PendingMark::Run { mark: c, count: 1, before };
            }
            '`' => self.pending = PendingMark::Ticks(1),
            '\\' => self.pending = PendingMark::Backslash,
            '!' => self.pending = PendingMark::Bang,
            '[' => self.queue.open_bracket("[", sink),
            ']' if self.queue.has_bracket() => self.pending = PendingMark::Bracket,
            '<' => self.pending = PendingMark::Angle(String::new()),
            _ => self.queue.character(c, sink),
        }
        self.before = Some(c);
    }

    fn text(&mut self, c: char, sink: &mut impl SpanSink) {
        self.queue.character(c, sink);
        self.before = Some(c);
    }

    /// Gives up an opening: it is text, and what was held behind it is read anew.
    fn reread(&mut self, mark: char, count: usize, held: &str, sink: &mut impl SpanSink) {
        for _ in 0..count {
            self.text(mark, sink);
        }
        for c in held.chars() {
            self.push(c, sink);
        }
    }

    fn code(&mut self, mut code: CodeSpan, c: char, sink: &mut impl SpanSink) {
        if c == '`' {
            code.run += 1;
            self.pending = PendingMark::Code(code);
            return;
        }
        if code.run == code.ticks {
            self.queue.push(SpanToken::Code(trim_code(&code.body)), sink);
            self.before = Some('`');
            self.character(c, sink);
            return;
        }
        code.body.extend(std::iter::repeat_n('`', code.run));
        if code.body.len() > MAX_SPAN_CHARS {
            self.reread('`', code.ticks, &code.body, sink);
            self.push(c, sink);
        } else {
            code.body.push(if c == '\n' { ' ' } else { c });
            code.run = 0;
            self.pending = PendingMark::Code(code);
        }
    }

    fn after_backslash(&mut self, c: char, sink: &mut impl SpanSink) {
        if c.is_ascii_punctuation() {
            self.text(c, sink);
        } else {
            // Before the end of a line it asks for the line break that is kept anyway.
            if c != '\n' {
                self.text('\\', sink);
            }
            self.character(c, sink);
        }
    }

    fn address(&mut self, mut text: String, depth: usize, c: char, sink: &mut impl SpanSink) {
        let depth = match c {
            ')' if depth == 0 => {
                self.queue.close_link(link_address(&text), sink);
                self.before = Some(')');
                return;
            }
            '(' => depth + 1,
            ')' => depth - 1,
            _ => depth,
        };
        if c == '\n' || depth > MAX_PARENTHESES || text.len() > MAX_SPAN_CHARS {
            self.no_address(&text, sink);
            self.push(c, sink);
        } else {
            text.push(c);
            self.pending = PendingMark::Address { text, depth };
        }
    }

    fn no_address(&mut self, text: &str, sink: &mut impl SpanSink) {
        self.queue.forget_bracket();
        self.text(']', sink);
        self.reread('(', 1, text, sink);
    }

    fn angle(&mut self, mut text: String, c: char, sink: &mut impl SpanSink) {
        let is_line_break = matches!(text.as_str(), "br" | "br/" | "br /");
        if c == '>' && is_line_break {
            self.queue.push(SpanToken::Break, sink);
            self.before = None;
        } else if c == '>' && (text.contains("://") || text.starts_with("mailto:")) {
            self.queue.link(text, sink);
            self.before = Some('>');
        } else if matches!(c, '>' | '<' | '\n')
            || (c == ' ' && text != "br")
            || text.len() > MAX_SPAN_CHARS
        {
            self.reread('<', 1, &text, sink);
            self.push(c, sink);
        } else {
            text.push(c);
            self.pending = PendingMark::Angle(text);
        }
    }
}

/// Code as it is shown: one space on each side only keeps backticks apart.
fn trim_code(body: &str) -> String {
    let inner = body.strip_prefix(' ').and_then(|body| body.strip_suffix(' '));
    inner.filter(|inner| !inner.trim().is_empty()).unwrap_or(body).to_owned()
}

/// The address alone, without a title and angle brackets.
fn link_address(text: &str) -> String {
    let text = text.trim();
    if let Some((address, _)) = text.strip_prefix('<').and_then(|text| text.split_once('>')) {
        return address.to_owned();
    }
    match text.split_once([' ', '\t']) {
        Some((address, title)) if title.trim_start().starts_with(['"', '\'', '(']) => {
            address.to_owned()
        }
        _ => text.to_owned(),
    }
}
