//! Finds the known names nearest to one that is not known.

/// Beyond this many characters a name is compared by its beginning only.
const MAX_COMPARED_CHARS: usize = 128;
/// A shorter text is part of too many names to mean one of them.
const MIN_PART_LEN: usize = 3;

/// The known names nearest to `wanted`, best first; empty when none is close.
///
/// Case and separators do not count: `get-weather`, `getWeather` and `get_weather` are the same.
/// Typing slips, the same words in another order, a name that holds the wanted one and a name
/// that the wanted one holds all count as near.
#[must_use]
pub fn nearest_names<'a>(
    wanted: &str,
    known: impl Iterator<Item = &'a str>,
    limit: usize,
) -> Vec<&'a str> {
    let mut wanted_letters = Vec::new();
    push_letters(wanted, &mut wanted_letters);
    if wanted_letters.is_empty() || limit == 0 {
        return Vec::new();
    }
    let wanted_words = sorted_words(wanted);
    let allowed = max_edits(wanted_letters.len());
    let mut letters = Vec::new();
    let mut rows = DistanceRows::default();
    let mut best: Vec<(usize, &'a str)> = Vec::new();
    for name in known {
        push_letters(name, &mut letters);
        let Some(mut cost) = edit_cost(&wanted_letters, &letters, allowed, &mut rows)
            .or_else(|| same_words(&wanted_words, name, &letters, &wanted_letters))
        else {
            continue;
        };
        if name == wanted {
            cost = 0;
        }
        let at = best.partition_point(|entry| nearness(entry.0, entry.1) < nearness(cost, name));
        if at < limit && best.get(at).is_none_or(|entry| entry.1 != name) {
            best.insert(at, (cost, name));
            best.truncate(limit);
        }
    }
    best.into_iter().map(|(_, name)| name).collect()
}

/// The sort key of a candidate: the cost, then the length, then the name.
fn nearness(cost: usize, name: &str) -> (usize, usize, &str) {
    (cost, name.len(), name)
}

fn push_letters(name: &str, letters: &mut Vec<char>) {
    letters.clear();
    let bare = name.chars().filter(|character| character.is_alphanumeric());
    letters.extend(bare.flat_map(char::to_lowercase).take(MAX_COMPARED_CHARS));
}

/// How many slips a name of this length may have before it is another name.
fn max_edits(length: usize) -> usize {
    match length {
        0..=2 => 0,
        3..=5 => 1,
        6..=9 => 2,
        _ => 3,
    }
}

/// How far apart two names are in tenths of a slip, or nothing when they are not close.
fn edit_cost(
    wanted: &[char],
    known: &[char],
    allowed: usize,
    rows: &mut DistanceRows,
) -> Option<usize> {
    if wanted == known {
        return Some(1);
    }
    let slips = rows.edit_distance(wanted, known, allowed).map(|slips| slips * 10);
    let (short, long) = if wanted.len() <= known.len() { (wanted, known) } else { (known, wanted) };
    if short.len() < MIN_PART_LEN {
        return slips;
    }
    let extra = long.len() - short.len();
    let part = if long.starts_with(short) {
        Some(12 + extra.min(15))
    } else if long.windows(short.len()).any(|window| window == short) {
        Some(15 + extra.min(20))
    } else {
        None
    };
    match (slips, part) {
        (Some(slips), Some(part)) => Some(slips.min(part)),
        (one, other) => one.or(other),
    }
}

fn same_words(
    wanted_words: &[String],
    name: &str,
    letters: &[char],
    wanted_letters: &[char],
) -> Option<usize> {
    // Equal length first: words are only taken apart for the few names that can be equal.
    let possible = wanted_words.len() > 1 && letters.len() == wanted_letters.len();
    (possible && sorted_words(name) == wanted_words).then_some(11)
}

fn sorted_words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    crate::words::for_each_part(name, |word| words.push(word.to_owned()));
    words.sort_unstable();
    words
}

/// The last three rows of the edit distance table, kept between names.
#[derive(Default)]
struct DistanceRows {
    before: Vec<usize>,
    previous: Vec<usize>,
    current: Vec<usize>,
}

impl DistanceRows {
    /// Letters added, dropped, replaced or swapped with their neighbour, up to `allowed`.
    fn edit_distance(&mut self, wanted: &[char], known: &[char], allowed: usize) -> Option<usize> {
        if wanted.len().abs_diff(known.len()) > allowed {
            return None;
        }
        self.previous.clear();
        self.previous.extend(0..=known.len());
        self.before.clone_from(&self.previous);
        let mut letter_before = None;
        for (row, letter) in wanted.iter().enumerate() {
            self.current.clear();
            self.current.push(row + 1);
            let mut least = row + 1;
            for (column, other) in known.iter().enumerate() {
                let value = self.cell(column, letter, letter_before, other, known);
                self.current.push(value);
                least = least.min(value);
            }
            if least > allowed {
                return None;
            }
            std::mem::swap(&mut self.before, &mut self.previous);
            std::mem::swap(&mut self.previous, &mut self.current);
            letter_before = Some(letter);
        }
        self.previous.last().copied().filter(|slips| *slips <= allowed)
    }

