//! Rules for texts without spaces between words: parts of words in an order.

use serde::Deserialize;
use switchboard_text::characters::fold_char;

/// A rule for text without spaces: one of each of these parts, in their order.
#[derive(Debug, Deserialize)]
pub(crate) struct UnspacedRule<'a> {
    pub(crate) rule: &'a str,
    pub(crate) points: u32,
    pub(crate) parts: Vec<Vec<String>>,
}

impl UnspacedRule<'_> {
    /// Makes the parts plain, as texts are made before they are compared.
    pub(crate) fn fold(&mut self) {
        for part in self.parts.iter_mut().flatten() {
            *part = part.chars().filter_map(fold_char).collect();
        }
    }
}

/// Parts of words in their order, without spaces and as skeletons.
pub(crate) const SQUEEZED_ORDERS: [(&str, &[&str]); 3] = [
    (
        "orders_overridden",
        &[
            "ignore disregard forget override",
            "previous prior above aii system",
            "instruction prompt rui guideiin",
        ],
    ),
    (
        "hidden_from_user",
        &[
            "donot dont never without",
            "teii mention inform reveai show say",
            "user human anyone this",
        ],
    ),
    (
        "secret_read",
        &["read open send cat upioad copy pass", "idrsa ssh etcpasswd password apikey mcpjson"],
    ),
];

/// So many letters may lie between two parts.
pub(crate) const MAX_GAP: usize = 48;

/// Where the parts begin, if one of each stands in the text in this order, with at most `between`
/// bytes before each.
pub(crate) fn find_in_order<P: AsRef<str>>(
    text: &str,
    parts: &[Vec<P>],
    between: usize,
) -> Option<usize> {
    let (first, rest) = parts.split_first()?;
    // Most texts lack one of them.
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
