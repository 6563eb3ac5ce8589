//! Finds the calls between the words, and leaves code alone.

use memchr::{memchr, memchr2, memchr3};

use crate::parse::dialect::Dialect;
use crate::parse::tag;
use crate::parse::tag::{Coming, Read, Tag};

/// How far ahead the end of a code span, or of the line that opens a fence, is looked for.
const LOOK_AHEAD: usize = 1024;
/// Longer runs of backticks inside of a line are no code spans.
const LONGEST_SPAN_MARK: usize = 8;

/// Where in a text without calls the parser is.
#[derive(Debug)]
pub(super) struct Prose {
    /// Whether the line so far has only what may stand before a fence.
    line_blank: bool,
    fence: Option<Fence>,
}

#[derive(Clone, Copy, Debug)]
struct Fence {
    mark: u8,
    length: usize,
}

/// How far the text is certain, and the call that begins there.
pub(super) struct Next<'a> {
    pub(super) upto: usize,
    pub(super) call: Option<Tag<'a>>,
}

enum Step<'a> {
    /// Text up to here.
    Go(usize),
    /// Text up to here, and more input is needed.
    Stop(usize),
    /// A call begins here.
    Call(usize, Tag<'a>),
}

impl Prose {
    pub(super) const fn new() -> Self {
        Self { line_blank: true, fence: None }
    }

    /// Reads on from `at`.
    pub(super) fn advance<'a>(
        &mut self,
        source: &'a str,
        at: usize,
        coming: Coming,
        dialect: &Dialect,
    ) -> Next<'a> {
        let mut scan = at;
        loop {
            let step = match self.fence {
                Some(fence) => self.in_fence(fence, source, (at, scan), coming),
                None => self.outside(source, (at, scan), coming, dialect),
            };
            let next = match step {
                Step::Go(next) => {
                    scan = next;
                    continue;
                }
                Step::Stop(upto) => Next { upto, call: None },
                Step::Call(upto, tag) => Next { upto, call: Some(tag) },
            };
            self.pass(source, at, next.upto);
            return next;
        }
    }

    /// Takes note that the text from `at` to `upto` is behind.
    pub(super) fn pass(&mut self, source: &str, at: usize, upto: usize) {
        self.line_blank = self.is_blank(source, at, upto);
    }

    /// Whether only indentation and the marks of lists and quotes stand in the line before `upto`.
    fn is_blank(&self, source: &str, at: usize, upto: usize) -> bool {
        let bytes = source.as_bytes().get(at..upto).unwrap_or_default();
        let margin = |byte: &u8| {
            matches!(byte, b' ' | b'\t' | b'>' | b'-' | b'*' | b'+' | b'.' | b')' | b'0'..=b'9')
        };
        match bytes.iter().rev().find(|byte| !margin(byte)) {
            Some(byte) => *byte == b'\n',
            None => self.line_blank,
        }
    }

    fn outside<'a>(
        &mut self,
        source: &'a str,
        (at, scan): (usize, usize),
        coming: Coming,
        dialect: &Dialect,
    ) -> Step<'a> {
        let bytes = source.as_bytes();
        let rest = bytes.get(scan..).unwrap_or_default();
        let Some(place) = memchr3(b'<', b'`', b'~', rest).map(|offset| scan + offset) else {
            return Step::Stop(bytes.len());
        };
        match bytes.get(place) {
            Some(b'<') => {
                let wanted = |name: tag::Name<'_>| !name.closing && dialect.knows(name);
                match tag::read(source, place, coming, wanted) {
                    Read::Tag(tag) => Step::Call(place, tag),
                    Read::Wait => Step::Stop(place),
                    Read::Other => Step::Go(place + 1),
                }
            }
            Some(&mark) => {
                let length = run(bytes, place, mark);
                let end = place + length;
                if end == bytes.len() && coming == Coming::More {
                    return Step::Stop(place);
                }
                let fence = length >= 3 && self.is_blank(source, at, place);
                match mark {
                    b'~' if fence => {
                        self.fence = Some(Fence { mark, length });
                        Step::Go(end)
                    }
                    b'~' => Step::Go(end),
                    _ => self.backticks(bytes, (place, length), coming, fence),
                }
            }
            None => Step::Stop(bytes.len()),
        }
    }

    /// A fence, a code span, or only backticks.
    fn backticks<'a>(
        &mut self,
        bytes: &[u8],
        (place, length): (usize, usize),
        coming: Coming,
        may_be_fence: bool,
    ) -> Step<'a> {
        let end = place + length;
        let ahead = bytes.get(end..).unwrap_or_default();
        let window = ahead.get(..LOOK_AHEAD).unwrap_or(ahead);
        let certain = coming == Coming::Nothing || window.len() == LOOK_AHEAD;
        let unknown = if certain { Step::Go(end) } else { Step::Stop(place) };
        let mut from = 0;
        while let Some(found) = memchr2(b'`', b'\n', window.get(from..).unwrap_or_default()) {
            let found = from + found;
            if window.get(found) == Some(&b'\n') {
                // Backticks may not stand in the line that opens a fence, so this is the first.
                if may_be_fence && from == 0 {
                    self.fence = Some(Fence { mark: b'`', length });
                    return Step::Go(end + found);
                }
                return Step::Go(end);
            }
            let closing = run(window, found, b'`');
            from = found + closing;
            if from == window.len() && !certain {
                return Step::Stop(place);
            }
            if length > LONGEST_SPAN_MARK {
                return Step::Go(end);
            }
            if closing == length {
                return Step::Go(end + from);
            }
        }
        unknown
    }

    fn in_fence<'a>(
        &mut self,
        fence: Fence,
        source: &str,
        (at, scan): (usize, usize),
        coming: Coming,
    ) -> Step<'a> {
        let bytes = source.as_bytes();
        let rest = bytes.get(scan..).unwrap_or_default();
        let Some(place) = memchr(fence.mark, rest).map(|offset| scan + offset) else {
            return Step::Stop(bytes.len());
        };
        let length = run(bytes, place, fence.mark);
        let end = place + length;
        if end == bytes.len() && coming == Coming::More {
            return Step::Stop(place);
        }
        if length < fence.length || !self.is_blank(source, at, place) {
            return Step::Go(end);
        }
        let ahead = bytes.get(end..).unwrap_or_default();
        let window = ahead.get(..LOOK_AHEAD).unwrap_or(ahead);
        match window.iter().find(|byte| !matches!(byte, b' ' | b'\t' | b'\r')) {
            Some(b'\n') => {
                self.fence = None;
                Step::Go(end)
            }
            None if coming == Coming::More && window.len() < LOOK_AHEAD => Step::Stop(place),
            _ => Step::Go(end),
        }
    }
}

fn run(bytes: &[u8], from: usize, mark: u8) -> usize {
    bytes.get(from..).unwrap_or_default().iter().take_while(|byte| **byte == mark).count()
}

#[cfg(test)]
#[path = "prose_tests.rs"]
mod tests;
