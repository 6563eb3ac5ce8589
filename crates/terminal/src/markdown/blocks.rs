//! Lines to blocks: paragraphs, headings, items, quotes, code, tables and rules.

use super::code::{self, CodeFence, CodeLine};
use super::containers::{After, Containers, LineStart};
use super::inline::Inline;
use super::openings::{BlockOpening, InItem, OpeningKind, OpeningMatch};
use super::style::{Paint, TextStyle};
use super::table;
use super::wrap::{SpanSink as _, Wrap};

/// Narrower terminals are treated as if they had this many columns.
const MIN_WIDTH: usize = 20;

/// What the current line is.
#[derive(Debug)]
enum LineState {
    Start(LineStart),
    Opening(BlockOpening),
    Text,
    Heading,
    Row(String),
    Code(CodeFence),
}

/// What a line begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LeafBlock {
    Text,
    Row,
    Other,
}

/// Markdown on its way to a terminal.
#[derive(Debug)]
pub struct Markdown {
    width: usize,
    paint: Paint,
    wrap: Wrap,
    inline: Inline,
    containers: Containers,
    state: LineState,
    /// A paragraph that the next line may continue.
    in_paragraph: bool,
    /// A blank line is due before the next block.
    gap: bool,
    /// A carriage return that may belong to a line feed.
    carriage: bool,
    /// The rows of a table so far.
    rows: Vec<String>,
}

impl Markdown {
    /// Renders for a terminal with so many columns.
    pub fn new(width: usize, paint: Paint) -> Self {
        let width = width.max(MIN_WIDTH);
        Self {
            width,
            paint,
            wrap: Wrap::new(width, paint),
            inline: Inline::default(),
            containers: Containers::default(),
            state: LineState::Start(LineStart::default()),
            in_paragraph: false,
            gap: false,
            carriage: false,
            rows: Vec::new(),
        }
    }

    /// Takes the next piece of text and returns what to print now.
    pub fn push(&mut self, text: &str) -> String {
        for c in text.chars() {
            if std::mem::take(&mut self.carriage) && c != '\n' {
                self.feed('\r');
            }
            if c == '\r' {
                self.carriage = true;
            } else {
                self.feed(c);
            }
        }
        self.wrap.take()
    }

    /// Ends the text and returns what is left to print. After that a new text may begin.
    pub fn finish(&mut self) -> String {
        if std::mem::take(&mut self.carriage) {
            self.feed('\r');
        }
        match std::mem::replace(&mut self.state, LineState::Text) {
            // Nothing follows that could be code.
            LineState::Opening(opening) if matches!(opening.kind, OpeningKind::Fence(_)) => {
                self.text(opening.start, &opening.text);
            }
            LineState::Text => {}
            LineState::Code(fence) if fence.line.is_empty() => self.end_code(),
            state => {
                self.state = state;
                self.feed('\n');
                if matches!(self.state, LineState::Code(_)) {
                    self.end_code();
                }
            }
        }
        self.end_leaf();
        self.wrap.finish();
        let rest = self.wrap.take();
        *self = Self::new(self.width, self.paint);
        rest
    }

    fn feed(&mut self, c: char) {
        match std::mem::replace(&mut self.state, LineState::Text) {
            LineState::Start(start) => self.at_start(start, c),
            LineState::Opening(opening) => self.at_opening(opening, c),
            LineState::Text => {
                self.inline.push(c, &mut self.wrap);
                if c == '\n' {
                    self.state = LineState::Start(LineStart::default());
                }
            }
            LineState::Heading if c == '\n' => {
                self.end_leaf();
                self.state = LineState::Start(LineStart::default());
            }
            LineState::Heading => {
                self.inline.push(c, &mut self.wrap);
                self.state = LineState::Heading;
            }
            LineState::Row(line) if c == '\n' => {
                self.state = LineState::Start(LineStart::default());
                self.end_row(line);
            }
            LineState::Row(mut line) => {
                line.push(c);
                self.state = LineState::Row(line);
            }
            LineState::Code(fence) if c == '\n' => self.code_line(fence),
            LineState::Code(mut fence) => {
                fence.line.push(c);
                self.state = LineState::Code(fence);
            }
        }
    }

