//! Excerpts of untrusted text and values: escaped and bounded in length.

use std::fmt::Write as _;
use std::io;

use serde_json::Value;

use crate::characters;
use crate::characters::is_ambiguous;

/// Maximum number of characters in the excerpt of a value.
pub const MAX_VALUE_CHARS: usize = 80;

/// Returns at most `limit` characters of a text, with invisible characters escaped.
#[must_use]
pub fn excerpt_text(text: &str, limit: usize) -> String {
    if text.len() <= limit && text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return text.to_owned();
    }
    let mut shown = String::new();
    let mut length = 0;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let mut piece = String::new();
        if is_hidden(character) {
            // Writing to a string cannot fail.
            let _ = write!(piece, "\\u{{{:x}}}", u32::from(character));
        } else {
            piece.push(character);
        }
        length += piece.chars().count();
        // Unless this is the last character, one place is reserved for the ellipsis.
        let room = if characters.peek().is_some() { limit.saturating_sub(1) } else { limit };
        if length > room {
            shown.push('…');
            break;
        }
        shown.push_str(&piece);
    }
    shown
}

/// Returns the JSON text of a value, escaped and truncated to [`MAX_VALUE_CHARS`].
#[must_use]
pub fn excerpt_value(value: &Value) -> String {
    // A character has at most four bytes; one character more shows that the text was truncated.
    let mut beginning = PrefixWriter { bytes: Vec::new(), room: 4 * (MAX_VALUE_CHARS + 1) };
    // The only possible error is that the room is used up: it stops the serialization.
    let _ = serde_json::to_writer(&mut beginning, value);
    excerpt_text(&String::from_utf8_lossy(&beginning.bytes), MAX_VALUE_CHARS)
}

/// Keeps the first bytes and rejects the rest, so that a large value is not serialized completely.
struct PrefixWriter {
    bytes: Vec<u8>,
    room: usize,
}

impl io::Write for PrefixWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(self.room);
        self.bytes.extend(bytes.iter().take(taken));
        self.room -= taken;
        if taken == 0 && !bytes.is_empty() {
            return Err(io::ErrorKind::WriteZero.into());
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn is_hidden(character: char) -> bool {
    character.is_control()
        || characters::is_hidden(character)
        || characters::is_variation_selector(character)
        || matches!(character, '\u{2800}' | '\u{e000}'..='\u{f8ff}')
}

/// Returns `text` truncated to 120 characters, with control and invisible characters escaped.
pub fn sanitize(text: &str) -> String {
    const MAX_CHARS: usize = 120;
    let mut safe: String = text.chars().take(MAX_CHARS).collect();
    if safe.len() < text.len() {
        safe.push('…');
    }
    sanitize_whole(&safe)
}

/// Returns `text` with every invisible character escaped, in full length.
pub fn sanitize_whole(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        if is_unsafe(character) {
            safe.extend(character.escape_default());
        } else {
            safe.push(character);
        }
    }
    safe
}

/// Returns whether `text` contains only visible, unambiguous characters.
pub fn is_visible(text: &str) -> bool {
    !text.contains(is_unsafe)
}

fn is_unsafe(character: char) -> bool {
    character.is_control() || characters::is_hidden(character) || is_ambiguous(character)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn hidden_characters_are_shown_as_escapes() {
        let cases = [
            ("plain ü 搜", "plain ü 搜"),
            ("a\u{1b}[31m", "a\\u{1b}[31m"),
            ("a\u{202e}b", "a\\u{202e}b"),
            ("a\u{200b}b", "a\\u{200b}b"),
            ("\u{e0041}", "\\u{e0041}"),
        ];
        for (text, expected) in cases {
            assert_eq!(excerpt_text(text, 80), expected);
        }
    }

    #[test]
    fn text_is_cut_to_the_limit_and_says_so() {
        let cases = [("abcde", 5, "abcde"), ("abcdef", 5, "abcd…"), ("ab", 1, "…"), ("", 0, "")];
        for (text, limit, expected) in cases {
            assert_eq!(excerpt_text(text, limit), expected, "{text} {limit}");
        }
    }

    #[test]
    fn a_long_text_is_cut() {
        assert_eq!(sanitize(&"x".repeat(500)).chars().count(), 121);
    }

    #[test]
    fn a_large_value_is_shown_by_its_beginning() {
        let shown = excerpt_value(&json!(["a".repeat(100_000)]));
        assert_eq!(shown, format!("[\"{}…", "a".repeat(77)));
        assert_eq!(excerpt_value(&json!({"a": [1, null]})), "{\"a\":[1,null]}");
    }

    proptest! {
        #[test]
        fn nothing_hidden_and_nothing_long_is_shown(text in "\\PC{0,60}[\\x00-\\x1f]{0,3}\\PC{0,60}") {
            let shown = excerpt_value(&Value::String(text));
            prop_assert!(shown.chars().count() <= MAX_VALUE_CHARS);
            prop_assert!(!shown.chars().any(is_hidden));
        }
    }
}
