//! Similar names: suggestions for an unknown name, and names that can be mistaken for another.

use std::cmp::Ordering;

use strsim::osa_distance;

use crate::characters::fold_char;
use crate::words::for_each_part;

/// Maximum number of characters compared; longer names are compared by their beginning only.
// The edit distance takes quadratic time, and servers choose the names.
const MAX_COMPARED_CHARS: usize = 128;
/// Minimum length of a name that may match as part of another; shorter ones match too many.
const MIN_PART_CHARS: usize = 3;
/// Maximum length of a key that gets a suggestion.
const MAX_KEY_CHARS: usize = 40;
/// Minimum length of a word that can have a typo: `get`, `set` and `let` are different words.
const MIN_NEAR_CHARS: usize = 5;
/// Maximum length of a name that is compared with others for a single typo.
const MAX_NEAR_BYTES: usize = 64;

/// Keys of other products, and the equivalent key here.
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

/// Returns the key in `known` that `name` is probably a misspelling or an alias of.
pub fn suggestion<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    let meant = ALIASES.iter().find(|(other, _)| *other == name).map(|(_, ours)| *ours);
    if let Some(ours) = meant.and_then(|ours| known.iter().find(|known| **known == ours)) {
        return Some(ours);
    }
    // Stricter than `nearest_names`: a key that only contains a known one may be the extension of
    // another product, and a warning about it would be wrong.
    let folded = fold_key(name);
    let length = folded.chars().count();
    if length > MAX_KEY_CHARS {
        return None;
    }
    known
        .iter()
        .map(|candidate| (osa_distance(&folded, &fold_key(candidate)), *candidate))
        .filter(|(slips, _)| *slips <= max_slips(length).min(2))
        .min_by_key(|(slips, _)| *slips)
        .map(|(_, candidate)| candidate)
}

fn fold_key(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect()
}

/// Returns the known names nearest to `wanted`, best first; empty if none is close.
///
/// Case and separators do not count: `get-weather`, `getWeather` and `get_weather` are the same.
/// Typos, the same words in another order, and names that contain the wanted one or are contained
/// in it all count as near.
#[must_use]
pub fn nearest_names<'a>(
    wanted: &str,
    known: impl Iterator<Item = &'a str>,
    limit: usize,
) -> Vec<&'a str> {
    let letters = NameLetters::new(wanted);
    if letters.count == 0 || limit == 0 {
        return Vec::new();
    }
    let words = sorted_words(wanted);
    let mut best: Vec<(usize, &'a str)> = Vec::new();
    for name in known {
        let known_letters = NameLetters::new(name);
        // Words are split only for the few names that can have the same ones.
        let has_same_words = || {
            words.len() > 1 && letters.count == known_letters.count && sorted_words(name) == words
        };
        let cost = match letters.distance(&known_letters) {
            _ if name == wanted => 0,
            Some(cost) => cost,
            // One typo costs 10, so reordered words rank just behind it.
            None if has_same_words() => 11,
            None => continue,
        };
        // The order is total, so a duplicate can only be at the place of insertion itself.
        let at = best.partition_point(|entry| compare_nearness(entry, &(cost, name)).is_lt());
        if at < limit && best.get(at).is_none_or(|entry| entry.1 != name) {
            best.insert(at, (cost, name));
            best.truncate(limit);
        }
    }
    best.into_iter().map(|(_, name)| name).collect()
}

fn compare_nearness(left: &(usize, &str), right: &(usize, &str)) -> Ordering {
    left.0.cmp(&right.0).then(left.1.len().cmp(&right.1.len())).then(left.1.cmp(right.1))
}

/// Returns the maximum number of typos in a name of this length.
const fn max_slips(length: usize) -> usize {
    match length {
        0..=2 => 0,
        3..=5 => 1,
        6..=9 => 2,
        _ => 3,
    }
}

fn sorted_words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    for_each_part(name, |word| words.push(word.to_owned()));
    words.sort_unstable();
    words
}

/// The letters and digits of a name in lower case.
struct NameLetters {
    text: String,
    count: usize,
}

impl NameLetters {
    fn new(name: &str) -> Self {
        let bare = name.chars().filter(|character| character.is_alphanumeric());
        let text: String = bare.flat_map(char::to_lowercase).take(MAX_COMPARED_CHARS).collect();
        let count = text.chars().count();
        Self { text, count }
    }

    /// Returns the distance to a known name in tenths of a typo; `None` if it is not close.
    fn distance(&self, known: &Self) -> Option<usize> {
        if self.text == known.text {
            return Some(1);
        }
        let (short, long) = if self.count <= known.count { (self, known) } else { (known, self) };
        let extra = long.count - short.count;
        let allowed = max_slips(self.count);
        let slips = (extra <= allowed)
            .then(|| osa_distance(&self.text, &known.text))
            .filter(|slips| *slips <= allowed)
            .map(|slips| slips * 10);
        let part = match long.text.find(&short.text) {
            _ if short.count < MIN_PART_CHARS => None,
            Some(0) => Some(12 + extra.min(15)),
            Some(_) => Some(15 + extra.min(20)),
            None => None,
        };
        slips.into_iter().chain(part).min()
    }
}

