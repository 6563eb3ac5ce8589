//! Finds the end of a parameter's value, wherever its closing tag only seems to stand.

use memchr::{memchr, memchr2};

use crate::parse::call::PARAMETERS;
use crate::parse::dialect::WRAPPERS;
use crate::parse::strings::{find, skip_space};
use crate::parse::tag;
use crate::parse::tag::{Coming, Read, literal_at};

const CDATA: &str = "<![CDATA[";

/// What a value should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A name or an address: no tag can be a part of it.
    Word,
    /// JSON, or elements.
    Json,
    /// Anything.
    Raw,
}

/// A value that is being read. Offsets count from the beginning of the call.
#[derive(Debug)]
pub(super) struct ValueScan {
    pub(super) name: String,
    pub(super) start: usize,
    kind: Kind,
    cursor: usize,
    mode: Mode,
}

/// Where a value ends.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ValueEnd {
    pub(super) value_end: usize,
    /// Where what follows begins.
    pub(super) after: usize,
    pub(super) badly_closed: bool,
}

#[derive(Clone, Copy, Debug)]
enum Mode {
    Start,
    Raw,
    Cdata,
    Json(Json),
}

/// Where in a JSON text the cursor is. Strings are tracked so that a tag inside of one is data.
#[derive(Clone, Copy, Debug)]
enum Json {
    Outside,
    LineComment,
    BlockComment,
    String(u8),
    Escape(u8),
    /// After a quote. It ended the string only if what may follow a string follows: a quote that
    /// should have been escaped must not turn the rest inside out.
    Quote(u8),
}

enum Move {
    To(Mode, usize),
    Wait,
    End(ValueEnd),
}

impl ValueScan {
    pub(super) const fn new(name: String, kind: Kind, start: usize) -> Self {
        Self { name, start, kind, cursor: start, mode: Mode::Start }
    }

    /// Whether the value was read as JSON.
    pub(super) const fn is_json(&self) -> bool {
        matches!(self.mode, Mode::Json(_))
    }

    /// Reads on, and says where the value ends if that is known.
    pub(super) fn advance(
        &mut self,
        text: &str,
        coming: Coming,
        element: &str,
    ) -> Option<ValueEnd> {
        loop {
            let step = match self.mode {
                Mode::Start => self.begin(text),
                Mode::Raw => self.raw(text, coming, element),
                Mode::Cdata => match find(text, self.cursor, "]]>") {
                    Some(place) => Move::To(Mode::Raw, place + 3),
                    None => {
                        self.cursor = self.cursor.max(text.len().saturating_sub(2));
                        Move::Wait
                    }
                },
                Mode::Json(state) => self.json(state, text, coming, element),
            };
            match step {
                Move::To(mode, cursor) => (self.mode, self.cursor) = (mode, cursor),
                Move::Wait => return None,
                Move::End(end) => return Some(end),
            }
        }
    }

    /// The first closing tag, wherever it stands.
    pub(super) fn first_close(&self, text: &str) -> Option<ValueEnd> {
        let opening = format!("</{}", self.name);
        let mut from = self.start;
        while let Some(place) = find(text, from, &opening) {
            if let Read::Tag(tag) =
                tag::read(text, place, Coming::Nothing, |name| name.fits(&self.name))
            {
                let badly_closed = false;
                return Some(ValueEnd { value_end: place, after: tag.end, badly_closed });
            }
            from = place + 1;
        }
        None
    }

    fn begin(&mut self, text: &str) -> Move {
        let first = skip_space(text, self.cursor);
        self.cursor = first;
        match (self.kind, text.as_bytes().get(first)) {
            (_, None) => Move::Wait,
            (Kind::Json, Some(b'{' | b'[' | b'"' | b'`')) => {
                Move::To(Mode::Json(Json::Outside), first)
            }
            _ => Move::To(Mode::Raw, first),
        }
    }

