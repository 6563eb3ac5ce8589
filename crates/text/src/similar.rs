//! "Did you mean": the known name that is close to an unknown one.

/// What other products call a key of ours.
const ALIASES: &[(&str, &str)] = &[
    ("cmd", "command"),
    ("enabled", "disabled"),
    ("environment", "env"),
    ("httpUrl", "url"),
    ("serverUrl", "url"),
    ("servers", "mcpServers"),
    ("context_servers", "mcpServers"),
    ("workingDirectory", "cwd"),
];

/// The name in `known` that `name` was probably meant to be.
pub fn suggestion<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    let meant = ALIASES.iter().find(|(other, _)| *other == name).map(|(_, ours)| *ours);
    if let Some(ours) = meant.and_then(|ours| known.iter().find(|known| **known == ours)) {
        return Some(ours);
    }
    let folded = fold(name);
    // A short word is close to many others, a very long one to none.
    let most = match folded.len() {
        0..=2 => 0,
        3..=5 => 1,
        6..=40 => 2,
        _ => return None,
    };
    known
        .iter()
        .map(|candidate| (edit_distance(&folded, &fold(candidate)), *candidate))
        .filter(|(distance, _)| *distance <= most)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Spelling without case and word separators.
fn fold(name: &str) -> Vec<char> {
    name.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect()
}

/// How many edits make one of the other, row by row: a letter more, less or another, or two letters
/// that changed places.
pub(crate) fn edit_distance(left: &[char], right: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=right.len()).collect();
    let mut above = row.clone();
    let mut last = None;
    for (index, from) in left.iter().enumerate() {
        let mut next = vec![index + 1];
        for (at, to) in right.iter().enumerate() {
            let cell = |row: &[usize], at: usize| row.get(at).copied().unwrap_or(usize::MAX / 2);
            let replaced = cell(&row, at) + usize::from(from != to);
            let best = replaced.min(cell(&next, at) + 1).min(cell(&row, at + 1) + 1);
            let before = at.checked_sub(1).filter(|_| last == Some(to));
            let is_turned = |before: &usize| right.get(*before) == Some(from);
            let turned = before.filter(is_turned).map(|before| cell(&above, before) + 1);
            next.push(turned.map_or(best, |turned| best.min(turned)));
        }
        above = std::mem::replace(&mut row, next);
        last = Some(from);
    }
    row.last().copied().unwrap_or(left.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_close_names_are_suggested() {
        const KNOWN: &[&str] = &["command", "args", "env", "url", "autoApprove", "disabled"];
        let cases = [
            ("comand", Some("command")),
            ("Command", Some("command")),
            ("auto_approve", Some("autoApprove")),
            ("arg", Some("args")),
            ("enabled", Some("disabled")),
            ("serverUrl", Some("url")),
            ("servers", None),
            ("metadata", None),
            ("oauth", None),
            ("x", None),
        ];
        for (name, expected) in cases {
            assert_eq!(suggestion(name, KNOWN), expected, "{name}");
        }
    }

    #[test]
    fn the_distance_counts_single_edits() {
        let cases = [
            ("", "", 0),
            ("", "ab", 2),
            ("kitten", "sitting", 3),
            ("abc", "abc", 0),
            ("raeds", "reads", 1),
            ("ab", "ba", 1),
            ("abcd", "badc", 2),
        ];
        for (left, right, expected) in cases {
            assert_eq!(edit_distance(&fold(left), &fold(right)), expected, "{left} {right}");
        }
    }
}