/// Returns whether a reader can mistake one name for the other: in one word, a letter is added,
/// missing, replaced or swapped with its neighbour. Readers notice numbers and endings: `files` is
/// not near `file`, and `srv1` is not near `srv2`.
pub fn is_near(one: &str, other: &str) -> bool {
    if one.len() > MAX_NEAR_BYTES || other.len() > MAX_NEAR_BYTES {
        return false;
    }
    let one = visible_words(one);
    let other = visible_words(other);
    let mut pairs = one.iter().zip(&other).filter(|(one, other)| one != other);
    let (Some((left, right)), None) = (pairs.next(), pairs.next()) else { return false };
    one.len() == other.len() && is_one_slip(left, right)
}

/// Returns whether two names differ only in the separators between their words.
pub fn differs_in_separators(one: &str, other: &str) -> bool {
    one != other && visible_words(one).concat() == visible_words(other).concat()
}

/// Returns keys of which two near names share at least one, for use in an index.
pub fn near_keys(name: &str) -> Vec<String> {
    if name.len() > MAX_NEAR_BYTES {
        return Vec::new();
    }
    // The keys are all deletions of one letter: words at distance 1 share a deletion, or one of
    // them is a deletion of the other. An index over the keys avoids comparing all pairs of names.
    let words = visible_words(name);
    let mut keys = Vec::new();
    for (place, word) in words.iter().enumerate() {
        // The similar word may be one letter longer.
        if word.chars().count() + 1 < MIN_NEAR_CHARS {
            continue;
        }
        let shorter = word.char_indices().map(|(at, letter)| {
            let (before, after) = word.split_at_checked(at).unwrap_or_default();
            format!("{before}{}?", after.strip_prefix(letter).unwrap_or_default())
        });
        for variant in [format!("{word}?")].into_iter().chain(shorter) {
            let with_variant = |(at, word)| if at == place { &variant } else { word };
            let key: Vec<&str> =
                words.iter().enumerate().map(with_variant).map(String::as_str).collect();
            keys.push(key.join("_"));
        }
    }
    keys.sort_unstable();
    keys.dedup();
    keys
}

fn is_one_slip(one: &str, other: &str) -> bool {
    let length = one.chars().count();
    let other_length = other.chars().count();
    let (short, long) = if length <= other_length { (one, other) } else { (other, one) };
    let is_ending = matches!(long.strip_prefix(short), Some("s" | "d"));
    // `mail` is not a typo of `email`: readers notice the beginning of a word.
    let begins_alike = length == other_length || one.chars().next() == other.chars().next();
    let numbers = |word: &str| word.chars().filter(|c| c.is_numeric()).collect::<String>();
    length.max(other_length) >= MIN_NEAR_CHARS
        && begins_alike
        && !is_ending
        && numbers(one) == numbers(other)
        && osa_distance(one, other) == 1
}

/// Returns the words of a name as a reader sees them, with homoglyphs folded.
fn visible_words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for sign in name.chars() {
        let begins = was_small && sign.is_uppercase();
        was_small = sign.is_lowercase() || sign.is_numeric();
        match fold_char(sign) {
            Some(seen) if seen.is_alphanumeric() => {
                if begins {
                    words.push(String::new());
                }
                words.last_mut().into_iter().for_each(|word| word.push(seen));
            }
            Some(_) => words.push(String::new()),
            None => {}
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KNOWN: [&str; 9] = [
        "get_weather", "get_forecast", "read_file", "write_file", "read_text_file",
        "list_directory", "ls", "createIssue", "搜索网页",
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
        for (wanted, expected) in [("raed", 1), ("reaad", 1), ("red", 1), ("rexd", 1), ("dear", 0)]
        {
            let found = nearest_names(wanted, ["read"].into_iter(), 3);
            assert_eq!(found.len(), expected, "{wanted}");
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
    fn one_slip_in_a_long_word_is_near() {
        for (one, other) in [
            ("github", "githubb"),
            ("github", "gihtub"),
            ("github", "gitub"),
            ("send_email", "send_emall"),
            ("sendEmail", "send-emails2x"),
            ("send_email", "SendEmaill"),
            ("delete_file", "delette_file"),
        ] {
            let expected = !other.contains('2');
            assert_eq!(is_near(one, other), expected, "{one} {other}");
            assert_eq!(is_near(other, one), expected, "{one} {other}");
            let shared = near_keys(one).iter().any(|trace| near_keys(other).contains(trace));
            assert_eq!(shared, expected, "{one} {other}");
        }
        for (one, other) in [
            ("get_user", "set_user"),
            ("file", "files"),
            ("message", "messages"),
            ("update", "updated"),
            ("srv-11111", "srv-11112"),
            ("github", "github"),
            ("github", "gitlab"),
            ("send_email", "email_send"),
            ("send_email", "send_mail"),
            ("git", "gist"),
        ] {
            assert!(!is_near(one, other), "{one} {other}");
        }
        assert!(differs_in_separators("github", "git-hub") && !differs_in_separators("a", "a"));
        assert!(near_keys(&"x".repeat(1_000)).is_empty());
    }

    proptest! {
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