    fn raw(&mut self, text: &str, coming: Coming, element: &str) -> Move {
        let ahead = text.as_bytes().get(self.cursor..).unwrap_or_default();
        let Some(offset) = memchr(b'<', ahead) else {
            self.cursor = text.len();
            return Move::Wait;
        };
        let place = self.cursor + offset;
        self.cursor = place;
        match literal_at(text, place, coming, CDATA) {
            Some(true) => return Move::To(Mode::Cdata, place + CDATA.len()),
            None => return Move::Wait,
            Some(false) => {}
        }
        let is_word = self.kind == Kind::Word;
        let wanted = |name: tag::Name<'_>| {
            if name.closing {
                is_word || name.fits(&self.name)
            } else {
                is_word && PARAMETERS.iter().chain(&WRAPPERS).any(|known| name.fits(known))
            }
        };
        match tag::read(text, place, coming, wanted) {
            Read::Wait => Move::Wait,
            Read::Other => Move::To(Mode::Raw, place + 1),
            Read::Tag(tag) => {
                let own = tag.closing && tag.name == self.name;
                let belongs_to_call = !tag.closing || tag.name == element;
                let after = if own || !belongs_to_call { tag.end } else { place };
                Move::End(ValueEnd { value_end: place, after, badly_closed: !own })
            }
        }
    }

    fn json(&mut self, state: Json, text: &str, coming: Coming, element: &str) -> Move {
        let at = self.cursor;
        let ahead = text.as_bytes().get(at..).unwrap_or_default();
        let Some(&byte) = ahead.first() else { return Move::Wait };
        let to = |state, cursor| Move::To(Mode::Json(state), cursor);
        match state {
            Json::Outside => {
                let place = ahead.iter().position(|b| matches!(b, b'"' | b'\'' | b'/' | b'<'));
                let Some(place) = place.map(|offset| at + offset) else {
                    return to(state, text.len());
                };
                self.cursor = place;
                match text.as_bytes().get(place) {
                    Some(b'<') => self.close_or(Json::Outside, text, coming, element),
                    Some(b'/') => match text.as_bytes().get(place + 1) {
                        None if coming == Coming::More => Move::Wait,
                        Some(b'/') => to(Json::LineComment, place + 2),
                        Some(b'*') => to(Json::BlockComment, place + 2),
                        _ => to(Json::Outside, place + 1),
                    },
                    Some(&quote) => to(Json::String(quote), place + 1),
                    None => Move::Wait,
                }
            }
            Json::LineComment => match memchr2(b'\n', b'<', ahead) {
                Some(offset) if ahead.get(offset) == Some(&b'<') => {
                    self.cursor = at + offset;
                    self.close_or(state, text, coming, &self.name)
                }
                Some(offset) => to(Json::Outside, at + offset),
                None => to(state, text.len()),
            },
            Json::BlockComment => match find(text, at, "*/") {
                Some(place) => to(Json::Outside, place + 2),
                None => {
                    self.cursor = at.max(text.len().saturating_sub(1));
                    Move::Wait
                }
            },
            Json::String(quote) => match memchr2(quote, b'\\', ahead) {
                Some(offset) if ahead.get(offset) == Some(&b'\\') => {
                    to(Json::Escape(quote), at + offset + 1)
                }
                Some(offset) => to(Json::Quote(quote), at + offset + 1),
                None => to(state, text.len()),
            },
            // Whatever is escaped, its first byte is neither a quote nor a backslash to look at.
            Json::Escape(quote) => to(Json::String(quote), at + 1),
            Json::Quote(quote) => match (byte, ahead.get(1)) {
                (b' ' | b'\t' | b'\r' | b'\n', _) => to(state, skip_space(text, at)),
                (b',' | b':' | b'}' | b']', _) => to(Json::Outside, at),
                (b'/', None) if coming == Coming::More => Move::Wait,
                (b'/', Some(b'/' | b'*')) => to(Json::Outside, at),
                (b'<', _) => self.close_or(Json::String(quote), text, coming, &self.name),
                (other, _) if other == quote => to(state, at + 1),
                _ => to(Json::String(quote), at),
            },
        }
    }

    /// The end, if the value's closing tag stands at the cursor, or that of `element` around it;
    /// else one further in `state`.
    fn close_or(&self, state: Json, text: &str, coming: Coming, element: &str) -> Move {
        let place = self.cursor;
        let wanted =
            |name: tag::Name<'_>| name.closing && (name.fits(&self.name) || name.fits(element));
        match tag::read(text, place, coming, wanted) {
            Read::Wait => Move::Wait,
            Read::Other => Move::To(Mode::Json(state), place + 1),
            Read::Tag(tag) => {
                let badly_closed = tag.name != self.name;
                let after = if badly_closed { place } else { tag.end };
                Move::End(ValueEnd { value_end: place, after, badly_closed })
            }
        }
    }
}
