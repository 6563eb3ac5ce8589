//! Escapes untrusted text for display: no character in it can move, hide or reorder others.

use std::borrow::Cow;
use std::fmt::Write;

use crate::characters::{
    is_ambiguous, is_combining_mark, is_hidden, is_variation_selector, tag_letter,
};

/// Escapes multi-line text for display.
///
/// Control characters become `\e` or `\x07`, invisible and ambiguous ones `<U+200B>`, and letters
/// encoded as tag characters `<tags "…">`. Line feeds and tabs stay. Text that looks like one of
/// these escapes is escaped as well, so that [`unescape`] restores the original exactly.
#[must_use]
pub fn escape(text: &str) -> Cow<'_, str> {
    escape_with(text, EscapeMode::Several)
}

/// Escapes text for display on one line: like [`escape`], and line feeds become `\n`.
#[must_use]
pub fn escape_line(text: &str) -> Cow<'_, str> {
    escape_with(text, EscapeMode::One)
}

/// Escapes prose, on which no decision depends: like [`escape`], but keeps spaces of other widths.
#[must_use]
pub fn escape_prose(text: &str) -> Cow<'_, str> {
    with_spaces(text, escape)
}

/// Like [`escape_prose`], on one line.
#[must_use]
pub fn escape_prose_line(text: &str) -> Cow<'_, str> {
    with_spaces(text, escape_line)
}

fn with_spaces(text: &str, escape: impl Fn(&str) -> Cow<'_, str>) -> Cow<'_, str> {
    // French typography and some models use these spaces.
    let is_space = |c: char| {
        matches!(c, '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}')
    };
    if !text.contains(is_space) {
        return escape(text);
    }
    let mut out = String::with_capacity(text.len() + 32);
    for part in text.split_inclusive(is_space) {
        let words = part.trim_end_matches(is_space);
        out.push_str(&escape(words));
        out.push_str(part.get(words.len()..).unwrap_or_default());
    }
    Cow::Owned(out)
}

/// Escapes multi-line JSON text for display, without changing the escapes in it.
#[must_use]
pub fn escape_json(text: &str) -> Cow<'_, str> {
    escape_with(text, EscapeMode::Json)
}

