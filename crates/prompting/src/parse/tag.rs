//! Reading of a tag that may not be complete yet.

use crate::parse::strings::part;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum TagRead<'a> {
    Tag(Tag<'a>),
    Other,
    // The rest of a possible tag has not arrived yet.
    Wait,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Tag<'a> {
    pub(super) name: &'a str,
    pub(super) closing: bool,
    pub(super) empty: bool,
    pub(super) end: usize,
}

/// A tag name as far as it has arrived.
#[derive(Clone, Copy, Debug)]
pub(super) struct TagName<'a> {
    pub(super) text: &'a str,
    /// Whether more characters of the name may follow.
    pub(super) open: bool,
    pub(super) closing: bool,
}

impl TagName<'_> {
    /// Returns whether this is `name`, or a possible prefix of it.
    pub(super) fn fits(&self, name: &str) -> bool {
        if self.open { name.starts_with(self.text) } else { name == self.text }
    }
}

// Bounds how much text an unmatched `<` can hold back. A longer name or attribute list is text.
const MAX_TAG_LEN: usize = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MoreInput {
    Possible,
    Never,
}

/// Reads the tag at `at`, where there is a `<`, if `wanted` accepts its name.
pub(super) fn read_tag<'a>(
    source: &'a str,
    at: usize,
    coming: MoreInput,
    wanted: impl Fn(TagName<'_>) -> bool,
) -> TagRead<'a> {
    let bytes = source.as_bytes();
    let wait = if coming == MoreInput::Never { TagRead::Other } else { TagRead::Wait };
    if at + 1 == bytes.len() {
        return wait;
    }
    let closing = bytes.get(at + 1) == Some(&b'/');
    let begin = at + 1 + usize::from(closing);
    let rest = bytes.get(begin..).unwrap_or_default();
    let length = rest.iter().take(MAX_TAG_LEN).take_while(|byte| is_name_byte(**byte)).count();
    let name_end = begin + length;
    let name = TagName { text: part(source, begin, name_end), open: length == rest.len(), closing };
    if length == MAX_TAG_LEN || (length == 0 && !rest.is_empty()) || !wanted(name) {
        return TagRead::Other;
    }
    if name.open {
        return wait;
    }
    let mut quote = None;
    let mut before = 0;
    let attributes = bytes.get(name_end..).unwrap_or_default();
    for (index, &byte) in attributes.iter().take(MAX_TAG_LEN).enumerate() {
        if index == 0 && !(byte.is_ascii_whitespace() || matches!(byte, b'>' | b'/')) {
            return TagRead::Other;
        }
        match (quote, byte) {
            // A `>` inside of a quoted attribute does not end the tag.
            (Some(open), _) if byte == open => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'<') => return TagRead::Other,
            (None, b'>') => {
                let empty = before == b'/' && !closing;
                let end = name_end + index + 1;
                return TagRead::Tag(Tag { name: name.text, closing, empty, end });
            }
            (None, _) => {}
        }
        before = byte;
    }
    if attributes.len() < MAX_TAG_LEN { wait } else { TagRead::Other }
}

/// Returns whether `literal` is at `at`, or `None` if more input may complete it.
pub(super) fn literal_at(
    source: &str,
    at: usize,
    coming: MoreInput,
    literal: &str,
) -> Option<bool> {
    let rest = source.as_bytes().get(at..).unwrap_or_default();
    if rest.starts_with(literal.as_bytes()) {
        return Some(true);
    }
    let may_follow = coming == MoreInput::Possible && literal.as_bytes().starts_with(rest);
    if may_follow { None } else { Some(false) }
}

const fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':') || !byte.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::{MoreInput, Tag, TagRead, read_tag};

    #[test]
    fn a_tag_is_read_with_spaces_and_attributes_and_waits_while_it_is_half_there() {
        let tag = |closing, empty, end| TagRead::Tag(Tag { name: "ab", closing, empty, end });
        let cases = [
            ("<ab>", tag(false, false, 4)),
            ("<ab >x", tag(false, false, 5)),
            ("<ab c='>' d>", tag(false, false, 12)),
            ("<ab/>", tag(false, true, 5)),
            ("</ab\n>", tag(true, false, 6)),
            ("<", TagRead::Wait),
            ("<a", TagRead::Wait),
            ("</a", TagRead::Wait),
            ("<ab c='>'", TagRead::Wait),
            ("<b", TagRead::Other),
            ("<abc>", TagRead::Other),
            ("<ab <c>", TagRead::Other),
            ("< ab>", TagRead::Other),
        ];
        for (source, expected) in cases {
            assert_eq!(
                read_tag(source, 0, MoreInput::Possible, |name| name.fits("ab")),
                expected,
                "{source}"
            );
        }
        assert_eq!(read_tag("<a", 0, MoreInput::Never, |name| name.fits("ab")), TagRead::Other);
    }
}
