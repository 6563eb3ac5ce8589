//! Splits text into the words that search compares.

/// Maximum length of a word; longer ones are truncated.
const MAX_WORD_LEN: usize = 48;

/// Words so common in questions that they do not identify a tool.
// Sorted, for the binary search.
#[rustfmt::skip]
const STOP_WORDS: [&str; 145] = [
    "a", "about", "all", "also", "am", "an", "and", "any", "appreciate", "are", "as", "assist",
    "assistance", "at", "be", "because", "been", "being", "but", "by", "can", "could", "curious",
    "currently", "detailed", "did", "do", "does", "doing", "during", "each", "every", "for", "from",
    "getting", "give", "going", "good", "great", "had", "has", "have", "he", "hello", "help", "her",
    "here", "hey", "hi", "his", "how", "i", "if", "in", "interested", "into", "is", "it", "its",
    "just", "kind", "know", "let", "like", "ll", "looking", "lot", "m", "many", "may", "me",
    "might", "more", "much", "my", "myself", "need", "no", "not", "of", "on", "one", "only", "or",
    "other", "our", "out", "particular", "please", "provide", "providing", "re", "really",
    "regarding", "s", "she", "should", "so", "some", "specific", "specifically", "such", "t",
    "tell", "than", "that", "the", "their", "them", "then", "there", "these", "they", "thing",
    "things", "think", "this", "those", "to", "too", "trying", "us", "ve", "very", "want", "was",
    "way", "we", "well", "were", "what", "when", "where", "which", "while", "who", "why", "will",
    "with", "wondering", "would", "yes", "yet", "you", "your",
];

/// Returns whether a lower-case word is a stop word.
pub fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

/// Calls `take` with each part in lower case: `HTTPServer_v2` has `http`, `server`, `v` and `2`.
pub fn for_each_part(text: &str, mut take: impl FnMut(&str)) {
    let mut part = String::new();
    for run in text.split(|character: char| !character.is_alphanumeric()) {
        split_run(run, &mut part, &mut take);
    }
}

/// Calls `take` with each word of the text in lower case, unstemmed: its parts, and for a word of
/// several parts such as `GitHub` or `web3` also the whole.
pub fn for_each_word(text: &str, mut take: impl FnMut(&str)) {
    let mut part = String::new();
    let mut whole = String::new();
    for run in text.split(|character: char| !character.is_alphanumeric()) {
        let mut parts = 0_usize;
        split_run(run, &mut part, &mut |word| {
            parts += 1;
            take(word);
        });
        // A run of ideographs may be a whole sentence, which is not a word that people search for.
        if parts > 1 && !run.chars().any(is_ideograph) {
            whole.clear();
            whole.extend(run.chars().flat_map(char::to_lowercase).take(MAX_WORD_LEN));
            take(&whole);
        }
    }
}

/// Splits a run of letters and digits at changes from lower to upper case, at the end of an
/// acronym, and between letters and digits.
fn split_run(run: &str, part: &mut String, take: &mut impl FnMut(&str)) {
    part.clear();
    let mut previous: Option<char> = None;
    let mut characters = run.chars().peekable();
    while let Some(character) = characters.next() {
        // No spaces separate ideographs, so overlapping pairs of them serve as words.
        if is_ideograph(character) {
            flush(part, take);
            part.push(character);
            match characters.peek() {
                Some(next) if is_ideograph(*next) => part.push(*next),
                // The last ideograph was already the second of a pair.
                _ if previous.is_some_and(is_ideograph) => part.clear(),
                _ => {}
            }
            flush(part, take);
        } else {
            let next = characters.peek().copied();
            if previous.is_some_and(|previous| begins_part(previous, character, next)) {
                flush(part, take);
            }
            if part.len() < MAX_WORD_LEN {
                part.extend(character.to_lowercase());
            }
        }
        previous = Some(character);
    }
    flush(part, take);
}

fn flush(part: &mut String, take: &mut impl FnMut(&str)) {
    if !part.is_empty() {
        take(part);
        part.clear();
    }
}

fn begins_part(previous: char, character: char, next: Option<char>) -> bool {
    if previous.is_numeric() != character.is_numeric() {
        return true;
    }
    // The plural of an acronym (`URLs`) is one word.
    let word_follows = |next: char| next.is_lowercase() && next != 's';
    character.is_uppercase() && (previous.is_lowercase() || next.is_some_and(word_follows))
}

