//! Makes names safe for messages: escapes control and invisible characters, limits the length.

const MAX_BRIEF_CHARS: usize = 200;

/// Escapes all characters that could move the cursor, fake a line or hide.
pub(crate) fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() || is_invisible(character) {
            out.extend(character.escape_unicode());
        } else {
            out.push(character);
        }
    }
    out
}

/// Returns the printable text, truncated for use in an error message.
pub(crate) fn brief(text: &str) -> String {
    // Truncated before it is escaped, so that no escape is cut in half.
    let mut out: String = text.chars().take(MAX_BRIEF_CHARS).collect();
    if out.len() < text.len() {
        out.push('…');
    }
    printable(&out)
}

fn is_invisible(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::{brief, printable};

    #[test]
    fn what_could_deceive_a_reader_is_escaped() {
        for (text, expected) in [
            ("plain ümlaut 名", "plain ümlaut 名"),
            ("a\nb", "a\\u{a}b"),
            ("\u{1b}[31mred", "\\u{1b}[31mred"),
            ("exe\u{202e}gpj", "exe\\u{202e}gpj"),
            ("tag\u{e0041}", "tag\\u{e0041}"),
        ] {
            assert_eq!(printable(text), expected);
        }
    }

    #[test]
    fn long_text_is_cut_between_characters() {
        let cut = brief(&"é".repeat(300));
        assert_eq!(cut, format!("{}…", "é".repeat(200)));
    }
}
