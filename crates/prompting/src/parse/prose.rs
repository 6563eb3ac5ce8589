//! Detection of calls in prose. Calls in code spans and fences are text.

use memchr::{memchr, memchr2, memchr3};

use crate::parse::dialect::CallDialect;
use crate::parse::tag::{self, MoreInput, Tag, TagRead};

// Bytes to search for the end of a code span, or of the line that opens a fence. An unmatched
// backtick holds back at most this much streamed text.
const MAX_LOOK_AHEAD: usize = 1024;
// A longer run of backticks within a line is text.
const MAX_SPAN_MARK: usize = 8;

/// State of the parser outside of calls.
#[derive(Debug)]
pub(super) struct Prose {
    /// Whether the current line only contains characters that may precede a fence.
    line_blank: bool,
    fence: Option<OpenFence>,
}

#[derive(Clone, Copy, Debug)]
struct OpenFence {
    mark: u8,
    length: usize,
}

/// The end of the text that is certain, and the call that starts there.
pub(super) struct NextCall<'a> {
    pub(super) upto: usize,
    pub(super) call: Option<Tag<'a>>,
}

/// The offset up to which the input is text, and how the scan continues there.
enum ProseStep<'a> {
    Go(usize),
    /// More input is needed.
    Stop(usize),
    Call(usize, Tag<'a>),
}

impl Prose {
    pub(super) const fn new() -> Self {
        Self { line_blank: true, fence: None }
    }

    /// Scans from `at` to the next call, or as far as the input is certain.
    pub(super) fn advance<'a>(
        &mut self,
        source: &'a str,
        at: usize,
        coming: MoreInput,
        dialect: &CallDialect,
    ) -> NextCall<'a> {
        let mut scan = at;
        loop {
            let step = match self.fence {
                Some(fence) => self.in_fence(fence, source, at, scan, coming),
                None => self.outside_fence(source, at, scan, coming, dialect),
            };
            let next = match step {
                ProseStep::Go(next) => {
                    scan = next;
                    continue;
                }
                ProseStep::Stop(upto) => NextCall { upto, call: None },
                ProseStep::Call(upto, tag) => NextCall { upto, call: Some(tag) },
            };
            self.advance_past(source, at, next.upto);
            return next;
        }
    }

    pub(super) fn advance_past(&mut self, source: &str, at: usize, upto: usize) {
        self.line_blank = self.is_blank(source, at, upto);
    }

    /// Returns whether a fence may start at `upto`.
    fn is_blank(&self, source: &str, at: usize, upto: usize) -> bool {
        let bytes = source.as_bytes().get(at..upto).unwrap_or_default();
        // A fence may be indented, quoted or inside of a list item.
        let margin = |byte: &u8| {
            matches!(byte, b' ' | b'\t' | b'>' | b'-' | b'*' | b'+' | b'.' | b')' | b'0'..=b'9')
        };
        match bytes.iter().rev().find(|byte| !margin(byte)) {
            Some(byte) => *byte == b'\n',
            None => self.line_blank,
        }
    }

    fn outside_fence<'a>(
        &mut self,
        source: &'a str,
        at: usize,
        scan: usize,
        coming: MoreInput,
        dialect: &CallDialect,
    ) -> ProseStep<'a> {
        let bytes = source.as_bytes();
        let rest = bytes.get(scan..).unwrap_or_default();
        let Some(place) = memchr3(b'<', b'`', b'~', rest).map(|offset| scan + offset) else {
            return ProseStep::Stop(bytes.len());
        };
        match bytes.get(place) {
            Some(b'<') => {
                let wanted = |name: tag::TagName<'_>| !name.closing && dialect.may_be_element(name);
                match tag::read_tag(source, place, coming, wanted) {
                    TagRead::Tag(tag) => ProseStep::Call(place, tag),
                    TagRead::Wait => ProseStep::Stop(place),
                    TagRead::Other => ProseStep::Go(place + 1),
                }
            }
            Some(&mark) => {
                // The run may be longer than what has arrived of it.
                let length = run_length(bytes, place, mark);
                let end = place + length;
                if end == bytes.len() && coming == MoreInput::Possible {
                    return ProseStep::Stop(place);
                }
                let fence = length >= 3 && self.is_blank(source, at, place);
                match mark {
                    b'~' if fence => {
                        self.fence = Some(OpenFence { mark, length });
                        ProseStep::Go(end)
                    }
                    b'~' => ProseStep::Go(end),
                    _ => self.backticks(bytes, place, length, coming, fence),
                }
            }
            None => ProseStep::Stop(bytes.len()),
        }
    }

    fn backticks<'a>(
        &mut self,
        bytes: &[u8],
        place: usize,
        length: usize,
        coming: MoreInput,
        may_be_fence: bool,
    ) -> ProseStep<'a> {
        let end = place + length;
        let ahead = bytes.get(end..).unwrap_or_default();
        let window = ahead.get(..MAX_LOOK_AHEAD).unwrap_or(ahead);
        let certain = coming == MoreInput::Never || window.len() == MAX_LOOK_AHEAD;
        let unknown = if certain { ProseStep::Go(end) } else { ProseStep::Stop(place) };
        let mut from = 0;
        while let Some(found) = memchr2(b'`', b'\n', window.get(from..).unwrap_or_default()) {
            let found = from + found;
            if window.get(found) == Some(&b'\n') {
                // By CommonMark, the line that opens a fence contains no other backticks.
                if may_be_fence && from == 0 {
                    self.fence = Some(OpenFence { mark: b'`', length });
                    return ProseStep::Go(end + found);
                }
                return ProseStep::Go(end);
            }
            let closing = run_length(window, found, b'`');
            from = found + closing;
            if from == window.len() && !certain {
                return ProseStep::Stop(place);
            }
            if length > MAX_SPAN_MARK {
                return ProseStep::Go(end);
            }
            if closing == length {
                return ProseStep::Go(end + from);
            }
        }
        unknown
    }

    fn in_fence<'a>(
        &mut self,
        fence: OpenFence,
        source: &str,
        at: usize,
        scan: usize,
        coming: MoreInput,
    ) -> ProseStep<'a> {
        let bytes = source.as_bytes();
        let rest = bytes.get(scan..).unwrap_or_default();
        let Some(place) = memchr(fence.mark, rest).map(|offset| scan + offset) else {
            return ProseStep::Stop(bytes.len());
        };
        let length = run_length(bytes, place, fence.mark);
        let end = place + length;
        if end == bytes.len() && coming == MoreInput::Possible {
            return ProseStep::Stop(place);
        }
        // By CommonMark, a fence ends with at least as many marks, alone on a line.
        if length < fence.length || !self.is_blank(source, at, place) {
            return ProseStep::Go(end);
        }
        let ahead = bytes.get(end..).unwrap_or_default();
        let window = ahead.get(..MAX_LOOK_AHEAD).unwrap_or(ahead);
        match window.iter().find(|byte| !matches!(byte, b' ' | b'\t' | b'\r')) {
            Some(b'\n') => {
                self.fence = None;
                ProseStep::Go(end)
            }
            None if coming == MoreInput::Possible && window.len() < MAX_LOOK_AHEAD => {
                ProseStep::Stop(place)
            }
            _ => ProseStep::Go(end),
        }
    }
}

fn run_length(bytes: &[u8], from: usize, mark: u8) -> usize {
    bytes.get(from..).unwrap_or_default().iter().take_while(|byte| **byte == mark).count()
}

#[cfg(test)]
#[path = "prose_tests.rs"]
mod tests;
