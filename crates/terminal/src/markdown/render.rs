//! Renders parser events to lines: headings, items, quotes, code, tables and spans.

use console::{Style, measure_text_width};
use pulldown_cmark::{CodeBlockKind, Event, Tag, TagEnd};
use switchboard_text::{escape, escape_line};

use super::stream::{BARRIER, follows_blank_line};
use super::table::AlignedTable;
use super::wrap::{StyledText, Wrap};

/// Maximum number of nested quotes and items; deeper ones are shown without a marker.
const MAX_DEPTH: usize = 8;
const MAX_LANGUAGE_CHARS: usize = 40;

/// Whether terminal escape codes may be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Paint {
    /// With colours and font weights.
    Colour,
    #[default]
    /// Text only, with the Markdown marks of code and headings.
    Plain,
}

/// A quote or list item, which contributes to the prefix of each line.
#[derive(Debug)]
struct Container {
    marker: String,
    rest: String,
    width: usize,
    shown: bool,
}

impl Container {
    fn new(marker: String) -> Self {
        let width = measure_text_width(&marker);
        Self { marker, rest: " ".repeat(width), width, shown: false }
    }
}

#[derive(Debug, Default)]
pub(super) struct Renderer<'a> {
    source: &'a str,
    paint: Paint,
    pub(super) wrap: Wrap,
    /// Whether a blank line precedes the source.
    gap: bool,
    containers: Vec<Container>,
    /// The styles of the open spans, each including the ones around it.
    styles: Vec<Style>,
    /// The URLs of the open links, to be shown after their texts.
    links: Vec<Option<String>>,
    in_text: bool,
    code: Option<String>,
    table: AlignedTable,
    cell: Option<StyledText>,
}

impl<'a> Renderer<'a> {
    pub(super) fn new(source: &'a str, paint: Paint, wrap: Wrap, gap: bool) -> Self {
        Self { source, paint, wrap, gap, ..Self::default() }
    }

    pub(super) fn event(&mut self, event: Event<'_>, at: usize) {
        match event {
            Event::Start(tag) => self.start(tag, at),
            Event::End(tag) => self.end(tag, at),
            Event::Text(text) if self.code.is_some() => self.code_text(&text),
            Event::Html(line) => {
                self.inline_text(&line, at);
                self.end_text();
            }
            Event::SoftBreak | Event::HardBreak => self.line_break(),
            Event::InlineHtml(tag) if matches!(&*tag, "<br>" | "<br/>" | "<br />") => {
                self.line_break();
            }
            Event::Text(text)
            | Event::InlineHtml(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text)
            | Event::FootnoteReference(text) => self.inline_text(&text, at),
            Event::Code(code) => self.inline_code(&code, at),
            Event::Rule => self.rule(self.wrap.room(self.indent()), Some(at)),
            Event::TaskListMarker(is_done) => {
                let sign = if is_done { "☑ " } else { "☐ " };
                if let Some(item) = self.containers.last_mut().filter(|item| item.width > 0) {
                    // Keep the number of a numbered item, but replace a bullet.
                    let number = item.marker.strip_prefix("• ").map_or(&*item.marker, |_| "");
                    *item = Container::new(format!("{number}{sign}"));
                }
            }
        }
    }

