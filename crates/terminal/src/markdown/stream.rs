//! Incremental rendering: parses the blocks that may still change, and prints the final part.
//!
//! The `tail` begins with the last top-level block, or with the last item of a top-level list.
//! Every parse renders the tail again, up to the offset after which more text could change the
//! result, and prints the addition. Two constructs of the syntax would change text that was printed
//! long before; an invisible character, [`BARRIER`], prevents the parser from recognizing them.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::render::{Paint, Renderer};
use super::wrap::Wrap;

/// A noncharacter that breaks up a link definition (`[a]: b`), which would change the text before
/// it, and the delimiter row of a table whose heading was printed as a paragraph.
pub(super) const BARRIER: char = '\u{fdd0}';

/// Minimum width, also assumed for narrower terminals.
const MIN_WIDTH: usize = 20;
/// Maximum size of a tail that is parsed with every piece of text.
const SMALL_TAIL: usize = 4096;
/// Maximum length of text held back after a mark that may open a span; then the mark is plain text.
const MAX_HELD: usize = 1000;

type SourceEvent<'a> = (Event<'a>, Range<usize>);

/// A stream of Markdown that is rendered for a terminal.
#[derive(Debug, Default)]
pub struct Markdown {
    width: usize,
    paint: Paint,
    tail: String,
    printed: usize,
    parsed: usize,
    gap: bool,
    /// Whether output was printed for the source before the tail.
    open: bool,
    carriage: bool,
}

impl Markdown {
    /// Creates a renderer for a terminal with this number of columns.
    pub fn new(width: usize, paint: Paint) -> Self {
        Self { width: width.max(MIN_WIDTH), paint, ..Self::default() }
    }

    /// Adds the next piece of text and returns the output to print now.
    pub fn push(&mut self, text: &str) -> String {
        self.append(text);
        // Parsing in proportion to the growth keeps the total work linear.
        let is_due = self.tail.len() <= SMALL_TAIL || self.tail.len() > self.parsed / 8 * 9;
        if is_due { self.advance(false) } else { String::new() }
    }

    /// Ends the text and returns the remaining output. Afterwards a new text may begin.
    pub fn finish(&mut self) -> String {
        if !self.tail.is_empty() && !self.tail.ends_with('\n') {
            self.append("\n");
        }
        let mut rest = self.advance(true);
        if self.open || self.printed > 0 {
            rest.push('\n');
        }
        *self = Self::new(self.width, self.paint);
        rest
    }

    fn append(&mut self, text: &str) {
        for c in text.chars() {
            // A line break of two characters may be split over two pieces.
            let is_pair = std::mem::replace(&mut self.carriage, c == '\r') && c == '\n';
            match c {
                '\n' if is_pair => {}
                '\n' | '\r' => {
                    if ends_with_bare_ruler(&self.tail) {
                        self.tail.push(BARRIER);
                    }
                    self.tail.push('\n');
                }
                ':' if self.tail.ends_with(']') => self.tail.extend([BARRIER, ':']),
                // A model could write the barrier itself, which would then vanish from its text.
                BARRIER => self.tail.push(char::REPLACEMENT_CHARACTER),
                _ => self.tail.push(c),
            }
        }
    }

    /// Parses the tail, returns the addition to print and drops complete blocks.
    fn advance(&mut self, is_end: bool) -> String {
        let mut tail = std::mem::take(&mut self.tail);
        let options =
            Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
        let events: Vec<_> = Parser::new_ext(&tail, options).into_offset_iter().collect();
        let whole = StablePart { end: tail.len(), mark: None };
        let stable = if is_end { whole } else { StablePart::find(&tail, &events) };
        // The end of a block is certain only if something follows it.
        let certain = if is_end { events.len() } else { content(&events, stable.end).len() };

        let wrap = Wrap::new(self.width, self.open);
        let mut renderer = Renderer::new(&tail, self.paint, wrap, self.gap);
        let mut block = LastBlock::default();
        let mut depth = 0_usize;
        for (event, range) in events.into_iter().take(certain) {
            match &event {
                // Each item of a top-level list counts as a top-level block.
                Event::Start(Tag::List(_)) | Event::End(TagEnd::List(_)) if depth == 0 => {}
                Event::Start(_) | Event::Rule if depth == 0 => {
                    block = LastBlock::new(&tail, range.start, renderer.wrap.text().len());
                    block.is_fenced =
                        matches!(event, Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))));
                    depth = usize::from(event != Event::Rule);
                }
                Event::Start(_) => depth += 1,
                Event::End(_) => depth = depth.saturating_sub(1),
                Event::Text(_) => block.text_end = range.end,
                _ => {}
            }
            renderer.event(cut_text(event, &range, stable.end), range.start);
            block.opened.get_or_insert(renderer.wrap.text().len());
        }
        if tail.get(..stable.end).is_some_and(|text| text.ends_with([' ', '\t', '\n'])) {
            renderer.wrap.end_word();
        }

        let out = renderer.wrap.text();
        let addition = out.get(self.printed..).unwrap_or_default().to_owned();
        self.printed = out.len().max(self.printed) - block.rendered;
        self.open |= block.rendered > 0;
        self.gap = follows_blank_line(&tail, block.start).unwrap_or(self.gap);
        if let Some(code) = block.printed_code(&tail) {
            self.printed = block.opened.unwrap_or_default() - block.rendered;
            tail.drain(code);
        } else if let Some(mark) = stable.mark.filter(|mark| tail.len() - mark > MAX_HELD) {
            // An escaped mark is plain text, so the text after it can be printed.
            tail.insert(mark, '\\');
        }
        tail.drain(..block.start);
        self.parsed = tail.len();
        self.tail = tail;
        addition
    }
}

