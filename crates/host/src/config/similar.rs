//! "Did you mean": the known name that is close to an unknown one.

/// What other products call a key of ours.
const OTHER_NAMES: &[(&str, &str)] = &[
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
pub(super) fn suggestion(name: &str, known: &[&'static str]) -> Option<&'static str> {
    let meant = OTHER_NAMES.iter().find(|(other, _)| *other == name).map(|(_, ours)| *ours);
    if let Some(ours) = meant.filter(|ours| known.contains(ours)) {
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
        .map(|candidate| (distance(&folded, &fold(candidate)), *candidate))
        .filter(|(distance, _)| *distance <= most)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Spelling without case and word separators.
fn fold(name: &str) -> Vec<char> {
    name.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect()
}

/// Levenshtein distance, one row at a time.
fn distance(left: &[char], right: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (index, from) in left.iter().enumerate() {
        let mut diagonal = index;
        let mut before = index + 1;
        let mut next = Vec::with_capacity(row.len());
        next.push(before);
        for (to, above) in right.iter().zip(row.iter().skip(1)) {
            let replaced = diagonal + usize::from(from != to);
            before = replaced.min(before + 1).min(above + 1);
            diagonal = *above;
            next.push(before);
        }
        row = next;
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
        let cases = [("", "", 0), ("", "ab", 2), ("kitten", "sitting", 3), ("abc", "abc", 0)];
        for (left, right, expected) in cases {
            assert_eq!(distance(&fold(left), &fold(right)), expected, "{left} {right}");
        }
    }
}
