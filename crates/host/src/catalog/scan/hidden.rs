//! Signs that lie in the characters themselves: what cannot be seen, reorders, or looks like others.

use super::finding::Sign;
use crate::characters::{is_hidden, is_selector, plain, tag_letter, twin};

/// So many invisible characters in a row can only be a message.
const LONG_RUN: usize = 8;
/// So many empty lines push what follows out of sight.
const EMPTY_LINES: usize = 30;
/// So many spaces do the same in one line.
const SPACES: usize = 300;
/// A flag of a region is one symbol and at most so many tag characters.
const LONGEST_FLAG: usize = 7;

/// What speaks against the characters of a text.
pub(super) fn signs(text: &str, signs: &mut Vec<Sign>) {
    padding(text, signs);
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t' | b'\r')) {
        return;
    }
    controls(text, signs);
    if !text.is_ascii() {
        tags(text, signs);
        selectors(text, signs);
        reordering(text, signs);
        invisible(text, signs);
        mixed_alphabets(text, signs);
    }
}

fn controls(text: &str, signs: &mut Vec<Sign>) {
    let odd = |c: char| c.is_control() && !matches!(c, '\n' | '\t' | '\r');
    if let Some(at) = text.find(odd) {
        let points = if text.contains(['\u{1b}', '\u{9b}', '\u{9d}']) { 6 } else { 5 };
        signs.push(Sign::new("control_characters", points, at));
    }
}

fn tags(text: &str, signs: &mut Vec<Sign>) {
    let (mut letters, mut start, mut in_flag) = (String::new(), None, 0);
    for (at, c) in text.char_indices() {
        match tag_letter(c) {
            Some(_) if in_flag > 0 => in_flag -= 1,
            Some(letter) => {
                start.get_or_insert(at);
                letters.push(letter);
            }
            None => in_flag = if c == '\u{1f3f4}' { LONGEST_FLAG } else { 0 },
        }
    }
    if let Some(at) = start {
        let decoded = Some(letters);
        signs.push(Sign { decoded, ..Sign::new("hidden_tags", 10, at) });
    }
}

/// Selectors after a selector carry bytes: the first 16 stand for 0 to 15, the others for 16 on.
fn selectors(text: &str, signs: &mut Vec<Sign>) {
    let (mut bytes, mut start, mut before) = (Vec::new(), None, ' ');
    for (at, c) in text.char_indices() {
        if is_selector(c) && (is_selector(before) || c >= '\u{e0100}') {
            start.get_or_insert(at);
            let code = u32::from(c);
            let byte = if code < 0xe0100 { code - 0xfe00 } else { code - 0xe0100 + 16 };
            bytes.extend(u8::try_from(byte));
        }
        before = c;
    }
    // One of them after an ideograph chooses a variant of it.
    if let Some(at) = start.filter(|_| bytes.len() > 1) {
        let decoded = Some(String::from_utf8_lossy(&bytes).into_owned());
        signs.push(Sign { decoded, ..Sign::new("hidden_selectors", 10, at) });
    }
}

fn reordering(text: &str, signs: &mut Vec<Sign>) {
    if let Some(at) = text.find(['\u{202d}', '\u{202e}']) {
        signs.push(Sign::new("reordered_text", 10, at));
    } else if let Some(at) =
        text.find(|c| matches!(c, '\u{202a}'..='\u{202c}' | '\u{2066}'..='\u{2069}'))
    {
        let right_to_left =
            text.chars().any(|c| matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fefc}'));
        signs.push(Sign::new("reordered_text", if right_to_left { 1 } else { 5 }, at));
    }
}

fn invisible(text: &str, signs: &mut Vec<Sign>) {
    let (mut run, mut longest, mut inside) = (0, 0, None);
    let (mut before, mut last_seen) = (' ', ' ');
    for (at, c) in text.char_indices() {
        let counts = is_hidden(c) && tag_letter(c).is_none() && !is_selector(c);
        run = if counts { run + 1 } else { 0 };
        longest = longest.max(run);
        // Inside a word of Latin letters nothing invisible has a meaning.
        if !counts
            && is_hidden(before)
            && last_seen.is_ascii_alphanumeric()
            && c.is_ascii_alphanumeric()
        {
            inside.get_or_insert(at);
        }
        if !is_hidden(c) {
            last_seen = c;
        }
        before = c;
    }
    if longest >= LONG_RUN {
        signs.push(Sign::new("invisible_message", 10, text.find(is_hidden).unwrap_or(0)));
    } else if let Some(at) = inside {
        let points =
            if text.contains(['\u{200b}', '\u{200c}', '\u{200d}', '\u{2060}']) { 5 } else { 2 };
        signs.push(Sign::new("invisible_characters", points, at));
    }
}

/// A word that mixes Latin letters with their twins of another alphabet.
fn mixed_alphabets(text: &str, signs: &mut Vec<Sign>) {
    for word in text.split(|c: char| !c.is_alphanumeric()) {
        if word.is_ascii() {
            continue;
        }
        let (mut latin, mut twins, mut others) = (0, 0, 0);
        for c in word.chars() {
            match c {
                _ if c.is_ascii_alphabetic() => latin += 1,
                _ if twin(c).is_some() => twins += 1,
                _ if c.is_alphabetic() && plain(c).is_some_and(|c| !c.is_ascii()) => others += 1,
                _ => {}
            }
        }
        if latin > 0 && twins > 0 && latin + twins > 2 && others == 0 {
            let at = word.as_ptr().addr().saturating_sub(text.as_ptr().addr());
            let decoded = Some(word.chars().filter_map(plain).collect());
            signs.push(Sign { decoded, ..Sign::new("lookalike_letters", 6, at) });
            return;
        }
    }
}

fn padding(text: &str, signs: &mut Vec<Sign>) {
    if text.len() < EMPTY_LINES {
        return;
    }
    let (mut spaces, mut lines) = (0, 0);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'\n' => lines += 1,
            b' ' | b'\t' | b'\r' => {}
            _ => {
                if lines >= EMPTY_LINES || spaces >= SPACES {
                    signs.push(Sign::new("pushed_out_of_sight", 5, at));
                    return;
                }
                (spaces, lines) = (0, 0);
                continue;
            }
        }
        spaces += 1;
    }
}
