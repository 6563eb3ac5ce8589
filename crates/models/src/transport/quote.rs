//! What the other side said, short enough and safe to show.

use switchboard_text::excerpt_text;

/// The most characters of a quotation.
const MAX_QUOTE_CHARS: usize = 300;

/// The text in one line: runs of white space become one space, what is hidden is escaped.
pub(super) fn quote(text: &str) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > 8 * MAX_QUOTE_CHARS {
            break;
        }
    }
    excerpt_text(&line, MAX_QUOTE_CHARS)
}

/// Whether a text is a page for a browser.
pub(super) fn is_page(text: &str) -> bool {
    let start: String = text.trim_start().chars().take(14).collect();
    let start = start.to_lowercase();
    ["<!doctype", "<html", "<head", "<body"].iter().any(|tag| start.starts_with(tag))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotations_are_short_lines_without_tricks() {
        assert_eq!(quote(" a\r\n  b\u{1b}[31m "), "a b\\u{1b}[31m");
        let long = quote(&"word ".repeat(10_000));
        assert_eq!((long.chars().count(), long.ends_with('…')), (300, true));
    }

    #[test]
    fn pages_are_known_by_their_beginning() {
        assert!(is_page("\n<!DOCTYPE html><p>"));
        assert!(is_page("<HTML lang=en>"));
        assert!(!is_page("{\"html\": 1}"));
    }
}
