//! Text from files, made safe to show inside a sentence.

use crate::characters::{is_ambiguous, is_hidden};

/// Returns `text` without control, hidden or direction-changing characters, and not too long.
pub fn sanitize(text: &str) -> String {
    const LONGEST: usize = 120;
    let mut safe: String = text.chars().take(LONGEST).collect();
    if safe.len() < text.len() {
        safe.push('…');
    }
    sanitize_whole(&safe)
}

/// Returns `text` with every invisible character escaped, at its full length.
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

/// Whether `text` has only characters that a reader sees.
pub fn is_visible(text: &str) -> bool {
    !text.contains(is_unsafe)
}

fn is_unsafe(character: char) -> bool {
    character.is_control() || is_hidden(character) || is_ambiguous(character)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut() {
        assert_eq!(sanitize(&"x".repeat(500)).chars().count(), 121);
    }
}
