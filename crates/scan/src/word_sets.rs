//! The sets of words that rules are made of: a bit for each, and all forms of their words.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use switchboard_text::characters::plain;

use crate::tokens::{FILE, MAIL, SECRET, SETTING, URL, skeleton};

/// For each word, the sets that it is in.
pub(crate) type Words = HashMap<String, u128, BuildHasherDefault<Quick>>;

/// The bit of words with which a pair of words begins.
pub(crate) const PAIRS: u128 = 1 << 7;

/// One word of a pattern.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    /// One of these sets.
    pub(crate) sets: u128,
    /// So many other words may stand before it.
    pub(crate) gap: usize,
}

/// Spreads short words quickly; the words of the table are ours, so nobody can make them collide.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Quick(u64);

impl Hasher for Quick {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }
}

/// Gives every set of words a bit.
pub(crate) struct Sets {
    bits: HashMap<String, u128>,
    pub(crate) words: Words,
    next: u32,
}

impl Default for Sets {
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

impl Sets {
    /// `ignore 3 prior 2 orders`: names of sets, and how many words may lie between them.
    pub(crate) fn pattern(&mut self, find: &str, sets: &HashMap<&str, &str>) -> Vec<Step> {
        let (mut steps, mut gap) = (Vec::new(), 0);
        for part in find.split_whitespace() {
            if let Ok(number) = part.parse() {
                gap = number;
            } else {
                let sets = part.split('|').fold(0, |mask, name| mask | self.bit(name, sets));
                steps.push(Step { sets, gap });
                gap = 0;
            }
        }
        steps
    }

    /// The bit of a set; a name that is no set is a set of one word.
    pub(crate) fn bit(&mut self, name: &str, sets: &HashMap<&str, &str>) -> u128 {
        if let Some(bit) = self.bits.get(name) {
            return *bit;
        }
        let bit = 1_u128.checked_shl(self.next).unwrap_or(0);
        self.next += 1;
        self.bits.insert(name.to_owned(), bit);
        for entry in sets.get(name).unwrap_or(&name).split_whitespace() {
            let capital = (!entry.is_ascii()).then(|| capitalised(entry));
            for form in forms(entry).into_iter().chain(capital) {
                let key = form.chars().filter_map(plain).map(skeleton);
                let key: String = key.collect();
                if let Some((first, _)) = key.split_once(' ') {
                    *self.words.entry(first.to_owned()).or_default() |= PAIRS;
                }
                *self.words.entry(key).or_default() |= bit;
            }
        }
        bit
    }
}

/// Capitals of some alphabets look like Latin letters where their small ones do not.
fn capitalised(entry: &str) -> String {
    let mut chars = entry.chars();
    let first = chars.next().into_iter().flat_map(char::to_uppercase);
    first.chain(chars).map(|c| if c == '_' { ' ' } else { c }).collect()
}

/// `read~` stands for all forms of the verb, `api_key` for two words.
fn forms(entry: &str) -> Vec<String> {
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