    fn feed_all(&mut self, text: &str) {
        text.chars().for_each(|c| self.feed(c));
    }

    fn at_start(&mut self, mut start: LineStart, c: char) {
        match c {
            ' ' if start.after == After::Quote => start.after = After::Nothing,
            ' ' => start.indent += 1,
            '\t' => start.indent = (start.indent / 4 + 1) * 4,
            '\n' => {
                self.blank(start);
                start = LineStart::default();
            }
            '>' if !self.containers.is_full() || self.continues_quote(start) => {
                start = self.quote(start);
            }
            '|' => {
                self.settle(start, LeafBlock::Row);
                self.state = LineState::Row("|".to_owned());
                return;
            }
            _ => {
                let in_item =
                    if start.after == After::Marker { InItem::Beginning } else { InItem::No };
                match BlockOpening::new(c, start, in_item) {
                    Some(opening) => self.state = LineState::Opening(opening),
                    None => {
                        self.text(start, "");
                        self.feed(c);
                    }
                }
                return;
            }
        }
        self.state = LineState::Start(start);
    }

    fn blank(&mut self, start: LineStart) {
        self.end_leaf();
        if start.after == After::Marker {
            // An item without text shows its marker all the same.
            self.begin_line();
        } else {
            self.containers.leave_quotes(start);
            self.gap = true;
        }
    }

    fn continues_quote(&self, start: LineStart) -> bool {
        self.containers.is_quote(self.containers.depth_reached(start))
    }

    fn quote(&mut self, start: LineStart) -> LineStart {
        let reached = self.containers.depth_reached(start);
        if !self.containers.is_quote(reached) {
            self.end_leaf();
            self.containers.truncate(reached);
            self.containers.push_quote();
        }
        LineStart { inside: reached + 1, indent: 0, after: After::Quote }
    }

    fn at_opening(&mut self, mut opening: BlockOpening, c: char) {
        let start = opening.start;
        match opening.next(c) {
            OpeningMatch::More => self.state = LineState::Opening(opening),
            OpeningMatch::Item(marker, length) if !self.containers.is_full() => {
                self.settle(start, LeafBlock::Other);
                self.containers.push_item(start.indent, marker);
                let indent = start.indent + length;
                let inside = self.containers.len();
                self.state = LineState::Start(LineStart { inside, indent, after: After::Marker });
                let rest: String = opening.text.chars().skip(length).collect();
                self.feed_all(&rest);
                // The space behind a number is a part of its marker.
                if opening.kind != OpeningKind::Number {
                    self.feed(c);
                }
            }
            OpeningMatch::Text | OpeningMatch::Item(..) => {
                self.text(start, &opening.text);
                self.feed(c);
            }
            OpeningMatch::Heading => {
                self.settle(start, LeafBlock::Other);
                self.begin_line();
                self.begin_inline(TextStyle::BOLD);
                if self.paint == Paint::Plain {
                    opening.text.chars().for_each(|c| self.wrap.character(c, TextStyle::PLAIN));
                    self.wrap.space();
                }
                self.state = LineState::Heading;
                self.feed(c);
            }
            OpeningMatch::Rule => {
                self.settle(start, LeafBlock::Other);
                let room = self.begin_line();
                self.wrap.verbatim(&self.paint.paint(TextStyle::DIM, &"─".repeat(room)));
                self.state = LineState::Start(LineStart::default());
            }
            OpeningMatch::Fence => {
                self.settle(start, LeafBlock::Other);
                self.begin_line();
                let language = opening.text.trim_start_matches(['`', '~']);
                self.wrap.verbatim(&code::line_above(self.paint, language));
                let mark = opening.text.chars().next().unwrap_or('`');
                let quotes = self.containers.quotes();
                self.state =
                    LineState::Code(CodeFence::new(mark, opening.count, start.indent, quotes));
            }
            OpeningMatch::Task(sign) => {
                self.containers.mark_task(sign);
                self.state = LineState::Start(start);
            }
        }
    }