/// Returns equivalent JSON in which every control and invisible character is a `\u` escape.
#[must_use]
pub fn encode_json_controls(text: &str) -> Cow<'_, str> {
    let hides =
        |c: char| (c.is_control() && !matches!(c, '\n' | '\t')) || is_hidden(c) || is_ambiguous(c);
    if !text.contains(hides) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 32);
    for c in text.chars() {
        if hides(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _ok = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Restores the text that [`escape`] was given.
#[must_use]
pub fn unescape(shown: &str) -> String {
    unescape_with(shown, EscapeMode::Several)
}

/// Restores the text that [`escape_line`] was given.
#[must_use]
pub fn unescape_line(shown: &str) -> String {
    unescape_with(shown, EscapeMode::One)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EscapeMode {
    Several,
    One,
    /// Several lines, in which a backslash starts a JSON escape.
    Json,
}

fn escape_with(text: &str, lines: EscapeMode) -> Cow<'_, str> {
    let Some(first) = first_change(text, lines) else { return Cow::Borrowed(text) };
    let Some((clean, mut rest)) = text.split_at_checked(first) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len() + 32);
    out.push_str(clean);
    let mut before = EscapeContext::after(clean);
    while let Some(c) = rest.chars().next() {
        if tag_letter(c).is_some() {
            let end = rest.find(|c| tag_letter(c).is_none()).unwrap_or(rest.len());
            let (tags, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
            push_tags(&mut out, tags);
            before = before.advance(c, after);
            rest = after;
            continue;
        }
        let after = rest.get(c.len_utf8()..).unwrap_or_default();
        if must_change(c, before, after, lines) {
            push_visible(&mut out, c, lines);
        } else {
            out.push(c);
        }
        before = before.advance(c, after);
        rest = after;
    }
    Cow::Owned(out)
}

/// Returns the position of the first character that must be escaped.
fn first_change(text: &str, lines: EscapeMode) -> Option<usize> {
    let harmless = |byte: u8| match byte {
        b'\\' | b'<' => false,
        b' '..=b'~' | b'\t' => true,
        b'\n' => lines != EscapeMode::One,
        _ => false,
    };
    // Most text is harmless ASCII, which needs no context.
    let from = text.bytes().position(|byte| !harmless(byte))?;
    let mut before = EscapeContext::after(text.get(..from).unwrap_or_default());
    text.get(from..)?.char_indices().find_map(|(at, c)| {
        let after = text.get(from + at + c.len_utf8()..).unwrap_or_default();
        let changes = must_change(c, before, after, lines);
        before = before.advance(c, after);
        changes.then_some(from + at)
    })
}

/// The context before a character.
#[derive(Debug, Clone, Copy)]
struct EscapeContext {
    last: char,
    /// Number of consecutive combining marks.
    marks: usize,
    /// Whether a visible character precedes them, which is displayed unchanged.
    has_base: bool,
}

/// Maximum number of combining marks on a letter. More of them overlap the lines above and below.
const MAX_MARKS: usize = 4;

impl EscapeContext {
    /// Returns the context at the end of a text that needs no escapes.
    fn after(text: &str) -> Self {
        let marks = text.chars().rev().take_while(|c| is_combining_mark(*c)).count();
        let base = text.chars().rev().find(|c| !is_combining_mark(*c));
        let has_base = base.is_some_and(|c| is_variation_selector(c) || carries_marks(c));
        Self { last: text.chars().next_back().unwrap_or('\0'), marks, has_base }
    }

    fn advance(self, c: char, after: &str) -> Self {
        let (marks, has_base) = match c {
            _ if is_combining_mark(c) => (self.marks + 1, self.has_base),
            '\u{fe00}'..='\u{fe0f}' => (0, self.takes_selector(after)),
            _ => (0, carries_marks(c)),
        };
        Self { last: c, marks, has_base }
    }

    /// Returns whether a variation selector here applies to an emoji or ideograph, and is visible.
    fn takes_selector(self, after: &str) -> bool {
        let keycap = matches!(self.last, '0'..='9' | '#' | '*') && after.starts_with('\u{20e3}');
        let can_change = |c: char| c >= '\u{a9}' && !is_hidden(c) && !is_ambiguous(c);
        keycap || can_change(self.last) && !is_variation_selector(self.last)
    }

    /// Returns whether an ideographic space is plausible here: directly after an ideograph.
    fn takes_wide_space(self) -> bool {
        self.last >= '\u{2e80}' && !is_hidden(self.last) && !is_ambiguous(self.last)
    }
}

/// Returns whether a combining mark on this character is recognizable as a mark.
fn carries_marks(c: char) -> bool {
    let is_drawn = !c.is_whitespace() && !c.is_control() && !is_hidden(c) && !is_ambiguous(c);
    is_drawn && !c.is_ascii_punctuation()
}

fn must_change(c: char, before: EscapeContext, after: &str, lines: EscapeMode) -> bool {
    match c {
        '\n' => matches!(lines, EscapeMode::One),
        '\t' => false,
        // Only if `unescape` would decode it: most backslashes, as in `C:\dir`, stay readable.
        '\\' => lines != EscapeMode::Json && decode_code(after, lines).is_some(),
        '<' => decode_hidden(after).is_some(),
        // One selector chooses the look of an emoji; several of them can carry hidden bytes.
        '\u{fe00}'..='\u{fe0f}' => !before.takes_selector(after),
        '\u{3000}' => !before.takes_wide_space(),
        _ if is_combining_mark(c) && !is_hidden(c) => before.marks >= MAX_MARKS || !before.has_base,
        _ => c.is_control() || is_hidden(c) || is_ambiguous(c),
    }
}

fn push_visible(out: &mut String, c: char, lines: EscapeMode) {
    // Writing to a string cannot fail.
    let _ok = match c {
        _ if lines == EscapeMode::Json && (c.is_control() || c.is_ascii()) => {
            write!(out, "\\u{:04x}", u32::from(c))
        }
        '\n' => write!(out, "\\n"),
        '\r' => write!(out, "\\r"),
        '\u{1b}' => write!(out, "\\e"),
        _ if c.is_control() || c.is_ascii() => write!(out, "\\x{:02x}", u32::from(c)),
        _ => write!(out, "<U+{:04X}>", u32::from(c)),
    };
}

fn push_tags(out: &mut String, tags: &str) {
    out.push_str("<tags \"");
    for letter in tags.chars().filter_map(tag_letter) {
        match letter {
            // These would end the quoted letters, or start an escape.
            '"' | '\\' => push_visible(out, letter, EscapeMode::Several),
            _ => out.push(letter),
        }
    }
    out.push_str("\">");
}

fn unescape_with(shown: &str, lines: EscapeMode) -> String {
    let mut out = String::with_capacity(shown.len());
    let mut rest = shown;
    while let Some(c) = rest.chars().next() {
        let after = rest.get(c.len_utf8()..).unwrap_or_default();
        let found = match c {
            '\\' => decode_code(after, lines).map(|(c, length)| (c.to_string(), length)),
            '<' => decode_hidden(after),
            _ => None,
        };
        let length = match found {
            Some((text, length)) => {
                out.push_str(&text);
                length
            }
            None => {
                out.push(c);
                0
            }
        };
        rest = after.get(length..).unwrap_or_default();
    }
    out
}

/// Decodes the escape after a backslash: returns the character and the length of the escape.
fn decode_code(after: &str, lines: EscapeMode) -> Option<(char, usize)> {
    match after.chars().next()? {
        'e' => Some(('\u{1b}', 1)),
        'r' => Some(('\r', 1)),
        'n' if lines == EscapeMode::One => Some(('\n', 1)),
        'x' => {
            let digits = after.get(1..3)?;
            // `escape` writes lower-case digits only, so other ones belong to the original text.
            let lower = digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
            let number = u32::from_str_radix(digits, 16).ok().filter(|_| lower)?;
            Some((char::from_u32(number)?, 3))
        }
        _ => None,
    }
}

/// Decodes the escape after a `<`: returns the invisible characters and the length of the escape.
fn decode_hidden(after: &str) -> Option<(String, usize)> {
    let end = after.find('>')?;
    if let Some(digits) = after.get(..end)?.strip_prefix("U+") {
        let upper = digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'A'..=b'F'));
        let number = u32::from_str_radix(digits, 16).ok().filter(|_| upper && digits.len() >= 4)?;
        return Some((char::from_u32(number)?.to_string(), end + 1));
    }
    let letters = after.strip_prefix("tags \"")?;
    let (letters, _) = letters.split_once('"')?;
    let length = "tags \"".len() + letters.len() + "\">".len();
    if !after.get(..length)?.ends_with("\">") {
        return None;
    }
    let plain = unescape_with(letters, EscapeMode::Several);
    let tag = |c: char| char::from_u32(u32::from(c) + 0xe0000).filter(|c| tag_letter(*c).is_some());
    Some((plain.chars().map(tag).collect::<Option<String>>()?, length))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn in_prose_the_spaces_of_other_widths_stay_and_nothing_else() {
        let text = "10\u{202f}000\u{a0}€ \u{200b}\u{3000}\u{301}x\ny\u{2003}\u{2003}\u{e000}";
        let shown = "10\u{202f}000\u{a0}€ <U+200B>\u{3000}<U+0301>x\ny\u{2003}\u{2003}<U+E000>";
        assert_eq!(escape_prose(text), shown);
        assert_eq!(escape_prose_line(text), shown.replace('\n', "\\n"));
        assert_eq!(escape_prose("plain\u{1b}"), "plain\\e");
    }

    #[test]
    fn what_could_deceive_is_shown() {
        for (text, expected) in [
            ("\x1b[2K\x1b[1Als", "\\e[2K\\e[1Als"),
            ("\x1b]8;;http://a\x07b", "\\e]8;;http://a\\x07b"),
            ("\u{9b}31m", "\\x9b31m"),
            ("rm\rls", "rm\\rls"),
            ("a\u{8}\u{8}b\0\u{7f}", "a\\x08\\x08b\\x00\\x7f"),
            ("cod\u{202e}gpj.sh", "cod<U+202E>gpj.sh"),
            ("r\u{200b}m -rf", "r<U+200B>m -rf"),
            ("a\u{feff}\u{2066}b\u{2069}\u{ad}", "a<U+FEFF><U+2066>b<U+2069><U+00AD>"),
            ("x\u{e0001}\u{e0068}\u{e0069}\u{e007f}y", "x<U+E0001><tags \"hi\"><U+E007F>y"),
            ("\u{1f600}\u{e0100}\u{e01ef}", "\u{1f600}<U+E0100><U+E01EF>"),
            ("\u{2764}\u{fe0f}", "\u{2764}\u{fe0f}"),
            ("\u{2764}\u{fe0f}\u{fe01}", "\u{2764}\u{fe0f}<U+FE01>"),
            ("a\u{2028}b", "a<U+2028>b"),
            ("r\u{fe0f}m", "r<U+FE0F>m"),
            ("1\u{fe0f}\u{20e3} 1\u{fe0f}", "1\u{fe0f}\u{20e3} 1<U+FE0F>"),
            ("r\u{2800}m\u{180e}\u{34f}", "r<U+2800>m<U+180E><U+034F>"),
            ("\u{301}x", "<U+0301>x"),
            ("\u{301}\u{302}x", "<U+0301><U+0302>x"),
            ("a \u{301}b/\u{338}c", "a <U+0301>b/<U+0338>c"),
            ("\u{200b}\u{301}", "<U+200B><U+0301>"),
            ("rm\u{a0}-rf\u{2003}/\u{202f}\u{1680}", "rm<U+00A0>-rf<U+2003>/<U+202F><U+1680>"),
            ("rm\u{3000}x", "rm<U+3000>x"),
            ("日本\u{3000}語", "日本\u{3000}語"),
            ("日\u{3000}\u{3000}\u{3000}x", "日\u{3000}<U+3000><U+3000>x"),
            ("\u{e0b0}\u{f8ff}\u{10fffd}", "<U+E0B0><U+F8FF><U+10FFFD>"),
            ("\u{fffe}\u{fdd0}\u{1ffff}\u{fffc}", "<U+FFFE><U+FDD0><U+1FFFF><U+FFFC>"),
            ("*\u{fe0f}\u{20e3}", "*\u{fe0f}\u{20e3}"),
            (
                "a\u{301}\u{302}\u{303}\u{304}\u{305}\u{306}",
                "a\u{301}\u{302}\u{303}\u{304}<U+0305><U+0306>",
            ),
            ("tab\tline\nend", "tab\tline\nend"),
            ("größe 日本語", "größe 日本語"),
            // Text that only looks like an escape is distinguished from one.
            (r"\e[2K", r"\x5ce[2K"),
            (r"C:\repos\dir", r"C:\x5crepos\dir"),
            ("<U+202E>", r"\x3cU+202E>"),
            (r#"<tags "x">"#, r#"\x3ctags "x">"#),
            ("<b> and <U+> stay", "<b> and <U+> stay"),
        ] {
            assert_eq!(escape(text), expected, "{text:?}");
        }
        assert_eq!(escape_line("a\r\nb\tc"), "a\\r\\nb\tc");
    }

    #[test]
    fn json_keeps_its_own_codes() {
        let text = r#"{"a": "\u001b[2K\r\n", "b": "C:\\e"}"#;
        assert_eq!(escape_json(text), text);
        let hidden = "{\"\u{9b}\u{202e}<U+202E>\": 1}";
        assert_eq!(escape_json(hidden), r#"{"\u009b<U+202E>\u003cU+202E>": 1}"#);
    }

    #[test]
    fn coded_json_means_the_same() {
        let value = serde_json::json!({"a\u{9b}": "\u{202e}\u{e0041}\u{7f} plain"});
        let coded = encode_json_controls(&value.to_string()).into_owned();
        assert_eq!(coded, r#"{"a\u009b":"\u202e\udb40\udc41\u007f plain"}"#);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&coded).unwrap(), value);
    }

    #[test]
    fn clean_text_is_not_copied() {
        for text in ["", "plain\n\ttext", "größe \u{2764}\u{fe0f} 日本語"] {
            assert!(matches!(escape(text), Cow::Borrowed(same) if same == text), "{text:?}");
        }
        assert!(matches!(escape_line("one line"), Cow::Borrowed(_)));
    }

    /// Control characters, format characters and line separators from the Unicode tables, and
    /// others that are never drawn. Independent of the list in the code under test.
    const FORMAT: [(u32, u32); 43] = [
        (0xad, 0xad),
        (0x600, 0x605),
        (0x61c, 0x61c),
        (0x6dd, 0x6dd),
        (0x70f, 0x70f),
        (0x890, 0x891),
        (0x8e2, 0x8e2),
        (0x180e, 0x180e),
        (0x200b, 0x200f),
        (0x2028, 0x202e),
        (0x2060, 0x2064),
        (0x2066, 0x206f),
        (0xfeff, 0xfeff),
        (0xfff9, 0xfffb),
        (0x110bd, 0x110bd),
        (0x110cd, 0x110cd),
        (0x13430, 0x1343f),
        (0x1bca0, 0x1bca3),
        (0x1d173, 0x1d17a),
        (0xe0001, 0xe0001),
        (0xe0020, 0xe007f),
        (0x80, 0x9f),
        (0x00, 0x08),
        (0x0b, 0x1f),
        (0x7f, 0x7f),
        (0x34f, 0x34f),
        (0x115f, 0x1160),
        (0x17b4, 0x17b5),
        (0x3164, 0x3164),
        (0xffa0, 0xffa0),
        // Unusual spaces.
        (0xa0, 0xa0),
        (0x1680, 0x1680),
        (0x2000, 0x200a),
        (0x202f, 0x202f),
        (0x205f, 0x205f),
        (0x2800, 0x2800),
        // Noncharacters and private-use characters.
        (0xfdd0, 0xfdef),
        (0xfffe, 0xffff),
        (0x1fffe, 0x1ffff),
        (0xdfffe, 0xdffff),
        (0xe000, 0xf8ff),
        (0xf0000, 0xf00ff),
        (0x10ff00, 0x10ffff),
    ];

    #[test]
    fn no_control_or_format_character_of_the_table_survives() {
        let odd = FORMAT.iter().flat_map(|(first, last)| *first..=*last);
        for c in odd.filter_map(char::from_u32) {
            for text in [format!("{c}"), format!("a{c}b"), format!("\u{1f600}{c}\u{1f600}")] {
                let shown = escape(&text).into_owned();
                assert!(!shown.contains(c), "{c:?} in {shown:?}");
                assert!(!escape_line(&text).contains(c), "{c:?}");
                assert!(!escape_json(&text).contains(c), "{c:?}");
                assert!(!encode_json_controls(&text).contains(c), "{c:?}");
                assert_eq!(unescape(&shown), text);
            }
        }
    }

    /// Generates text in which unsafe characters are as likely as safe ones.
    fn nasty() -> impl Strategy<Value = String> {
        let odd = prop::sample::select(vec![
            '\u{1b}', '\u{7}', '\r', '\n', '\t', '\u{9b}', '\u{202e}', '\u{200b}', '\u{fe0f}',
            '\u{301}', '\u{2800}', '\u{a0}', '\u{3000}', '\u{e000}', '\u{fdd0}', '\u{20e3}', '日',
            '\u{e0041}', '\u{e0100}', '\0', '<', '\\', 'e', 'x', 'r', 'U', '+', '0', '>', '"',
        ]);
        prop::collection::vec(prop_oneof![any::<char>(), odd], 0..60)
            .prop_map(|chars| chars.into_iter().collect())
    }

    proptest! {
        #[test]
        fn nothing_that_was_escaped_holds_a_control_or_hidden_character(text in nasty()) {
            for c in escape(&text).chars() {
                prop_assert!(!c.is_control() || c == '\n' || c == '\t', "{c:?}");
                prop_assert!(!is_hidden(c), "{c:?}");
                prop_assert!(!is_ambiguous(c) || c == '\u{3000}', "{c:?}");
            }
            let twice = "\u{3000}".repeat(2);
            prop_assert!(!escape(&text).contains(&twice));
            for on_a_sign in [" \u{301}", "\n\u{301}", ">\u{301}", "\"\u{301}"] {
                prop_assert!(!escape(&text).contains(on_a_sign), "{on_a_sign:?}");
            }
            for c in escape_line(&text).chars() {
                prop_assert!(!c.is_control() || c == '\t', "{c:?}");
            }
        }

        #[test]
        fn json_and_prose_hold_none_either_and_json_means_the_same(text in nasty()) {
            let value = serde_json::Value::String(text.clone());
            let coded = encode_json_controls(&value.to_string()).into_owned();
            let read: serde_json::Value = serde_json::from_str(&coded).unwrap();
            prop_assert_eq!(&read, &value);
            let json = escape_json(&value.to_string()).into_owned();
            for c in coded.chars().chain(json.chars()).chain(escape_prose(&text).chars()) {
                prop_assert!(!c.is_control() || c == '\n' || c == '\t', "{c:?}");
                prop_assert!(!is_hidden(c), "{c:?}");
            }
            for c in escape_prose_line(&text).chars() {
                prop_assert!(!c.is_control() || c == '\t', "{c:?}");
            }
        }

        #[test]
        fn what_was_escaped_can_be_had_back(text in nasty()) {
            prop_assert_eq!(unescape(&escape(&text)), text.as_str());
            prop_assert_eq!(unescape_line(&escape_line(&text)), text.as_str());
        }

        #[test]
        fn two_different_texts_are_never_shown_as_the_same(one in nasty(), other in nasty()) {
            prop_assert_eq!(escape(&one) == escape(&other), one == other);
        }
    }
}