#[derive(Debug, Default)]
struct LastBlock {
    /// The start of its first line in the source.
    start: usize,
    /// The length of the text rendered before it.
    rendered: usize,
    /// The length of the text rendered up to its first event.
    opened: Option<usize>,
    text_end: usize,
    is_fenced: bool,
}

impl LastBlock {
    fn new(tail: &str, at: usize, rendered: usize) -> Self {
        Self { start: line_start(tail, at), rendered, ..Self::default() }
    }

    /// Returns the lines of an open code block that are printed and no longer needed.
    fn printed_code(&self, tail: &str) -> Option<Range<usize>> {
        let first = self.start + tail.get(self.start..)?.find('\n')? + 1;
        let last = line_start(tail, tail.len());
        (self.is_fenced && self.text_end >= last && first < last).then_some(first..last)
    }
}

/// The part of the tail that more text cannot change.
#[derive(Clone, Copy, Debug)]
struct StablePart {
    end: usize,
    /// The mark at its end that may still open a span.
    mark: Option<usize>,
}

impl StablePart {
    fn find(tail: &str, events: &[SourceEvent<'_>]) -> Self {
        let last = line_start(tail, tail.len());
        let previous = line_start(tail, last.saturating_sub(1));
        let line = tail.get(last..).unwrap_or_default();
        // Marks and digits may become an item, a rule or a fence, or change the previous line.
        let is_undecided = line.chars().all(|c| {
            c.is_ascii_punctuation() || c.is_ascii_digit() || c.is_whitespace() || c == BARRIER
        });
        let is_verbatim = matches!(last_leaf(events, tail.len()), (Some(leaf), _) if is_code(leaf));
        let may_be_heading = |line: &str| !is_verbatim && starts_with_bar(line);
        let end = if is_undecided && may_be_heading(tail.get(previous..last).unwrap_or_default()) {
            previous
        } else if is_undecided || is_verbatim || starts_with_bar(line) {
            last
        } else {
            tail.len()
        };
        let (leaf, spans) = last_leaf(events, end);
        // A backslash at the end of a line is a line break if another line follows.
        let text = tail.get(..end).unwrap_or_default();
        let text = text.strip_suffix('\n').unwrap_or(text).strip_suffix('\\');
        let is_code = leaf.is_some_and(is_code);
        let end = text.filter(|_| !is_code).map_or(end, str::len);
        let whole = Self { end, mark: None };
        let text_end = spans.last().map_or(0, |(_, range)| range.end);
        let is_ended = tail.get(text_end..).is_some_and(|rest| rest.matches('\n').count() > 1);
        if is_ended || is_code {
            return whole;
        }
        whole.before_open_span(tail, spans)
    }

    /// Excludes the first span that may still change, and everything after it.
    fn before_open_span(self, tail: &str, spans: &[SourceEvent<'_>]) -> Self {
        // The marks at the end of a span may belong to a longer run of marks.
        let may_grow = |end: usize| {
            let rest = tail.get(end..).unwrap_or_default();
            rest.trim_start_matches(['*', '_', '~', '`']).is_empty()
        };
        // Text within a span is only as certain as the whole span.
        let mut depth = 0_usize;
        let mut outermost = 0;
        let mut open: Vec<Self> = Vec::new();
        let mut read = 0;
        'spans: for (event, range) in spans {
            match event {
                Event::Start(_) | Event::Code(_) | Event::InlineHtml(_)
                    if depth == 0 && (range.end > self.end || may_grow(range.end)) =>
                {
                    open.push(Self { end: range.start, mark: None });
                    break;
                }
                Event::Start(_) => {
                    outermost = if depth == 0 { range.start } else { outermost };
                    depth += 1;
                }
                Event::End(_) => depth = depth.saturating_sub(1),
                Event::Text(text) if text.len() == range.len() => {
                    let is_escaped = read < range.start
                        && tail.get(..range.start).is_some_and(|text| text.ends_with('\\'));
                    for (index, c) in text.char_indices().skip(usize::from(is_escaped)) {
                        let at = range.start + index;
                        let end = if depth > 0 { outermost } else { at };
                        match c {
                            ']' if !matches!(tail.as_bytes().get(at + 1), None | Some(b'(')) => {
                                open.pop();
                            }
                            '[' => open.push(Self { end, mark: Some(at) }),
                            _ if may_open_span(tail, at, c) => {
                                open.push(Self { end, mark: Some(at) });
                                break 'spans;
                            }
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
            read = range.end;
        }
        open.first().map_or(self, |first| Self { end: first.end.min(self.end), ..*first })
    }
}

fn cut_text<'a>(event: Event<'a>, range: &Range<usize>, end: usize) -> Event<'a> {
    match event {
        Event::Text(text) if range.end > end => {
            let is_literal = text.len() == range.len();
            let part = text.get(..end.saturating_sub(range.start)).filter(|_| is_literal);
            Event::Text(part.unwrap_or_default().to_owned().into())
        }
        event => event,
    }
}

fn content<'e, 'a>(events: &'e [SourceEvent<'a>], end: usize) -> &'e [SourceEvent<'a>] {
    let is_content =
        |(event, range): &SourceEvent<'_>| !matches!(event, Event::End(_)) && range.start < end;
    let count = events.iter().rposition(is_content).map_or(0, |last| last + 1);
    events.get(..count).unwrap_or_default()
}

/// Returns the last block that has content before `end`, and the spans of that content.
fn last_leaf<'e, 'a>(
    events: &'e [SourceEvent<'a>],
    end: usize,
) -> (Option<&'e Event<'a>>, &'e [SourceEvent<'a>]) {
    let content = content(events, end);
    let leaf = content.iter().rposition(|(event, _)| is_block(event));
    let spans = content.get(leaf.map_or(0, |leaf| leaf + 1)..).unwrap_or_default();
    (leaf.and_then(|leaf| content.get(leaf)).map(|(event, _)| event), spans)
}

