//! Detection of the end of a parameter's value, which may itself contain closing tags.

use memchr::{memchr, memchr2};

use crate::parse::call::PARAMETERS;
use crate::parse::dialect::WRAPPERS;
use crate::parse::strings::{find, skip_space};
use crate::parse::tag::{self, MoreInput, TagRead, literal_at};

const CDATA: &str = "<![CDATA[";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueKind {
    // A name or a URI, which cannot contain a tag: any closing tag ends it.
    Word,
    Json,
    Raw,
}

/// A value being scanned. Offsets are relative to the start of the call.
#[derive(Debug)]
pub(super) struct ValueScan {
    pub(super) name: String,
    pub(super) start: usize,
    kind: ValueKind,
    cursor: usize,
    mode: ScanMode,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct ValueEnd {
    pub(super) value_end: usize,
    /// Offset after the closing tag.
    pub(super) after: usize,
    pub(super) badly_closed: bool,
}

#[derive(Clone, Copy, Debug)]
enum ScanMode {
    Start,
    Raw,
    Cdata,
    Json(JsonState),
}

// Strings are tracked because a tag inside of one is data.
#[derive(Clone, Copy, Debug)]
enum JsonState {
    Outside,
    LineComment,
    BlockComment,
    String(u8),
    Escape(u8),
    // After a quote. It ends the string only before a token that can follow one. Otherwise, an
    // unescaped quote would swap strings and structure in the rest of the text.
    Quote(u8),
}

enum ScanMove {
    To(ScanMode, usize),
    Wait,
    End(ValueEnd),
}

impl ValueScan {
    pub(super) const fn new(name: String, kind: ValueKind, start: usize) -> Self {
        Self { name, start, kind, cursor: start, mode: ScanMode::Start }
    }

    pub(super) const fn is_json(&self) -> bool {
        matches!(self.mode, ScanMode::Json(_))
    }

    /// Scans further, and returns the end of the value once it is known.
    pub(super) fn advance(
        &mut self,
        text: &str,
        coming: MoreInput,
        element: &str,
    ) -> Option<ValueEnd> {
        loop {
            let step = match self.mode {
                ScanMode::Start => self.begin(text),
                ScanMode::Raw => self.raw(text, coming, element),
                ScanMode::Cdata => match find(text, self.cursor, "]]>") {
                    Some(place) => ScanMove::To(ScanMode::Raw, place + 3),
                    None => {
                        // The last two bytes may be the start of `]]>`.
                        self.cursor = self.cursor.max(text.len().saturating_sub(2));
                        ScanMove::Wait
                    }
                },
                ScanMode::Json(state) => self.json(state, text, coming, element),
            };
            match step {
                ScanMove::To(mode, cursor) => (self.mode, self.cursor) = (mode, cursor),
                ScanMove::Wait => return None,
                ScanMove::End(end) => return Some(end),
            }
        }
    }

    /// Returns the first closing tag, including one inside of a string.
    pub(super) fn first_close(&self, text: &str) -> Option<ValueEnd> {
        let opening = format!("</{}", self.name);
        let mut from = self.start;
        while let Some(place) = find(text, from, &opening) {
            if let TagRead::Tag(tag) =
                tag::read_tag(text, place, MoreInput::Never, |name| name.fits(&self.name))
            {
                let badly_closed = false;
                return Some(ValueEnd { value_end: place, after: tag.end, badly_closed });
            }
            from = place + 1;
        }
        None
    }

    fn begin(&mut self, text: &str) -> ScanMove {
        let first = skip_space(text, self.cursor);
        self.cursor = first;
        match (self.kind, text.as_bytes().get(first)) {
            (_, None) => ScanMove::Wait,
            // A backtick opens a code fence, which the parser of arguments removes.
            (ValueKind::Json, Some(b'{' | b'[' | b'"' | b'`')) => {
                ScanMove::To(ScanMode::Json(JsonState::Outside), first)
            }
            _ => ScanMove::To(ScanMode::Raw, first),
        }
    }