fn is_ideograph(character: char) -> bool {
    matches!(character, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3134f}')
}

/// Returns the common stem of the forms of an English word: `file` and `files`, `create`,
/// `creates`, `created` and `creating`.
pub fn stem(word: &str) -> &str {
    if !word.is_ascii() || word.len() < 3 {
        return word;
    }
    let singular = without_plural(word);
    // Without a vowel, the ending belongs to the word, as in `string` and `bring`.
    let is_base = |base: &&str| base.len() > 1 && base.contains(['a', 'e', 'i', 'o', 'u', 'y']);
    let base = ["ing", "ed"]
        .iter()
        .find_map(|ending| singular.strip_suffix(ending).filter(is_base))
        .map_or(singular, without_double);
    match base.strip_suffix('e') {
        Some(shorter) if shorter.len() > 1 => shorter,
        _ => base,
    }
}

fn without_plural(word: &str) -> &str {
    if word.len() < 4 {
        return word;
    }
    if let Some(base) = word.strip_suffix("es") {
        // `queries` loses `ie` and `query` loses `y`, so that both have the same stem.
        if let Some(shorter) = base.strip_suffix('i').filter(|shorter| shorter.len() > 2) {
            return shorter;
        }
        if ["x", "ch", "sh", "ss", "zz"].iter().any(|ending| base.ends_with(ending)) {
            return base;
        }
    }
    if let Some(base) = word.strip_suffix('s') {
        // `class`, `status` and `analysis` are not plurals.
        return if base.ends_with(['s', 'u', 'i']) { word } else { base };
    }
    match word.strip_suffix('y') {
        Some(base) if base.len() > 2 && !base.ends_with(['a', 'e', 'o', 'u']) => base,
        _ => word,
    }
}

/// Removes a doubled consonant: `runn` of `running` becomes `run`, but `call` of `calling` stays.
fn without_double(base: &str) -> &str {
    let mut from_end = base.chars().rev();
    let last = from_end.next();
    let before = from_end.next();
    let doubled = last == before && last.is_some_and(|letter| !"aeioulsz".contains(letter));
    match last.and_then(|last| base.strip_suffix(last)) {
        Some(shorter) if doubled && shorter.len() > 2 => shorter,
        _ => base,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        for_each_word(text, |word| words.push(word.to_owned()));
        words
    }

    #[test]
    fn text_is_split_at_case_separators_and_digits() {
        let cases: [(&str, &[&str]); 9] = [
            ("get_weather-now", &["get", "weather", "now"]),
            ("getWeather", &["get", "weather", "getweather"]),
            ("HTTPServer", &["http", "server", "httpserver"]),
            ("list URLs.", &["list", "urls"]),
            ("web3", &["web", "3", "web3"]),
            ("GitHub's issues", &["git", "hub", "github", "s", "issues"]),
            ("Übersicht", &["übersicht"]),
            ("搜索网页 web", &["搜索", "索网", "网页", "web"]),
            ("页", &["页"]),
        ];
        for (text, expected) in cases {
            assert_eq!(words(text), expected, "{text}");
        }
    }

    #[test]
    fn the_forms_of_a_word_share_a_stem() {
        let families: [&[&str]; 10] = [
            &["file", "files"],
            &["create", "creates", "created", "creating"],
            &["delete", "deleted", "deleting"],
            &["run", "runs", "running"],
            &["query", "queries"],
            &["search", "searches", "searched", "searching"],
            &["call", "calls", "calling"],
            &["box", "boxes"],
            &["use", "used", "using"],
            &["address", "addresses"],
        ];
        for family in families {
            let stems: Vec<_> = family.iter().map(|word| stem(word)).collect();
            assert!(stems.windows(2).all(|pair| pair[0] == pair[1]), "{family:?} {stems:?}");
        }
    }

    #[test]
    fn different_words_keep_different_stems() {
        let pairs =
            [("string", "str"), ("status", "stat"), ("bed", "b"), ("ring", "r"), ("day", "da")];
        for (left, right) in pairs {
            assert_ne!(stem(left), stem(right), "{left} {right}");
        }
    }

    #[test]
    fn common_words_are_in_the_order_that_finding_them_needs() {
        assert!(STOP_WORDS.is_sorted());
        assert!(is_stop_word("the") && !is_stop_word("weather"));
    }
}