const fn is_code(event: &Event<'_>) -> bool {
    matches!(event, Event::Start(Tag::CodeBlock(_) | Tag::HtmlBlock))
}

fn is_block(event: &Event<'_>) -> bool {
    let tag = match event {
        Event::Start(tag) => tag.to_end(),
        Event::End(tag) => *tag,
        _ => return false,
    };
    let is_span = matches!(
        tag,
        TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::Link | TagEnd::Image
    );
    !is_span
}

/// Returns whether a mark that is text so far may open a span once more text follows.
fn may_open_span(tail: &str, at: usize, mark: char) -> bool {
    let mut after = tail.get(at..).unwrap_or_default().chars().skip(1);
    match mark {
        '`' => true,
        '<' => after.next().is_none_or(|c| c.is_ascii_alphabetic() || "/!?".contains(c)),
        '*' | '_' | '~' => {
            let next = after.take(MAX_HELD).find(|c| *c != mark);
            let before = tail.get(..at).and_then(|text| text.chars().next_back());
            let in_word = mark == '_' && before.is_some_and(char::is_alphanumeric);
            !in_word && next.is_none_or(|c| !c.is_whitespace())
        }
        _ => false,
    }
}

/// Returns whether the text ends with the delimiter row of a table without leading bars.
fn ends_with_bare_ruler(text: &str) -> bool {
    let start = line_start(text, text.len());
    let line = text.get(start..).unwrap_or_default();
    let heading = text.get(line_start(text, start.saturating_sub(1))..start).unwrap_or_default();
    let is_ruler = line.chars().all(|c| "-:| \t>".contains(c))
        && line.contains('-')
        && line.contains([':', '|']);
    let has_bar = line.trim_start_matches([' ', '\t', '>']).starts_with('|');
    is_ruler && !(has_bar && starts_with_bar(heading))
}

/// Returns whether a line has a leading bar, after the markers of quotes and items.
fn starts_with_bar(line: &str) -> bool {
    line.trim_start_matches(|c: char| " \t>-+*.)".contains(c) || c.is_ascii_digit())
        .starts_with('|')
}

/// Returns whether the line before this offset is blank; `None` if there is no such line.
pub(super) fn follows_blank_line(source: &str, at: usize) -> Option<bool> {
    let start = line_start(source, at);
    let before = source.get(line_start(source, start.checked_sub(1)?)..start)?;
    Some(before.trim_matches([' ', '\t', '\n', '>']).is_empty())
}

fn line_start(text: &str, at: usize) -> usize {
    text.get(..at).and_then(|text| text.rfind('\n')).map_or(0, |end| end + 1)
}

#[cfg(test)]
#[path = "stream_tests.rs"]
mod tests;
