//! Where a character of a JSON text stands in its file: what has a backslash before it takes more room.

use crate::document::{Position, rest_at};

/// The place of the character after `count` others in the text whose quote is at `at`.
pub fn nested_position(source: &str, at: Position, count: usize) -> Position {
    let mut written = rest_at(source, at).chars();
    written.next();
    let passed: usize = (0..count).map(|_| source_width(&mut written)).sum();
    Position { line: at.line, column: at.column + 1 + passed }
}

/// How many characters stand for the next one.
fn source_width(written: &mut std::str::Chars<'_>) -> usize {
    if written.next() != Some('\\') {
        return 1;
    }
    if written.next() != Some('u') {
        return 2;
    }
    let code: String = written.by_ref().take(4).collect();
    // The first half of a pair, whose second half is written like it.
    let is_half = u32::from_str_radix(&code, 16).is_ok_and(|code| (0xd800..0xdc00).contains(&code));
    if is_half { 6 + written.by_ref().take(6).count() } else { 6 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_before_a_place_count_as_they_are_written() {
        let at = Position { line: 2, column: 3 };
        for (written, count, expected) in [
            ("abc", 0, 4),
            ("abc", 2, 6),
            ("\\\\abc", 1, 6),
            ("\\\\abc", 2, 7),
            ("\\u0061b", 1, 10),
            ("\\ud83d\\ude00b", 1, 16),
            ("äöb", 2, 6),
        ] {
            for end in ["\n", "\r\n", "\r"] {
                let source = format!("{{{end}  \"{written}\"}}");
                let got = nested_position(&source, at, count);
                assert_eq!((got.line, got.column), (2, expected), "{written:?} {end:?}");
            }
        }
    }
}
