//! Names that are one slip of the finger away from another: `githubb`, `git-hub`, `send_emall`.

use crate::characters::fold_char;
use crate::similar::edit_distance;

/// Shorter words are one letter away from many others: `get`, `set`, `let`.
const MIN_CHARS: usize = 5;
/// Nobody takes a longer name for another one by its letters.
const MAX_CHARS: usize = 64;

/// Whether a reader can take one name for the other, because a letter more or less, another letter
/// or two that changed places is all that tells them apart. Numbers and the ends of words are read:
/// `files` is not `file`, and `srv1` not `srv2`.
pub fn is_near(one: &str, other: &str) -> bool {
    if one.len() > MAX_CHARS || other.len() > MAX_CHARS {
        return false;
    }
    let one = words(one);
    let other = words(other);
    let mut pairs = one.iter().zip(&other).filter(|(one, other)| one != other);
    let (Some((left, right)), None) = (pairs.next(), pairs.next()) else { return false };
    one.len() == other.len() && is_one_edit(left, right)
}

/// Whether only signs between words tell two names apart.
pub fn differs_in_separators(one: &str, other: &str) -> bool {
    one != other && words(one).concat() == words(other).concat()
}

/// Texts of which two names that are near share one.
pub fn near_keys(name: &str) -> Vec<String> {
    if name.len() > MAX_CHARS {
        return Vec::new();
    }
    let words = words(name);
    let with = |place: usize, letters: &mut dyn Iterator<Item = char>| {
        let word: String = letters.collect();
        let (before, after) = words.split_at_checked(place).unwrap_or_default();
        let after = after.get(1..).unwrap_or_default().iter();
        let before = before.iter().map(|word| word.iter().collect::<String>());
        let after = after.map(|word| word.iter().collect::<String>());
        before.chain([format!("{word}?")]).chain(after).collect::<Vec<_>>().join("_")
    };
    let mut traces = Vec::new();
    for (place, word) in words.iter().enumerate().filter(|(_, word)| word.len() + 1 >= MIN_CHARS) {
        traces.push(with(place, &mut word.iter().copied()));
        for left_out in 0..word.len() {
            let letters = word.iter().enumerate().filter(|(at, _)| *at != left_out);
            traces.push(with(place, &mut letters.map(|(_, letter)| *letter)));
        }
    }
    traces.sort_unstable();
    traces.dedup();
    traces
}

fn is_one_edit(one: &[char], other: &[char]) -> bool {
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    let is_ending = long.strip_prefix(short).is_some_and(|end| matches!(end, ['s' | 'd']));
    // `mail` is no slip of `email`: readers see how a word begins.
    let begins_alike = one.len() == other.len() || one.first() == other.first();
    let numbers =
        |word: &[char]| word.iter().filter(|c| c.is_numeric()).copied().collect::<String>();
    long.len() >= MIN_CHARS
        && begins_alike
        && !is_ending
        && numbers(one) == numbers(other)
        && edit_distance(one, other) == 1
}

/// The words of a name, as a reader sees them.
fn words(name: &str) -> Vec<Vec<char>> {
    let mut words = vec![Vec::new()];
    let mut was_small = false;
    for sign in name.chars() {
        let begins = was_small && sign.is_uppercase();
        was_small = sign.is_lowercase() || sign.is_numeric();
        match fold_char(sign) {
            Some(seen) if seen.is_alphanumeric() => {
                if begins {
                    words.push(Vec::new());
                }
                if let Some(word) = words.last_mut() {
                    word.push(seen);
                }
            }
            Some(_) => words.push(Vec::new()),
            None => {}
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
