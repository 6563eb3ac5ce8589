//! Indicators in the characters of a text: invisible, reordering and look-alike ones.

use switchboard_text::{fold_char, is_hidden, is_mixed_script, is_variation_selector, tag_letter};

use crate::finding::{Indicator, offset_in};

// A longer run of invisible characters is a hidden message. Emoji and scripts need a few.
const MIN_INVISIBLE_RUN: usize = 8;
// Empty lines or white space that push the following text out of a person's view.
const MIN_EMPTY_LINES: usize = 30;
const MIN_SPACES: usize = 300;
// The only regions whose flags are a black flag with tag characters: a legitimate use of tags.
const FLAG_REGIONS: [&str; 3] = ["gbeng", "gbsct", "gbwls"];
// A message may also be spread over the text, with several kinds of characters as its bits.
const MIN_SPREAD_INVISIBLE: u32 = 16;

pub(crate) fn find_indicators(text: &str, signs: &mut Vec<Indicator>) {
    find_padding(text, signs);
    // Fast path: most texts are plain ASCII.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t' | b'\r')) {
        return;
    }
    find_controls(text, signs);
    if !text.is_ascii() {
        find_tags(text, signs);
        find_selectors(text, signs);
        find_reordering(text, signs);
        find_invisible(text, signs);
        find_mixed_scripts(text, signs);
    }
}

fn find_controls(text: &str, signs: &mut Vec<Indicator>) {
    let odd = |c: char| c.is_control() && !matches!(c, '\n' | '\t' | '\r');
    if let Some(at) = text.find(odd) {
        // Escape sequences can also rewrite a terminal that shows the text.
        let points = if text.contains(['\u{1b}', '\u{9b}', '\u{9d}']) { 6 } else { 5 };
        signs.push(Indicator::new("control_characters", points, at));
    }
}

fn find_tags(text: &str, signs: &mut Vec<Indicator>) {
    let mut letters = String::new();
    let mut start = None;
    let mut rest = text;
    while let Some(begin) = rest.find(|c| tag_letter(c).is_some()) {
        let (before, tags) = rest.split_at_checked(begin).unwrap_or((rest, ""));
        let end = tags.find(|c| tag_letter(c).is_none()).unwrap_or(tags.len());
        let (tags, after) = tags.split_at_checked(end).unwrap_or((tags, ""));
        let said: String = tags.chars().filter_map(tag_letter).collect();
        let is_flag = before.ends_with('\u{1f3f4}')
            && after.starts_with('\u{e007f}')
            && FLAG_REGIONS.contains(&said.as_str());
        if !is_flag {
            start.get_or_insert(text.len() - after.len() - tags.len());
            letters.push_str(&said);
        }
        rest = after;
    }
    if let Some(at) = start {
        let decoded = Some(letters);
        signs.push(Indicator { decoded, ..Indicator::new("hidden_tags", 10, at) });
    }
}

/// Decodes bytes that are hidden in variation selectors.
fn find_selectors(text: &str, signs: &mut Vec<Indicator>) {
    let mut bytes = Vec::new();
    let mut start = None;
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        if is_variation_selector(c) && (is_variation_selector(before) || c >= '\u{e0100}') {
            start.get_or_insert(at);
            let code = u32::from(c);
            // The first 16 selectors encode 0 to 15, the others 16 and above.
            let byte = if code < 0xe0100 { code - 0xfe00 } else { code - 0xe0100 + 16 };
            bytes.extend(u8::try_from(byte));
        }
        before = c;
    }
    // A single selector after an ideograph is legitimate: it chooses a glyph variant.
    if let Some(at) = start.filter(|_| bytes.len() > 1) {
        let decoded = Some(String::from_utf8_lossy(&bytes).into_owned());
        signs.push(Indicator { decoded, ..Indicator::new("hidden_selectors", 10, at) });
    }
}

fn find_reordering(text: &str, signs: &mut Vec<Indicator>) {
    if let Some(at) = text.find(['\u{202d}', '\u{202e}']) {
        signs.push(Indicator::new("reordered_text", 10, at));
    } else if let Some(at) =
        text.find(|c| matches!(c, '\u{202a}'..='\u{202c}' | '\u{2066}'..='\u{2069}'))
    {
        // Right-to-left scripts need these marks.
        let right_to_left =
            text.chars().any(|c| matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fefc}'));
        signs.push(Indicator::new("reordered_text", if right_to_left { 1 } else { 5 }, at));
    }
}

fn find_invisible(text: &str, signs: &mut Vec<Indicator>) {
    let mut run = 0;
    let mut longest = 0;
    let mut inside = None;
    let mut before = ' ';
    let mut last_seen = ' ';
    let mut total = 0_u32;
    let mut kinds = 0_u32;
    for (at, c) in text.char_indices() {
        let counts = is_hidden(c) && tag_letter(c).is_none() && !is_variation_selector(c);
        run = if counts { run + 1 } else { 0 };
        longest = longest.max(run);
        if let Some(kind) = carrier_bit(c) {
            total += 1;
            kinds |= 1 << kind;
        }
        // Invisible characters have no meaning between two ASCII letters or digits.
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
    if longest >= MIN_INVISIBLE_RUN || total >= MIN_SPREAD_INVISIBLE && kinds.count_ones() > 1 {
        signs.push(Indicator::new("invisible_message", 10, text.find(is_hidden).unwrap_or(0)));
    } else if let Some(at) = inside {
        let points =
            if text.contains(['\u{200b}', '\u{200c}', '\u{200d}', '\u{2060}']) { 5 } else { 2 };
        signs.push(Indicator::new("invisible_characters", points, at));
    }
}

/// Returns the kind of an invisible character that can encode messages bit by bit.
const fn carrier_bit(c: char) -> Option<u32> {
    // Legitimate text needs at most one kind.
    match c {
        '\u{200b}' => Some(0),
        '\u{200c}' => Some(1),
        '\u{2060}' => Some(2),
        '\u{2061}'..='\u{2064}' => Some(3),
        '\u{feff}' => Some(4),
        '\u{180e}' => Some(5),
        '\u{2800}' => Some(6),
        '\u{34f}' => Some(7),
        '\u{3164}' | '\u{ffa0}' | '\u{115f}' | '\u{1160}' => Some(8),
        _ => None,
    }
}

/// Finds a word that mixes Latin letters with their homoglyphs.
fn find_mixed_scripts(text: &str, signs: &mut Vec<Indicator>) {
    for word in text.split(|c: char| !c.is_alphanumeric()) {
        if is_mixed_script(word) {
            let at = offset_in(text, word);
            let decoded = Some(word.chars().filter_map(fold_char).collect());
            signs.push(Indicator { decoded, ..Indicator::new("lookalike_letters", 6, at) });
            return;
        }
    }
}

fn find_padding(text: &str, signs: &mut Vec<Indicator>) {
    if text.len() < MIN_EMPTY_LINES {
        return;
    }
    let mut spaces = 0;
    let mut lines = 0;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'\n' => lines += 1,
            b' ' | b'\t' | b'\r' => {}
            _ => {
                if lines >= MIN_EMPTY_LINES || spaces >= MIN_SPACES {
                    signs.push(Indicator::new("pushed_out_of_sight", 5, at));
                    return;
                }
                (spaces, lines) = (0, 0);
                continue;
            }
        }
        spaces += 1;
    }
}
