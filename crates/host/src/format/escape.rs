//! Text that others wrote, made safe to show: nothing in it can move, hide or reorder anything.

use std::borrow::Cow;
use std::fmt::Write;

/// Makes text of several lines safe to show.
///
/// Control characters become `\e` or `\x07`, invisible ones `<U+200B>`, and letters that hide in
/// tag characters are shown as `<tags "…">`. Line feeds and tabs stay.
#[must_use]
pub fn escape(text: &str) -> Cow<'_, str> {
    escape_with(text, Lines::Several)
}

/// Makes text safe to show in one line: as [`escape`], and line feeds become `\n`.
#[must_use]
pub fn escape_line(text: &str) -> Cow<'_, str> {
    escape_with(text, Lines::One)
}

/// Whether a character takes no space or changes how others are shown.
#[must_use]
pub const fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lines {
    Several,
    One,
}

fn escape_with(text: &str, lines: Lines) -> Cow<'_, str> {
    if is_plain_ascii(text, lines) {
        return Cow::Borrowed(text);
    }
    let mut before = '\0';
    let first = text.char_indices().find(|(_, c)| {
        let unsafe_here = must_change(*c, before, lines);
        before = *c;
        unsafe_here
    });
    let Some((clean, rest)) = first.and_then(|(at, _)| text.split_at_checked(at)) else {
        return Cow::Borrowed(text);
    };
    let mut out = String::with_capacity(text.len() + 32);
    out.push_str(clean);
    before = clean.chars().next_back().unwrap_or('\0');
    let mut chars = rest.chars().peekable();
    while let Some(c) = chars.next() {
        if let Some(letter) = tag_letter(c) {
            let mut letters = String::from(letter);
            while let Some(next) = chars.peek().copied().and_then(tag_letter) {
                letters.push(next);
                chars.next();
            }
            // Writing to a string cannot fail.
            let _ok = write!(out, "<tags \"{letters}\">");
        } else if must_change(c, before, lines) {
            push_visible(&mut out, c);
        } else {
            out.push(c);
        }
        before = c;
    }
    Cow::Owned(out)
}

fn is_plain_ascii(text: &str, lines: Lines) -> bool {
    text.bytes().all(|byte| match byte {
        b' '..=b'~' | b'\t' => true,
        b'\n' => lines == Lines::Several,
        _ => false,
    })
}

fn must_change(c: char, before: char, lines: Lines) -> bool {
    match c {
        '\n' => matches!(lines, Lines::One),
        '\t' => false,
        // One selector chooses the look of an emoji; more of them carry hidden bytes.
        '\u{fe00}'..='\u{fe0f}' => matches!(before, '\0' | '\u{fe00}'..='\u{fe0f}'),
        _ => c.is_control() || is_hidden(c),
    }
}

fn push_visible(out: &mut String, c: char) {
    let _ok = match c {
        '\n' => write!(out, "\\n"),
        '\r' => write!(out, "\\r"),
        '\u{1b}' => write!(out, "\\e"),
        _ if c.is_control() => write!(out, "\\x{:02x}", u32::from(c)),
        _ => write!(out, "<U+{:04X}>", u32::from(c)),
    };
}

/// The letter that a tag character stands for.
const fn tag_letter(c: char) -> Option<char> {
    match c {
        '\u{e0020}'..='\u{e007e}' => char::from_u32(c as u32 - 0xe0000),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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
            ("tab\tline\nend", "tab\tline\nend"),
            ("größe 日本語", "größe 日本語"),
        ] {
            assert_eq!(escape(text), expected, "{text:?}");
        }
        assert_eq!(escape_line("a\r\nb\tc"), "a\\r\\nb\tc");
    }

    #[test]
    fn clean_text_is_not_copied() {
        for text in ["", "plain\n\ttext", "größe \u{2764}\u{fe0f} 日本語"] {
            assert!(matches!(escape(text), Cow::Borrowed(same) if same == text), "{text:?}");
        }
        assert!(matches!(escape_line("one line"), Cow::Borrowed(_)));
    }

    /// Text in which what must not be shown is as likely as what may.
    fn nasty() -> impl Strategy<Value = String> {
        let odd = prop::sample::select(vec![
            '\u{1b}',
            '\u{7}',
            '\r',
            '\n',
            '\t',
            '\u{9b}',
            '\u{202e}',
            '\u{200b}',
            '\u{fe0f}',
            '\u{e0041}',
            '\u{e0100}',
            '\0',
            '<',
            '\\',
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
            }
            for c in escape_line(&text).chars() {
                prop_assert!(!c.is_control() || c == '\t', "{c:?}");
            }
        }

        #[test]
        fn escaping_twice_changes_nothing_more(text in nasty()) {
            let once = escape(&text).into_owned();
            prop_assert!(matches!(escape(&once), Cow::Borrowed(_)));
        }
    }
}
