//! Spans within a block: a character is held only while it may be markup.

use super::spans::{Queue, Token};
use super::style::Style;
use super::wrap::Sink;

/// How many characters may wait for the end of a span; after that its start is plain text.
pub(super) const LONGEST_SPAN: usize = 500;

/// How deep parentheses may go in the address of a link.
const DEEPEST: usize = 3;

/// What the characters just read may become.
#[derive(Debug, Default)]
enum Pending {
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
    Code(Code),
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
struct Code {
    /// How many backticks opened it.
    ticks: usize,
    body: String,
    /// How many backticks have just been read.
    run: usize,
}

/// The spans of one block.
#[derive(Debug, Default)]
pub(super) struct Inline {
    queue: Queue,
    pending: Pending,
    before: Option<char>,
}

impl Inline {
    /// Begins a block in which all text looks like `base`.
    pub(super) fn begin(&mut self, base: Style) {
        self.queue.begin(base);
        self.before = None;
    }

    /// Takes the next character.
    pub(super) fn push(&mut self, c: char, sink: &mut impl Sink) {
        match std::mem::take(&mut self.pending) {
            Pending::Nothing => self.character(c, sink),
            Pending::Run { mark, count, before } if c == mark => {
                self.pending = Pending::Run { mark, count: count + 1, before };
            }
            Pending::Run { mark, count, before } => {
                self.queue.run(mark, count, (before, c), sink);
                self.character(c, sink);
            }
            Pending::Ticks(count) if c == '`' => self.pending = Pending::Ticks(count + 1),
            Pending::Ticks(ticks) => {
                self.code(Code { ticks, body: String::new(), run: 0 }, c, sink);
            }
            Pending::Code(code) => self.code(code, c, sink),
            Pending::Backslash => self.after_backslash(c, sink),
            Pending::Bang if c == '[' => {
                self.queue.open_bracket("![", sink);
                self.before = Some('[');
            }
            Pending::Bang => {
                self.text('!', sink);
                self.character(c, sink);
            }
            Pending::Bracket if c == '(' => {
                self.pending = Pending::Address { text: String::new(), depth: 0 };
            }
            Pending::Bracket => {
                self.queue.forget_bracket();
                self.text(']', sink);
                self.character(c, sink);
            }
            Pending::Address { text, depth } => self.address(text, depth, c, sink),
            Pending::Angle(text) => self.angle(text, c, sink),
        }
    }

    /// Ends the block: what was not closed is plain text.
    pub(super) fn finish(&mut self, sink: &mut impl Sink) {
        // Each round gives up one opening, so this ends.
        loop {
            match std::mem::take(&mut self.pending) {
                Pending::Nothing => break,
                Pending::Run { mark, count, before } => {
                    self.queue.run(mark, count, (before, ' '), sink);
                }
                Pending::Ticks(count) => self.again('`', count, "", sink),
                Pending::Code(code) if code.run == code.ticks => {
                    self.queue.push(Token::Code(trimmed(&code.body)), sink);
                }
                Pending::Code(mut code) => {
                    code.body.extend(std::iter::repeat_n('`', code.run));
                    self.again('`', code.ticks, &code.body, sink);
                }
                Pending::Backslash => self.text('\\', sink),
                Pending::Bang => self.text('!', sink),
                Pending::Bracket => {
                    self.queue.forget_bracket();
                    self.text(']', sink);
                }
                Pending::Address { text, .. } => self.no_address(&text, sink),
                Pending::Angle(text) => self.again('<', 1, &text, sink),
            }
        }
        self.queue.finish(sink);
        self.before = None;
    }

    /// Takes a character that ends nothing.
    fn character(&mut self, c: char, sink: &mut impl Sink) {
        match c {
            '\n' => self.queue.push(Token::Break, sink),
            ' ' | '\t' => self.queue.push(Token::Space, sink),
            '*' | '_' | '~' => {
                let before = self.before.unwrap_or(' ');
                self.pending = Pending::Run { mark: c, count: 1, before };
            }
            '`' => self.pending = Pending::Ticks(1),
            '\\' => self.pending = Pending::Backslash,
            '!' => self.pending = Pending::Bang,
            '[' => self.queue.open_bracket("[", sink),
            ']' if self.queue.has_bracket() => self.pending = Pending::Bracket,
            '<' => self.pending = Pending::Angle(String::new()),
            _ => self.queue.character(c, sink),
        }
        self.before = Some(c);
    }

    fn text(&mut self, c: char, sink: &mut impl Sink) {
        self.queue.character(c, sink);
        self.before = Some(c);
    }

    /// Gives up an opening: it is text, and what was held behind it is read anew.
    fn again(&mut self, mark: char, count: usize, held: &str, sink: &mut impl Sink) {
        for _ in 0..count {
            self.text(mark, sink);
        }
        for c in held.chars() {
            self.push(c, sink);
        }
    }

    fn code(&mut self, mut code: Code, c: char, sink: &mut impl Sink) {
        if c == '`' {
            code.run += 1;
            self.pending = Pending::Code(code);
            return;
        }
        if code.run == code.ticks {
            self.queue.push(Token::Code(trimmed(&code.body)), sink);
            self.before = Some('`');
            self.character(c, sink);
            return;
        }
        code.body.extend(std::iter::repeat_n('`', code.run));
        if code.body.len() > LONGEST_SPAN {
            self.again('`', code.ticks, &code.body, sink);
            self.push(c, sink);
        } else {
            code.body.push(if c == '\n' { ' ' } else { c });
            code.run = 0;
            self.pending = Pending::Code(code);
        }
    }

    fn after_backslash(&mut self, c: char, sink: &mut impl Sink) {
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

    fn address(&mut self, mut text: String, depth: usize, c: char, sink: &mut impl Sink) {
        let depth = match c {
            ')' if depth == 0 => {
                self.queue.close_link(address_of(&text), sink);
                self.before = Some(')');
                return;
            }
            '(' => depth + 1,
            ')' => depth - 1,
            _ => depth,
        };
        if c == '\n' || depth > DEEPEST || text.len() > LONGEST_SPAN {
            self.no_address(&text, sink);
            self.push(c, sink);
        } else {
            text.push(c);
            self.pending = Pending::Address { text, depth };
        }
    }

    fn no_address(&mut self, text: &str, sink: &mut impl Sink) {
        self.queue.forget_bracket();
        self.text(']', sink);
        self.again('(', 1, text, sink);
    }

    fn angle(&mut self, mut text: String, c: char, sink: &mut impl Sink) {
        let is_line_break = matches!(text.as_str(), "br" | "br/" | "br /");
        if c == '>' && is_line_break {
            self.queue.push(Token::Break, sink);
            self.before = None;
        } else if c == '>' && (text.contains("://") || text.starts_with("mailto:")) {
            self.queue.link(text, sink);
            self.before = Some('>');
        } else if matches!(c, '>' | '<' | '\n')
            || (c == ' ' && text != "br")
            || text.len() > LONGEST_SPAN
        {
            self.again('<', 1, &text, sink);
            self.push(c, sink);
        } else {
            text.push(c);
            self.pending = Pending::Angle(text);
        }
    }
}

/// Code as it is shown: one space on each side only keeps backticks apart.
fn trimmed(body: &str) -> String {
    let inner = body.strip_prefix(' ').and_then(|body| body.strip_suffix(' '));
    inner.filter(|inner| !inner.trim().is_empty()).unwrap_or(body).to_owned()
}

/// The address alone, without a title and angle brackets.
fn address_of(text: &str) -> String {
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
