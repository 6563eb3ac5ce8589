//! Letters that were put elsewhere: turned around in the alphabet, in a word or on their heads.

use std::collections::HashMap;
use std::sync::LazyLock;

use switchboard_text::characters::plain;

use crate::tokens::{Tokens, skeleton};
use crate::word_sets::Words;

/// A way in which letters are put elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Turn {
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

impl Turn {
    /// The text as it was before.
    pub(crate) fn undo(self, text: &str) -> String {
        match self {
            Self::Shifted(by) => each(text, |letter| (letter + 26 - by) % 26),
            Self::Mirrored => each(text, |letter| 25 - letter),
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
const TELLING: [&str; 34] = [
    "ignore",
    "disregard",
    "forget",
    "previous",
    "prior",
    "earlier",
    "instructions",
    "instruction",
    "system",
    "prompt",
    "password",
    "passwords",
    "secret",
    "secrets",
    "credentials",
    "before",
    "without",
    "mention",
    "reveal",
    "conversation",
    "history",
    "message",
    "assistant",
    "execute",
    "forward",
    "content",
    "contents",
    "sidenote",
    "please",
    "always",
    "never",
    "everything",
    "delete",
    "upload",
];
/// Short words say as much when there are three of them.
const SHORT: [&str; 14] = [
    "tell", "user", "read", "pass", "send", "file", "with", "this", "that", "your", "from", "call",
    "tool", "must",
];

/// What a word weighs that was turned in some way.
type Turned = HashMap<String, (Turn, u32)>;

static TURNED: LazyLock<Turned> = LazyLock::new(|| {
    let mut turned = Turned::new();
    let weighed = TELLING.iter().map(|word| (*word, 3)).chain(SHORT.map(|word| (word, 2)));
    for (word, weight) in weighed {
        let reversed: String = word.chars().rev().collect();
        turned.insert(key(&reversed), (Turn::Reversed, weight));
        turned.insert(key(&Turn::Mirrored.undo(word)), (Turn::Mirrored, weight));
        for by in 1..26 {
            turned
                .entry(key(&each(word, |letter| (letter + by) % 26)))
                .or_insert((Turn::Shifted(by), weight));
        }
    }
    turned
});

/// Puts the turned words into the table of all words, under one bit.
pub(crate) fn mark(words: &mut Words, bit: u128) {
    for word in TURNED.keys() {
        *words.entry(word.clone()).or_default() |= bit;
    }
}

/// How the letters of these words were put elsewhere, if they were.
pub(crate) fn turn_of(tokens: &Tokens, places: impl Iterator<Item = usize>) -> Option<Turn> {
    let mut weights: HashMap<Turn, u32> = HashMap::new();
    for place in places {
        if let Some((turn, weight)) = TURNED.get(tokens.word(place)) {
            *weights.entry(*turn).or_default() += weight;
        }
    }
    let (turn, weight) = weights.into_iter().max_by_key(|(_, weight)| *weight)?;
    (weight >= 6).then_some(turn)
}

/// Letters on their heads, and what they are.
const UPRIGHT: [(char, char); 22] = [
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
    let is_turned = |c: &char| !c.is_ascii() && UPRIGHT.iter().any(|(odd, _)| odd == c);
    !text.is_ascii() && text.chars().filter(is_turned).take(4).count() == 4
}

fn upright(c: char) -> char {
    if c == 'b' {
        return 'q';
    }
    UPRIGHT.iter().find(|(odd, _)| *odd == c).map_or(c, |(_, letter)| *letter)
}

fn key(word: &str) -> String {
    word.chars().filter_map(plain).map(skeleton).collect()
}

/// The text with every letter replaced by number.
fn each(text: &str, number: impl Fn(u8) -> u8) -> String {
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
