//! Orders whose words were taken apart or pushed together: what the letters say without what stands between them.

use switchboard_text::characters::{fold_char, is_hidden};

use crate::finding::Indicator;
use crate::patterns::RULES;
use crate::tokens::{TextTokens, skeleton};
use crate::unspaced::find_in_order;

/// So few letters may lie between two parts: orders of honest texts are found as words.
const MAX_GAP: usize = 14;

/// Shorter texts hold no whole order.
const MIN_TEXT_LEN: usize = 16;

/// Orders without their spaces, as skeletons; each step is one of these.
const ORDERS: [(&str, u32, &[&[&str]]); 2] = [
    (
        "orders_overridden",
        10,
        &[
            &["ignore", "disregard", "forget", "override"],
            &["previous", "prior", "eariier", "preceding", "above", "system"],
            &["instruction", "prompt", "guideiine", "directive", "orders"],
        ],
    ),
    (
        "hidden_from_user",
        6,
        &[
            &["donot", "dont", "never"],
            &["teii", "mention", "inform", "reveai", "notify"],
            &["theuser", "tousers", "totheuser", "thehuman", "anyone"],
        ],
    ),
];

/// What speaks against the letters of a text.
pub(crate) fn find_indicators(text: &str, tokens: &TextTokens, signs: &mut Vec<Indicator>) {
    if text.contains(is_separator) {
        let parted: String = text.chars().map(|c| if is_separator(c) { ' ' } else { c }).collect();
        RULES.find_indicators(&TextTokens::parse(&parted), signs);
    }
    if text.len() < MIN_TEXT_LEN {
        return;
    }
    let letters = if text.contains('<') { letters_only(text) } else { tokens.without_spaces() };
    for (rule, points, steps) in ORDERS {
        let parts: Vec<Vec<&str>> = steps.iter().map(|step| step.to_vec()).collect();
        if find_in_order(&letters, &parts, MAX_GAP).is_some() {
            signs.push(Indicator::new(rule, points, 0));
        }
    }
}

/// Whether a reader may take it for a space, or for nothing.
fn is_separator(c: char) -> bool {
    is_hidden(c) || c.is_control() && !matches!(c, '\n' | '\t' | '\r')
}

/// The letters of a text without tags and everything else between them.
fn letters_only(text: &str) -> String {
    let mut letters = String::with_capacity(text.len());
    let mut rest = text;
    loop {
        let tag = rest.find('<');
        let (before, from) = rest.split_at_checked(tag.unwrap_or(rest.len())).unwrap_or((rest, ""));
        letters.extend(
            before.chars().filter_map(fold_char).filter(|c| c.is_alphanumeric()).map(skeleton),
        );
        let Some(after) = from.get(1..) else { return letters };
        // What is long between such signs is no tag.
        let close = after.get(..after.floor_char_boundary(80)).and_then(|near| near.find('>'));
        rest = close.and_then(|close| after.get(close + 1..)).unwrap_or(after);
    }
}