    fn start(&mut self, tag: Tag<'_>, at: usize) {
        match tag {
            Tag::Emphasis => self.push_style(Style::italic),
            Tag::Strong => self.push_style(Style::bold),
            Tag::Strikethrough => self.push_style(Style::strikethrough),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.push_style(Style::underlined);
                let address: String = visible_chars(&dest_url).collect();
                // A link whose text is its URL is shown once.
                let source = self.source_at(at).trim_start_matches(['<', '[']);
                let plain = address.strip_prefix("mailto:").unwrap_or(&address);
                let is_text = [&address, plain].iter().any(|address| {
                    source.strip_prefix(address).is_some_and(|rest| rest.starts_with(['>', ']']))
                });
                self.links.push(Some(address).filter(|address| !is_text && !address.is_empty()));
            }
            Tag::TableCell => self.cell = Some(StyledText::default()),
            Tag::TableRow => self.table.rows.push(Vec::new()),
            Tag::TableHead => {
                self.table.rows.push(Vec::new());
                self.push_style(Style::bold);
            }
            block => {
                self.end_text();
                self.start_block(block, at);
            }
        }
    }

    fn start_block(&mut self, tag: Tag<'_>, at: usize) {
        match tag {
            Tag::Heading { level, .. } if self.is_hash_heading(at) => {
                self.push_style(Style::bold);
                if self.paint == Paint::Plain {
                    let marks = "#".repeat(level as usize) + " ";
                    self.inline_text(&marks, at);
                }
            }
            Tag::BlockQuote(_) => {
                let bar = format!("{} ", self.dim().apply_to("│"));
                self.push_container(Container { rest: bar.clone(), ..Container::new(bar) });
            }
            Tag::Item => {
                let text = self.source_at(at).trim_start();
                let digits = text.bytes().take_while(u8::is_ascii_digit).count();
                let number = text.get(..=digits).filter(|_| digits > 0);
                let marker = number.map_or_else(|| "• ".to_owned(), |number| format!("{number} "));
                self.push_container(Container::new(marker));
            }
            Tag::CodeBlock(kind) => {
                let info = match &kind {
                    CodeBlockKind::Fenced(info) => info,
                    CodeBlockKind::Indented => "",
                };
                let word: String =
                    visible_chars(info.split_whitespace().next().unwrap_or_default()).collect();
                let word: String = escape_line(&word).chars().take(MAX_LANGUAGE_CHARS).collect();
                let above = self.dim().apply_to(format!("  ┌─ {word}").trim_end()).to_string();
                self.verbatim_line(&above, Some(at));
                self.code = Some(String::new());
            }
            Tag::Table(alignments) => self.table = AlignedTable { alignments, rows: Vec::new() },
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd, at: usize) {
        match tag {
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::TableHead => {
                self.styles.pop();
            }
            TagEnd::Link | TagEnd::Image => {
                self.styles.pop();
                if let Some(address) = self.links.pop().flatten() {
                    self.push_style(Style::dim);
                    self.inline_text(&format!(" ({address})"), at);
                    self.styles.pop();
                }
            }
            TagEnd::TableCell => {
                let cell = self.cell.take().unwrap_or_default().render();
                if let Some(row) = self.table.rows.last_mut() {
                    row.push(cell);
                }
            }
            TagEnd::Table => {
                let table = std::mem::take(&mut self.table);
                let lines = table.lines(self.wrap.room(self.indent()), &self.dim());
                for (index, line) in lines.iter().enumerate() {
                    self.verbatim_line(line, (index == 0).then_some(at));
                }
            }
            TagEnd::CodeBlock => {
                self.code_text(if self.code.as_deref() == Some("") { "" } else { "\n" });
                self.code = None;
                let below = self.dim().apply_to("  └─").to_string();
                self.verbatim_line(&below, None);
            }
            TagEnd::Heading(_) => {
                self.end_text();
                // A setext heading has no style, because its text was printed before the underline
                // was known.
                if self.styles.pop().is_none() {
                    self.rule(self.wrap.text_columns(), None);
                }
            }
            TagEnd::Item | TagEnd::BlockQuote(_) => {
                self.end_text();
                if tag == TagEnd::Item && self.containers.last().is_some_and(|item| !item.shown) {
                    // An item without text still shows its marker.
                    self.begin_line(Some(at));
                }
                self.containers.pop();
            }
            _ => self.end_text(),
        }
    }

    fn source_at(&self, at: usize) -> &'a str {
        self.source.get(at..).unwrap_or_default()
    }

    /// Returns whether the heading at this offset is an ATX heading (`#`), not a setext heading.
    fn is_hash_heading(&self, at: usize) -> bool {
        let text = self.source_at(at).trim_start();
        let rest = text.trim_start_matches('#');
        let has_marks = (1..=6).contains(&(text.len() - rest.len()));
        has_marks && (rest.is_empty() || rest.starts_with(char::is_whitespace))
    }

    fn style(&self) -> Style {
        let is_coloured = self.paint == Paint::Colour;
        self.styles.last().cloned().unwrap_or_else(|| Style::new().force_styling(is_coloured))
    }

    fn dim(&self) -> Style {
        Style::new().force_styling(self.paint == Paint::Colour).dim()
    }

    fn push_style(&mut self, add: impl Fn(Style) -> Style) {
        self.styles.push(add(self.style()));
    }

    fn push_container(&mut self, container: Container) {
        let is_deep = self.containers.len() >= MAX_DEPTH;
        let empty = || Container { shown: true, ..Container::new(String::new()) };
        // Each level takes columns; a model that nests without end would leave no room for text.
        self.containers.push(if is_deep { empty() } else { container });
    }

    /// Starts a line; a block that starts `at` this offset keeps the blank line before it.
    fn begin_line(&mut self, at: Option<usize>) {
        let is_apart = at.is_some_and(|at| follows_blank_line(self.source, at).unwrap_or(self.gap));
        if is_apart && self.wrap.is_open() {
            let shown = self.containers.iter().filter(|container| container.shown);
            let blank: String = shown.map(|container| container.rest.as_str()).collect();
            self.wrap.start_line(blank.trim_end(), "", 0);
        }
        let indent = self.indent();
        let mut first = String::new();
        let mut rest = String::new();
        for container in &mut self.containers {
            let is_shown = std::mem::replace(&mut container.shown, true);
            first.push_str(if is_shown { &container.rest } else { &container.marker });
            rest.push_str(&container.rest);
        }
        self.wrap.start_line(&first, &rest, indent);
    }

    fn indent(&self) -> usize {
        self.containers.iter().map(|container| container.width).sum()
    }

    fn verbatim_line(&mut self, text: &str, at: Option<usize>) {
        self.begin_line(at);
        self.wrap.verbatim(text);
    }

    fn rule(&mut self, columns: usize, at: Option<usize>) {
        let line = self.dim().apply_to("─".repeat(columns)).to_string();
        self.verbatim_line(&line, at);
    }

    /// Renders the complete lines of a code block without changes.
    fn code_text(&mut self, text: &str) {
        let mut line = self.code.take().unwrap_or_default();
        for part in text.split_inclusive('\n') {
            line.extend(visible_chars(part));
            if let Some(line) = line.strip_suffix('\n') {
                let shown = format!("{} {}", self.dim().apply_to("  │"), escape(line));
                self.verbatim_line(shown.trim_end(), None);
            }
            if part.ends_with('\n') {
                line.clear();
            }
        }
        self.code = Some(line);
    }

    fn begin_text(&mut self, at: usize) {
        if !self.in_text && self.cell.is_none() {
            self.begin_line(Some(at));
            self.in_text = true;
        }
    }

    fn end_text(&mut self) {
        if std::mem::take(&mut self.in_text) {
            self.wrap.end_block();
        }
    }

    fn inline_text(&mut self, text: &str, at: usize) {
        let style = self.style();
        for c in visible_chars(text) {
            self.begin_text(at);
            match c {
                ' ' | '\t' | '\n' => self.space(),
                _ => self.character(c, &style),
            }
        }
    }

    /// Renders code, which may be broken at its spaces but keeps all of them.
    fn inline_code(&mut self, code: &str, at: usize) {
        let style = self.style().cyan();
        let mark = if self.paint == Paint::Plain { "`" } else { "" };
        self.inline_text(mark, at);
        self.begin_text(at);
        let mut before = ' ';
        for c in visible_chars(code).map(|c| if c == '\t' { ' ' } else { c }) {
            match c {
                ' ' if before != ' ' => self.space(),
                _ => self.character(c, &style),
            }
            before = c;
        }
        self.inline_text(mark, at);
    }

    fn character(&mut self, c: char, style: &Style) {
        match &mut self.cell {
            Some(cell) => cell.push(c, style),
            None => self.wrap.character(c, style),
        }
    }

    fn space(&mut self) {
        match &mut self.cell {
            Some(cell) => cell.push(' ', &Style::new()),
            None => self.wrap.space(),
        }
    }

    fn line_break(&mut self) {
        match &mut self.cell {
            Some(_) => self.space(),
            None => self.wrap.line_break(),
        }
    }
}

/// Returns the characters of the text without the barriers that `stream` inserted.
fn visible_chars(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|c| *c != BARRIER)
}
