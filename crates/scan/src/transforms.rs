//! Letters that were put elsewhere: turned around in the alphabet, in a word or on their heads.

use std::collections::HashMap;
use std::sync::LazyLock;

use switchboard_text::fold_char;

use crate::tokens::{TextTokens, skeleton};
use crate::word_sets::WordTable;

/// A way in which letters are put elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum LetterTransform {
    /// Each letter is another one, so many places before it.
    Shifted(u8),
    /// The alphabet from its end.
    Mirrored,
    /// The whole text from its end.
    Reversed,
    /// Each word from its end.
    WordsReversed,
    /// Letters that stand on their heads.
    UpsideDown,
}

impl LetterTransform {
    /// The text as it was before.
    pub(crate) fn undo(self, text: &str) -> String {
        match self {
            Self::Shifted(by) => map_letters(text, |letter| (letter + 26 - by) % 26),
            Self::Mirrored => map_letters(text, |letter| 25 - letter),
            Self::Reversed => text.chars().rev().collect(),
            Self::WordsReversed => {
                let reverse = |word: &str| word.chars().rev().collect::<String>();
                text.split(' ').map(reverse).collect::<Vec<_>>().join(" ")
            }
            Self::UpsideDown => text.chars().map(upright).collect(),
        }
    }
}

/// Words that orders are made of: two of them, turned in the same way, are no accident.
const ORDER_WORDS: [&str; 34] = [
    "ignore", "disregard", "forget", "previous", "prior", "earlier", "instructions", "instruction",
    "system", "prompt", "password", "passwords", "secret", "secrets", "credentials", "before",
    "without", "mention", "reveal", "conversation", "history", "message", "assistant", "execute",
    "forward", "content", "contents", "sidenote", "please", "always", "never", "everything",
    "delete", "upload",
];
/// Short words say as much when there are three of them.
const SHORT_ORDER_WORDS: [&str; 14] = [
    "tell", "user", "read", "pass", "send", "file", "with", "this", "that", "your", "from", "call",
    "tool", "must",
];

/// What a word weighs that was turned in some way.
type TransformedWords = HashMap<String, (LetterTransform, u32)>;

static TRANSFORMED_WORDS: LazyLock<TransformedWords> = LazyLock::new(|| {
    let mut turned = TransformedWords::new();
    let weighed =
        ORDER_WORDS.iter().map(|word| (*word, 3)).chain(SHORT_ORDER_WORDS.map(|word| (word, 2)));
    for (word, weight) in weighed {
        let reversed: String = word.chars().rev().collect();
        turned.insert(key(&reversed), (LetterTransform::Reversed, weight));
        turned.insert(
            key(&LetterTransform::Mirrored.undo(word)),
            (LetterTransform::Mirrored, weight),
        );
        for by in 1..26 {
            turned
                .entry(key(&map_letters(word, |letter| (letter + by) % 26)))
                .or_insert((LetterTransform::Shifted(by), weight));
        }
    }
    turned
});

/// Puts the turned words into the table of all words, under one bit.
pub(crate) fn mark_transformed(words: &mut WordTable, bit: u128) {
    for word in TRANSFORMED_WORDS.keys() {
        *words.entry(word.clone()).or_default() |= bit;
    }
}

/// How the letters of these words were put elsewhere, if they were.
pub(crate) fn detect_transform(
    tokens: &TextTokens,
    places: impl Iterator<Item = usize>,
) -> Option<LetterTransform> {
    let mut weights: HashMap<LetterTransform, u32> = HashMap::new();
    for place in places {
        if let Some((turn, weight)) = TRANSFORMED_WORDS.get(tokens.word(place)) {
            *weights.entry(*turn).or_default() += weight;
        }
    }
    let (turn, weight) = weights.into_iter().max_by_key(|(_, weight)| *weight)?;
    (weight >= 6).then_some(turn)
}

/// Letters on their heads, and what they are.
const UPSIDE_DOWN_LETTERS: [(char, char); 22] = [
    ('ɐ', 'a'),
    ('ɔ', 'c'),
    ('ǝ', 'e'),
    ('ɟ', 'f'),
    ('ƃ', 'g'),
    ('ɥ', 'h'),
    ('ᴉ', 'i'),
    ('ı', 'i'),
    ('ɾ', 'j'),
    ('ʞ', 'k'),
    ('ן', 'l'),
    ('ɯ', 'm'),
    ('ɹ', 'r'),
    ('ʇ', 't'),
    ('ʌ', 'v'),
    ('ʍ', 'w'),
    ('ʎ', 'y'),
    ('q', 'b'),
    ('p', 'd'),
    ('u', 'n'),
    ('d', 'p'),
    ('n', 'u'),
];

/// Whether letters of a text stand on their heads.
pub(crate) fn is_upside_down(text: &str) -> bool {
    let is_turned = |c: &char| !c.is_ascii() && UPSIDE_DOWN_LETTERS.iter().any(|(odd, _)| odd == c);
    !text.is_ascii() && text.chars().filter(is_turned).take(4).count() == 4
}

fn upright(c: char) -> char {
    if c == 'b' {
        return 'q';
    }
    UPSIDE_DOWN_LETTERS.iter().find(|(odd, _)| *odd == c).map_or(c, |(_, letter)| *letter)
}

fn key(word: &str) -> String {
    word.chars().filter_map(fold_char).map(skeleton).collect()
}

/// The text with every letter replaced by number.
fn map_letters(text: &str, number: impl Fn(u8) -> u8) -> String {
    let turn = |c: char, first: u8| {
        let offset = u8::try_from(c).map_or(0, |byte| byte.saturating_sub(first));
        char::from(first + number(offset) % 26)
    };
    text.chars()
        .map(|c| match c {
            'a'..='z' => turn(c, b'a'),
            'A'..='Z' => turn(c, b'A'),
            _ => c,
        })
        .collect()
}
