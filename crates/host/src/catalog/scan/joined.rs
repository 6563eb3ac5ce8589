//! Rules for texts without spaces between words: parts of words in an order.

use serde::Deserialize;

/// A rule for text without spaces: one of each of these parts, in their order.
#[derive(Debug, Deserialize)]
pub(super) struct Joined<'a> {
    pub(super) rule: &'a str,
    pub(super) points: u32,
    #[serde(borrow)]
    pub(super) parts: Vec<Vec<&'a str>>,
}

/// Parts of words in their order, without spaces and as skeletons.
pub(super) const SQUEEZED: [(&str, &[&str]); 3] = [
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
const BETWEEN: usize = 48;

/// Where the parts begin, if one of each stands in the text in this order and close together.
pub(super) fn in_order(text: &str, parts: &[Vec<&str>]) -> Option<usize> {
    let (first, rest) = parts.split_first()?;
    first.iter().find_map(|part| {
        text.match_indices(part).map(|(at, _)| at).find(|at| {
            let mut from = at + part.len();
            rest.iter().all(|choices| {
                let end = text.floor_char_boundary((from + BETWEEN).min(text.len()));
                let window = text.get(from..end).unwrap_or_default();
                let found = choices.iter().filter_map(|c| Some((window.find(c)?, c.len()))).min();
                if let Some((place, length)) = found {
                    from += place + length;
                }
                found.is_some()
            })
        })
    })
}
