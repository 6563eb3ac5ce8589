//! Decodes text that is written as numbers, one per letter, or as Morse code.

use crate::encoded::{DecodedText, readable_text};
use crate::finding::offset_in;

// Fewer are ordinary numbers.
const MIN_NUMBERS: usize = 8;
// Fewer dots and dashes are punctuation.
const MIN_MORSE_LETTERS: usize = 8;

const BASES: [NumberBase; 4] = [
    NumberBase {
        radix: 16,
        min_digits: 2,
        max_digits: 4,
        prefixes: &["0x", "0X", "U+", "u+", "\\x", "#x"],
    },
    NumberBase { radix: 10, min_digits: 2, max_digits: 3, prefixes: &[] },
    NumberBase { radix: 8, min_digits: 3, max_digits: 4, prefixes: &["0o"] },
    NumberBase { radix: 2, min_digits: 7, max_digits: 8, prefixes: &["0b"] },
];

#[derive(Debug, Clone, Copy)]
struct NumberBase {
    radix: u32,
    min_digits: usize,
    max_digits: usize,
    prefixes: &'static [&'static str],
}

/// Decodes every sequence of numbers that gives readable text.
pub(crate) fn decode_numbers(text: &str, found: &mut Vec<DecodedText>) {
    let numbers = text.bytes().filter(u8::is_ascii_digit).take(MIN_NUMBERS).count() == MIN_NUMBERS;
    if numbers || has_hex_pairs(text) {
        for base in BASES {
            decode_rows(text, base, found);
        }
        decode_bits(text, found);
    }
    decode_morse(text, found);
}

/// Returns whether pairs of hexadecimal digits follow each other: `69 67 6e 6f`.
fn has_hex_pairs(text: &str) -> bool {
    let pair = |part: &[u8]| match part {
        [one, two, apart] => {
            one.is_ascii_hexdigit() && two.is_ascii_hexdigit() && !apart.is_ascii_alphanumeric()
        }
        _ => false,
    };
    text.as_bytes().windows(12).any(|window| window.chunks_exact(3).all(pair))
}

fn decode_rows(text: &str, base: NumberBase, found: &mut Vec<DecodedText>) {
    let apart = |c: char| {
        c.is_whitespace()
            || matches!(
                c,
                ',' | ';' | ':' | '-' | '.' | '[' | ']' | '(' | ')' | '{' | '}' | '/' | '|'
            )
    };
    let mut bytes = Vec::new();
    let mut start = 0;
    for word in text.split(apart) {
        match base.decode(word) {
            Some(byte) => {
                if bytes.is_empty() {
                    start = offset_in(text, word);
                }
                bytes.push(byte);
            }
            None if word.is_empty() => {}
            None => end_row(&mut bytes, start, found),
        }
    }
    end_row(&mut bytes, start, found);
}

fn end_row(bytes: &mut Vec<u8>, at: usize, found: &mut Vec<DecodedText>) {
    let row = std::mem::take(bytes);
    if row.len() >= MIN_NUMBERS
        && let Some(text) = readable_text(row)
    {
        found.push(DecodedText { at, text, hides: true });
    }
}

impl NumberBase {
    fn decode(self, word: &str) -> Option<u8> {
        let digits = self.prefixes.iter().find_map(|prefix| word.strip_prefix(prefix));
        let digits = digits.unwrap_or(word);
        if !(self.min_digits..=self.max_digits).contains(&digits.len()) {
            return None;
        }
        let value = u8::from_str_radix(digits, self.radix).ok()?;
        (matches!(value, b' '..=b'~' | b'\n')).then_some(value)
    }
}

fn decode_bits(text: &str, found: &mut Vec<DecodedText>) {
    for run in text.split(|c| !matches!(c, '0' | '1')) {
        if run.len() < MIN_NUMBERS * 8 || !run.len().is_multiple_of(8) {
            continue;
        }
        let eight = |bits: &[u8]| u8::from_str_radix(str::from_utf8(bits).ok()?, 2).ok();
        let bytes: Option<Vec<u8>> = run.as_bytes().chunks_exact(8).map(eight).collect();
        let at = offset_in(text, run);
        let said = bytes.and_then(readable_text);
        found.extend(said.map(|text| DecodedText { at, text, hides: true }));
    }
}

const MORSE: [&str; 26] = [
    ".-", "-...", "-.-.", "-..", ".", "..-.", "--.", "....", "..", ".---", "-.-", ".-..", "--",
    "-.", "---", ".--.", "--.-", ".-.", "...", "-", "..-", "...-", ".--", "-..-", "-.--", "--..",
];

fn decode_morse(text: &str, found: &mut Vec<DecodedText>) {
    // Fast path: every longer text in Morse code contains one of these.
    if !text.contains("-.") && !text.contains(".-") {
        return;
    }
    let mut said = String::new();
    let mut start = None;
    let mut end = |said: &mut String, start: &mut Option<usize>| {
        let text = std::mem::take(said);
        let letters = text.bytes().filter(u8::is_ascii_alphabetic).count();
        if let Some(at) =
            start.take().filter(|_| letters >= MIN_MORSE_LETTERS && text.contains(' '))
        {
            found.push(DecodedText { at, text, hides: true });
        }
    };
    for word in text.split_whitespace() {
        let letter = MORSE.iter().zip(b'a'..).find(|(code, _)| **code == word);
        match letter {
            Some((_, letter)) => {
                let at = offset_in(text, word);
                start.get_or_insert(at);
                said.push(char::from(letter));
            }
            None if matches!(word, "/" | "|" | "//") => said.push(' '),
            None => end(&mut said, &mut start),
        }
    }
    end(&mut said, &mut start);
}
