//! Transforms of letters: Caesar shift, Atbash, reversal, upside-down letters.

use std::collections::HashMap;
use std::sync::LazyLock;

use switchboard_text::fold_char;

use crate::tokens::{TextTokens, skeleton};
use crate::word_sets::WordTable;

/// A transform that hides the letters of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum LetterTransform {
    // A Caesar shift by this number of places.
    Shifted(u8),
    // Atbash, the alphabet reversed.
    Mirrored,
    Reversed,
    WordsReversed,
    // Letters replaced by rotated look-alikes.
    UpsideDown,
}

impl LetterTransform {
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

// Typical words of instructions. Two of them under the same transform are not a coincidence.
const ORDER_WORDS: [&str; 34] = [
    "ignore", "disregard", "forget", "previous", "prior", "earlier", "instructions", "instruction",
    "system", "prompt", "password", "passwords", "secret", "secrets", "credentials", "before",
    "without", "mention", "reveal", "conversation", "history", "message", "assistant", "execute",
    "forward", "content", "contents", "sidenote", "please", "always", "never", "everything",
    "delete", "upload",
];
// Of these short words, it takes three.
const SHORT_ORDER_WORDS: [&str; 14] = [
    "tell", "user", "read", "pass", "send", "file", "with", "this", "that", "your", "from", "call",
    "tool", "must",
];

type TransformedWords = HashMap<String, (LetterTransform, u32)>;

static TRANSFORMED_WORDS: LazyLock<TransformedWords> = LazyLock::new(|| {
    let mut turned = TransformedWords::new();
    let weighed =
        ORDER_WORDS.iter().map(|word| (*word, 3)).chain(SHORT_ORDER_WORDS.map(|word| (word, 2)));
    for (word, weight) in weighed {
        let reversed: String = word.chars().rev().collect();
        turned.insert(key(&reversed), (LetterTransform::Reversed, weight));
        let mirrored = key(&LetterTransform::Mirrored.undo(word));
        turned.insert(mirrored, (LetterTransform::Mirrored, weight));
        for by in 1..26 {
            let shifted = key(&map_letters(word, |letter| (letter + by) % 26));
            turned.entry(shifted).or_insert((LetterTransform::Shifted(by), weight));
        }
    }
    turned
});

/// Adds the transformed words to the word table, under one bit.
pub(crate) fn mark_transformed(words: &mut WordTable, bit: u128) {
    for word in TRANSFORMED_WORDS.keys() {
        *words.entry(word.clone()).or_default() |= bit;
    }
}

/// Detects the transform of these words, if there is enough evidence.
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

// Rotated letters, and their originals at the same positions.
const ROTATED_LETTERS: &str = "ɐɔǝɟƃɥᴉıɾʞןɯɹʇʌʍʎqpudnb";
const UPRIGHT_LETTERS: &str = "acefghiijklmrtvwybdnpuq";

/// Returns whether a text contains several upside-down letters.
pub(crate) fn is_upside_down(text: &str) -> bool {
    let is_turned = |c: &char| !c.is_ascii() && ROTATED_LETTERS.contains(*c);
    !text.is_ascii() && text.chars().filter(is_turned).take(4).count() == 4
}

fn upright(c: char) -> char {
    let mut pairs = ROTATED_LETTERS.chars().zip(UPRIGHT_LETTERS.chars());
    pairs.find(|(odd, _)| *odd == c).map_or(c, |(_, letter)| letter)
}

fn key(word: &str) -> String {
    word.chars().filter_map(fold_char).map(skeleton).collect()
}

/// Replaces every letter by its mapped index in the alphabet.
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
