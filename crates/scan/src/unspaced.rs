//! Instructions in scripts without spaces, and in words that were split or joined.

use serde::Deserialize;
use switchboard_text::fold_char;

use crate::finding::Indicator;
use crate::tokens::{TextTokens, skeleton};

// The number of bytes between two parts of an instruction.
pub(crate) const MAX_GAP: usize = 48;
// Smaller for a text whose spaces were removed, because ordinary texts then match too.
const MAX_JOINED_GAP: usize = 14;
// A shorter text cannot contain an instruction.
const MIN_TEXT_LEN: usize = 16;

/// A rule for text without spaces: one choice of each part, in this order.
#[derive(Debug, Deserialize)]
pub(crate) struct UnspacedRule<'a> {
    pub(crate) rule: &'a str,
    pub(crate) points: u32,
    pub(crate) parts: Vec<Vec<String>>,
}

impl UnspacedRule<'_> {
    /// Folds the parts like the texts that they are compared with.
    pub(crate) fn fold(&mut self) {
        for part in self.parts.iter_mut().flatten() {
            *part = part.chars().filter_map(fold_char).collect();
        }
    }
}

// As skeletons, in which `l` is `i`: a word of each step, in this order.
struct LetterOrder {
    rule: &'static str,
    points: u32,
    steps: &'static [&'static str],
}

const JOINED_ORDERS: [LetterOrder; 2] = [
    LetterOrder {
        rule: "orders_overridden",
        points: 10,
        steps: &[
            "ignore disregard forget override",
            "previous prior eariier preceding above system",
            "instruction prompt guideiine directive orders",
        ],
    },
    LetterOrder {
        rule: "hidden_from_user",
        points: 6,
        steps: &[
            "donot dont never",
            "teii mention inform reveai notify",
            "theuser tousers totheuser thehuman anyone",
        ],
    },
];

const SPACED_ORDERS: [LetterOrder; 3] = [
    LetterOrder {
        rule: "orders_overridden",
        points: 10,
        steps: &[
            "ignore disregard forget override",
            "previous prior above aii system",
            "instruction prompt rui guideiin",
        ],
    },
    LetterOrder {
        rule: "hidden_from_user",
        points: 10,
        steps: &[
            "donot dont never without",
            "teii mention inform reveai show say",
            "user human anyone this",
        ],
    },
    LetterOrder {
        rule: "secret_read",
        points: 10,
        steps: &[
            "read open send cat upioad copy pass",
            "idrsa ssh etcpasswd password apikey mcpjson",
        ],
    },
];

impl LetterOrder {
    fn find(&self, letters: &str, between: usize) -> Option<Indicator> {
        let steps: Vec<Vec<&str>> =
            self.steps.iter().map(|step| step.split(' ').collect()).collect();
        let at = find_in_order(letters, &steps, between)?;
        Some(Indicator::new(self.rule, self.points, at))
    }
}

/// Finds instructions in the letters of a text, ignoring everything between them.
pub(crate) fn find_joined(text: &str, tokens: &TextTokens, signs: &mut Vec<Indicator>) {
    if text.len() < MIN_TEXT_LEN {
        return;
    }
    let letters = if text.contains('<') { letters_only(text) } else { tokens.without_spaces() };
    let found = JOINED_ORDERS.iter().filter_map(|order| order.find(&letters, MAX_JOINED_GAP));
    signs.extend(found.map(|sign| Indicator { at: 0, ..sign }));
}

/// Finds instructions in words that were written letter by letter.
pub(crate) fn find_spaced(tokens: &TextTokens, signs: &mut Vec<Indicator>) {
    let Some(letters) = tokens.spaced_letters() else { return };
    let found = SPACED_ORDERS.iter().filter_map(|order| order.find(&letters, MAX_GAP));
    signs.extend(found.map(|sign| Indicator { at: 0, decoded: Some(letters.clone()), ..sign }));
}

/// Returns the letters of a text, without tags and punctuation.
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
        // A tag is short; a longer distance means that `<` is not one.
        let close = after.get(..after.floor_char_boundary(80)).and_then(|near| near.find('>'));
        rest = close.and_then(|close| after.get(close + 1..)).unwrap_or(after);
    }
}

/// Finds a choice of each part in this order, with at most `between` bytes before each.
pub(crate) fn find_in_order<P: AsRef<str>>(
    text: &str,
    parts: &[Vec<P>],
    between: usize,
) -> Option<usize> {
    let (first, rest) = parts.split_first()?;
    // Fast path: most texts lack one of the parts.
    let has = |choices: &Vec<P>| choices.iter().any(|part| text.contains(part.as_ref()));
    if !parts.iter().all(has) {
        return None;
    }
    first.iter().map(AsRef::as_ref).find_map(|part| {
        text.match_indices(part).map(|(at, _)| at).find(|at| {
            let mut from = at + part.len();
            rest.iter().all(|choices| {
                let end = text.floor_char_boundary((from + between).min(text.len()));
                let window = text.get(from..end).unwrap_or_default();
                let found = choices.iter().map(AsRef::as_ref);
                let found = found.filter_map(|c| Some((window.find(c)?, c.len()))).min();
                if let Some((place, length)) = found {
                    from += place + length;
                }
                found.is_some()
            })
        })
    })
}