    /// Leaves the containers that a line is not in, and ends the block before it if it must.
    fn settle(&mut self, start: LineStart, leaf: LeafBlock) {
        let reached = self.containers.depth_reached(start);
        let goes_on = match leaf {
            // A paragraph goes on without indentation too.
            LeafBlock::Text => self.in_paragraph && !self.containers.leaves_quote(reached),
            LeafBlock::Row => !self.rows.is_empty() && reached == self.containers.len(),
            LeafBlock::Other => false,
        };
        if !goes_on {
            self.end_leaf();
            self.containers.truncate(reached);
        }
    }

    /// Begins or continues a paragraph with what was read of it.
    fn text(&mut self, start: LineStart, read: &str) {
        self.settle(start, LeafBlock::Text);
        if !self.in_paragraph {
            self.begin_line();
            self.begin_inline(TextStyle::PLAIN);
        }
        self.state = LineState::Text;
        self.feed_all(read);
    }

    fn begin_inline(&mut self, base: TextStyle) {
        self.inline.begin(base);
        self.in_paragraph = true;
    }

    /// Starts a line with what its containers put before it; returns the room beside that.
    fn begin_line(&mut self) -> usize {
        if std::mem::take(&mut self.gap) && self.wrap.is_open() {
            let text = self.containers.blank(self.paint);
            self.wrap.start_blank(text);
        }
        let (first, rest) = self.containers.prefixes(self.paint);
        let room = self.wrap.room(rest.width);
        self.wrap.start_line(&first, rest);
        room
    }

    /// Ends the paragraph or table that is open.
    fn end_leaf(&mut self) {
        if std::mem::take(&mut self.in_paragraph) {
            self.inline.finish(&mut self.wrap);
            self.wrap.end();
        }
        let rows = std::mem::take(&mut self.rows);
        if rows.is_empty() {
            return;
        }
        let room = self.wrap.room(self.containers.prefixes_width());
        match table::lines(&rows, room, self.paint) {
            Some(lines) => {
                for line in lines {
                    self.begin_line();
                    self.wrap.verbatim(&line);
                }
            }
            None => rows.iter().for_each(|row| self.row_as_text(row)),
        }
    }

    fn end_row(&mut self, line: String) {
        self.rows.push(line);
        if let [heading, second] = self.rows.as_slice()
            && !table::is_ruler(heading, second)
        {
            let heading = self.rows.remove(0);
            self.row_as_text(&heading);
        }
    }

    fn row_as_text(&mut self, row: &str) {
        self.begin_line();
        self.inline.begin(TextStyle::PLAIN);
        row.chars().for_each(|c| self.inline.push(c, &mut self.wrap));
        self.inline.finish(&mut self.wrap);
        self.wrap.end();
    }

    fn code_line(&mut self, mut fence: CodeFence) {
        match fence.read() {
            CodeLine::Code(text) => {
                self.begin_line();
                self.wrap.verbatim(&code::code_line(self.paint, &text));
                self.state = LineState::Code(fence);
            }
            CodeLine::End => {
                self.end_code();
                self.state = LineState::Start(LineStart::default());
            }
            CodeLine::Outside => {
                self.end_code();
                self.state = LineState::Start(LineStart::default());
                self.feed_all(&fence.line);
                self.feed('\n');
            }
        }
    }

    fn end_code(&mut self) {
        self.begin_line();
        self.wrap.verbatim(&code::line_below(self.paint));
    }
}

#[cfg(test)]
#[path = "blocks_tests.rs"]
mod tests;