    fn cell(
        &self,
        column: usize,
        letter: &char,
        letter_before: Option<&char>,
        other: &char,
        known: &[char],
    ) -> usize {
        let at = |row: &[usize], index: usize| row.get(index).copied().unwrap_or(usize::MAX / 2);
        let replaced = at(&self.previous, column) + usize::from(letter != other);
        let dropped = at(&self.previous, column + 1) + 1;
        let added = at(&self.current, column) + 1;
        let mut value = replaced.min(dropped).min(added);
        if let Some(left) = column.checked_sub(1) {
            let swapped = known.get(left) == Some(letter) && letter_before == Some(other);
            if swapped && letter != other {
                value = value.min(at(&self.before, left) + 1);
            }
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KNOWN: [&str; 9] = [
        "get_weather",
        "get_forecast",
        "read_file",
        "write_file",
        "read_text_file",
        "list_directory",
        "ls",
        "createIssue",
        "搜索网页",
    ];

    fn near(wanted: &str) -> Vec<&'static str> {
        nearest_names(wanted, KNOWN.into_iter(), 3)
    }

    #[test]
    fn near_names_come_best_first_and_far_ones_not_at_all() {
        let cases: [(&str, &[&str]); 14] = [
            ("get-weather", &["get_weather"]),
            ("getWeather", &["get_weather"]),
            ("GET WEATHER", &["get_weather"]),
            ("get_wether", &["get_weather"]),
            ("get_waether", &["get_weather"]),
            ("weather_get", &["get_weather"]),
            ("weather", &["get_weather"]),
            ("file", &["read_file", "write_file", "read_text_file"]),
            ("raed_file", &["read_file"]),
            ("create_issue", &["createIssue"]),
            ("github__create_issue", &["createIssue"]),
            ("搜索网", &["搜索网页"]),
            ("l", &[]),
            ("send_email", &[]),
        ];
        for (wanted, expected) in cases {
            assert_eq!(near(wanted), expected, "{wanted}");
        }
    }

    #[test]
    fn a_slip_is_a_letter_added_dropped_replaced_or_swapped() {
        let cases = [("ab", "ba", 1), ("abc", "abxc", 1), ("abc", "ac", 1), ("abc", "axc", 1)];
        for (left, right, expected) in cases {
            let left: Vec<char> = left.chars().collect();
            let right: Vec<char> = right.chars().collect();
            assert_eq!(DistanceRows::default().edit_distance(&left, &right, 3), Some(expected));
            assert_eq!(DistanceRows::default().edit_distance(&left, &right, 0), None);
        }
    }

    #[test]
    fn nothing_wanted_or_nothing_allowed_gives_nothing() {
        assert_eq!(near(""), Vec::<&str>::new());
        assert_eq!(near("__"), Vec::<&str>::new());
        assert_eq!(nearest_names("ls", KNOWN.into_iter(), 0), Vec::<&str>::new());
    }

    #[test]
    fn the_name_itself_comes_before_its_twin_in_another_case() {
        let known = ["getWeather", "get-weather", "get_weather"];
        assert_eq!(nearest_names("get_weather", known.into_iter(), 1), ["get_weather"]);
    }

    proptest! {
        #[test]
        fn slips_are_symmetric_and_zero_only_for_equals(left in "[ab]{0,8}", right in "[ab]{0,8}") {
            let left: Vec<char> = left.chars().collect();
            let right: Vec<char> = right.chars().collect();
            let mut rows = DistanceRows::default();
            let there = rows.edit_distance(&left, &right, 9);
            prop_assert_eq!(there, rows.edit_distance(&right, &left, 9));
            prop_assert_eq!(there == Some(0), left == right);
        }

        #[test]
        fn any_text_is_answered_within_the_limit(
            wanted in "\\PC{0,40}",
            known in proptest::collection::vec("\\PC{0,40}", 0..20),
            limit in 0_usize..5,
        ) {
            let found = nearest_names(&wanted, known.iter().map(String::as_str), limit);
            prop_assert!(found.len() <= limit);
            prop_assert!(found.iter().all(|name| known.iter().any(|other| other == name)));
        }
    }
}