    fn raw(&mut self, text: &str, coming: MoreInput, element: &str) -> ScanMove {
        let ahead = text.as_bytes().get(self.cursor..).unwrap_or_default();
        let Some(offset) = memchr(b'<', ahead) else {
            self.cursor = text.len();
            return ScanMove::Wait;
        };
        let place = self.cursor + offset;
        self.cursor = place;
        match literal_at(text, place, coming, CDATA) {
            Some(true) => return ScanMove::To(ScanMode::Cdata, place + CDATA.len()),
            None => return ScanMove::Wait,
            Some(false) => {}
        }
        let is_word = self.kind == ValueKind::Word;
        let wanted = |name: tag::TagName<'_>| {
            if name.closing {
                is_word || name.fits(&self.name)
            } else {
                is_word && PARAMETERS.iter().chain(&WRAPPERS).any(|known| name.fits(known))
            }
        };
        match tag::read_tag(text, place, coming, wanted) {
            TagRead::Wait => ScanMove::Wait,
            TagRead::Other => ScanMove::To(ScanMode::Raw, place + 1),
            TagRead::Tag(tag) => {
                // A tag of the call itself is left for the call; a wrong closing tag is consumed.
                let own = tag.closing && tag.name == self.name;
                let belongs_to_call = !tag.closing || tag.name == element;
                let after = if own || !belongs_to_call { tag.end } else { place };
                ScanMove::End(ValueEnd { value_end: place, after, badly_closed: !own })
            }
        }
    }

    fn json(&mut self, state: JsonState, text: &str, coming: MoreInput, element: &str) -> ScanMove {
        let at = self.cursor;
        let ahead = text.as_bytes().get(at..).unwrap_or_default();
        let Some(&byte) = ahead.first() else { return ScanMove::Wait };
        let to = |state, cursor| ScanMove::To(ScanMode::Json(state), cursor);
        match state {
            JsonState::Outside => {
                let place = ahead.iter().position(|b| matches!(b, b'"' | b'\'' | b'/' | b'<'));
                let Some(place) = place.map(|offset| at + offset) else {
                    return to(state, text.len());
                };
                self.cursor = place;
                match text.as_bytes().get(place) {
                    Some(b'<') => self.close_or(JsonState::Outside, text, coming, element),
                    Some(b'/') => match text.as_bytes().get(place + 1) {
                        None if coming == MoreInput::Possible => ScanMove::Wait,
                        Some(b'/') => to(JsonState::LineComment, place + 2),
                        Some(b'*') => to(JsonState::BlockComment, place + 2),
                        _ => to(JsonState::Outside, place + 1),
                    },
                    Some(&quote) => to(JsonState::String(quote), place + 1),
                    None => ScanMove::Wait,
                }
            }
            JsonState::LineComment => match memchr2(b'\n', b'<', ahead) {
                Some(offset) if ahead.get(offset) == Some(&b'<') => {
                    self.cursor = at + offset;
                    self.close_or(state, text, coming, &self.name)
                }
                Some(offset) => to(JsonState::Outside, at + offset),
                None => to(state, text.len()),
            },
            JsonState::BlockComment => match find(text, at, "*/") {
                Some(place) => to(JsonState::Outside, place + 2),
                None => {
                    self.cursor = at.max(text.len().saturating_sub(1));
                    ScanMove::Wait
                }
            },
            JsonState::String(quote) => match memchr2(quote, b'\\', ahead) {
                Some(offset) if ahead.get(offset) == Some(&b'\\') => {
                    to(JsonState::Escape(quote), at + offset + 1)
                }
                Some(offset) => to(JsonState::Quote(quote), at + offset + 1),
                None => to(state, text.len()),
            },
            // Skip the first byte of the escape: it is neither a closing quote nor another escape.
            JsonState::Escape(quote) => to(JsonState::String(quote), at + 1),
            JsonState::Quote(quote) => match (byte, ahead.get(1)) {
                (b' ' | b'\t' | b'\r' | b'\n', _) => to(state, skip_space(text, at)),
                (b',' | b':' | b'}' | b']', _) => to(JsonState::Outside, at),
                (b'/', None) if coming == MoreInput::Possible => ScanMove::Wait,
                (b'/', Some(b'/' | b'*')) => to(JsonState::Outside, at),
                (b'<', _) => self.close_or(JsonState::String(quote), text, coming, &self.name),
                (other, _) if other == quote => to(state, at + 1),
                _ => to(JsonState::String(quote), at),
            },
        }
    }

    /// Returns the end if the closing tag of the value or of the enclosing `element` is at the
    /// cursor. Otherwise, continues one byte later in `state`.
    fn close_or(&self, state: JsonState, text: &str, coming: MoreInput, element: &str) -> ScanMove {
        let place = self.cursor;
        let wanted =
            |name: tag::TagName<'_>| name.closing && (name.fits(&self.name) || name.fits(element));
        match tag::read_tag(text, place, coming, wanted) {
            TagRead::Wait => ScanMove::Wait,
            TagRead::Other => ScanMove::To(ScanMode::Json(state), place + 1),
            TagRead::Tag(tag) => {
                let badly_closed = tag.name != self.name;
                let after = if badly_closed { place } else { tag.end };
                ScanMove::End(ValueEnd { value_end: place, after, badly_closed })
            }
        }
    }
}
