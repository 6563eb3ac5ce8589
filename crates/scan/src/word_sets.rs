//! Word sets of the rules: assigns each a bit, and expands the forms of its words.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use switchboard_text::fold_char;

use crate::tokens::{FILE, MAIL, SECRET, SETTING, URL, skeleton};

/// The sets of each word, as a bit mask.
pub(crate) type WordTable = HashMap<String, u128, BuildHasherDefault<WordHasher>>;

/// Marks words that begin a two-word entry.
pub(crate) const PAIR_BIT: u128 = 1 << 7;

#[derive(Clone, Copy, Debug)]
pub(crate) struct PatternStep {
    pub(crate) sets: u128,
    /// The number of other words that may precede it.
    pub(crate) gap: usize,
}

// A fast hash for short words. The table has only built-in words, so an attacker cannot provoke
// collisions.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WordHasher(u64);

impl Hasher for WordHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }
}

/// The word sets seen so far, with the bit of each.
pub(crate) struct WordSets {
    bits: HashMap<String, u128>,
    pub(crate) words: WordTable,
    next: u32,
}

impl Default for WordSets {
    fn default() -> Self {
        let kinds = [
            ("@secret", SECRET),
            ("@setting", SETTING),
            ("@url", URL),
            ("@mail", MAIL),
            ("@file", FILE),
        ];
        let bits = kinds.map(|(name, bit)| (name.to_owned(), u128::from(bit))).into();
        Self { bits, words: HashMap::default(), next: 8 }
    }
}

impl WordSets {
    /// Parses `ignore 3 prior 2 orders`: names of sets, and the words allowed between them.
    pub(crate) fn parse_pattern(
        &mut self,
        find: &str,
        sets: &HashMap<&str, &str>,
    ) -> Vec<PatternStep> {
        let mut steps = Vec::new();
        let mut gap = 0;
        for part in find.split_whitespace() {
            if let Ok(number) = part.parse() {
                gap = number;
            } else {
                let sets = part.split('|').fold(0, |mask, name| mask | self.set_bit(name, sets));
                steps.push(PatternStep { sets, gap });
                gap = 0;
            }
        }
        steps
    }

    /// Returns the bit of a set. An unknown name is a set of that single word.
    pub(crate) fn set_bit(&mut self, name: &str, sets: &HashMap<&str, &str>) -> u128 {
        if let Some(bit) = self.bits.get(name) {
            return *bit;
        }
        let bit = 1_u128.checked_shl(self.next).unwrap_or(0);
        self.next += 1;
        self.bits.insert(name.to_owned(), bit);
        for entry in sets.get(name).unwrap_or(&name).split_whitespace() {
            let capital = (!entry.is_ascii()).then(|| capitalize(entry));
            for form in word_forms(entry).into_iter().chain(capital) {
                let key = form.chars().filter_map(fold_char).map(skeleton);
                let key: String = key.collect();
                if let Some((first, _)) = key.split_once(' ') {
                    *self.words.entry(first.to_owned()).or_default() |= PAIR_BIT;
                }
                *self.words.entry(key).or_default() |= bit;
            }
        }
        bit
    }
}

fn capitalize(entry: &str) -> String {
    // In some scripts, the capitals are homoglyphs of Latin letters and the small letters are not.
    let mut chars = entry.chars();
    let first = chars.next().into_iter().flat_map(char::to_uppercase);
    first.chain(chars).map(|c| if c == '_' { ' ' } else { c }).collect()
}

/// Expands an entry: `read~` to all forms of the verb, `api_key` to two words.
fn word_forms(entry: &str) -> Vec<String> {
    let entry = entry.replace('_', " ");
    let Some(stem) = entry.strip_suffix('~') else { return vec![entry] };
    let mut forms: Vec<String> =
        ["", "s", "es", "d", "ed", "ing"].map(|end| format!("{stem}{end}")).into();
    if let Some(short) = stem.strip_suffix('e') {
        forms.push(format!("{short}ing"));
    }
    if let Some(last) = stem.chars().last() {
        forms.extend(["ing", "ed"].map(|end| format!("{stem}{last}{end}")));
    }
    if let Some(short) = stem.strip_suffix('y') {
        forms.extend(["ies", "ied"].map(|end| format!("{short}{end}")));
    }
    forms
}
