//! The rules of `rules.json`: sequences of words, each with a maximum number of words in between.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;
use switchboard_text::fold_char;

use crate::finding::Indicator;
use crate::tokens::{Gap, TextTokens};
use crate::transforms::{self, LetterTransform};
use crate::unspaced::{MAX_GAP, UnspacedRule, find_in_order};
use crate::word_sets::{PAIR_BIT, PatternStep, WordSets, WordTable};

pub(crate) static RULES: LazyLock<RuleSet> = LazyLock::new(RuleSet::load);

// How many words before a match a negation may be, unless the rule has its own reach.
const DEFAULT_NEGATION_REACH: usize = 4;
// After a match, it may be further away: `~/.ssh and ~/.aws are never read`.
const NEGATION_REACH_AFTER: usize = 10;

/// All rules, and the words that they use.
#[derive(Debug)]
pub(crate) struct RuleSet {
    words: WordTable,
    rules: Vec<ScanRule>,
    // For scripts that are written without spaces.
    joined: Vec<UnspacedRule<'static>>,
    // Bits of the named sets that negate a match, weaken it or end the search for a negation.
    take: u128,
    never: u128,
    rarely: u128,
    not_really: u128,
    turned_down: u128,
    goes_on: u128,
    sample: u128,
    // Typical words of instructions under a letter transform.
    turned: u128,
    // Words that occur only in other languages than English.
    foreign: u128,
}

/// Properties of a text that need further checks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TextTraits {
    pub(crate) turn: Option<LetterTransform>,
    /// Whether the text is in another language, in Latin letters.
    pub(crate) is_foreign: bool,
}

#[derive(Debug)]
struct ScanRule {
    name: &'static str,
    points: u32,
    patterns: Vec<Vec<PatternStep>>,
    negatable: bool,
    reach: usize,
    across: bool,
}

#[derive(Deserialize)]
struct ScanRuleFile<'a> {
    #[serde(borrow)]
    sets: HashMap<&'a str, &'a str>,
    #[serde(borrow)]
    rules: Vec<ScanRuleEntry<'a>>,
    #[serde(borrow)]
    joined: Vec<UnspacedRule<'a>>,
}

#[derive(Deserialize)]
struct ScanRuleEntry<'a> {
    name: &'a str,
    points: u32,
    #[serde(borrow)]
    find: Vec<&'a str>,
    #[serde(default)]
    negatable: bool,
    #[serde(default)]
    reach: Option<usize>,
    #[serde(default)]
    across: bool,
}

impl RuleSet {
    fn load() -> Self {
        // Cannot fail: the file is compiled in, and a test parses it.
        let file: ScanRuleFile<'static> = serde_json::from_str(include_str!("rules.json"))
            .unwrap_or(ScanRuleFile {
                sets: HashMap::new(),
                rules: Vec::new(),
                joined: Vec::new(),
            });
        let mut sets = WordSets::default();
        let mut rules = Vec::with_capacity(file.rules.len());
        for rule in &file.rules {
            let patterns =
                rule.find.iter().map(|find| sets.parse_pattern(find, &file.sets)).collect();
            let ScanRuleEntry { name, points, negatable, across, .. } = *rule;
            let reach = rule.reach.unwrap_or(DEFAULT_NEGATION_REACH);
            rules.push(ScanRule { name, points, patterns, negatable, reach, across });
        }
        let mut named = |name: &str| sets.set_bit(name, &file.sets);
        let mut loaded = Self {
            words: WordTable::default(),
            rules,
            take: named("take"),
            never: named("never"),
            rarely: named("rarely"),
            not_really: named("not_really"),
            turned_down: named("turned_down"),
            goes_on: named("goes_on"),
            sample: named("sample"),
            turned: named("turned"),
            foreign: named("foreign"),
            joined: file.joined,
        };
        // After the last set: each set adds its words to the table.
        loaded.words = sets.words;
        loaded.joined.iter_mut().for_each(UnspacedRule::fold);
        transforms::mark_transformed(&mut loaded.words, loaded.turned);
        loaded
    }

    /// Finds indicators in the words of a text, and returns its traits.
    pub(crate) fn find_indicators(
        &self,
        tokens: &TextTokens,
        signs: &mut Vec<Indicator>,
    ) -> TextTraits {
        let masks: Vec<u128> = (0..tokens.all().len()).map(|at| self.mask(tokens, at)).collect();
        let all = masks.iter().fold(0, |all, mask| all | mask);
        if all == 0 {
            return TextTraits::default();
        }
        for rule in &self.rules {
            if let Some((place, points)) = self.strongest_match(rule, tokens, &masks, all) {
                let at = tokens.all().get(place).map_or(0, |token| token.at);
                signs.push(Indicator::new(rule.name, points, at));
            }
        }
        let is_foreign = all & self.foreign != 0;
        if all & self.turned == 0 {
            return TextTraits { turn: None, is_foreign };
        }
        let turned = masks.iter().enumerate().filter(|(_, mask)| **mask & self.turned != 0);
        TextTraits {
            turn: transforms::detect_transform(tokens, turned.map(|(place, _)| place)),
            is_foreign,
        }
    }

    pub(crate) fn find_unspaced_indicators(&self, text: &str, signs: &mut Vec<Indicator>) {
        let folded: String = text.chars().filter_map(fold_char).collect();
        for joined in &self.joined {
            if find_in_order(&folded, &joined.parts, MAX_GAP).is_some() {
                signs.push(Indicator::new(joined.rule, joined.points, 0));
            }
        }
    }

    fn mask(&self, tokens: &TextTokens, at: usize) -> u128 {
        let one = self.words.get(tokens.word(at)).copied().unwrap_or(0);
        let pair = match tokens.pair(at).filter(|_| one & PAIR_BIT != 0) {
            Some(pair) => self.words.get(pair).copied().unwrap_or(0),
            None => 0,
        };
        let one = one & !PAIR_BIT;
        let kinds = tokens.all().get(at).map_or(0, |token| token.kinds);
        one | pair | u128::from(kinds)
    }

    fn strongest_match(
        &self,
        rule: &ScanRule,
        tokens: &TextTokens,
        masks: &[u128],
        all: u128,
    ) -> Option<(usize, u32)> {
        let mut best: Option<(usize, u32)> = None;
        // Fast path: most patterns need a word that the text does not contain.
        let possible =
            |pattern: &&Vec<PatternStep>| pattern.iter().all(|step| step.sets & all != 0);
        for pattern in rule.patterns.iter().filter(possible) {
            let Some((first, rest)) = pattern.split_first() else { continue };
            for (start, _) in masks.iter().enumerate().filter(|(_, mask)| **mask & first.sets != 0)
            {
                let Some(end) = match_end(rest, start, rule.across, tokens, masks) else {
                    continue;
                };
                let points = self.points(rule, start, end, tokens, masks);
                if points > best.map_or(0, |(_, points)| points) {
                    best = Some((start, points));
                }
            }
        }
        best
    }

    fn points(
        &self,
        rule: &ScanRule,
        start: usize,
        end: usize,
        tokens: &TextTokens,
        masks: &[u128],
    ) -> u32 {
        if !rule.negatable {
            return rule.points;
        }
        if self.is_negated(rule.reach, start, end, tokens, masks) {
            return 0;
        }
        let inside = masks.get(start..=end).unwrap_or_default();
        // A word such as `example` inside the match makes it less likely to be an instruction.
        if inside.iter().any(|mask| mask & self.sample != 0) {
            rule.points / 2
        } else {
            rule.points
        }
    }

    fn is_negated(
        &self,
        reach: usize,
        start: usize,
        end: usize,
        tokens: &TextTokens,
        masks: &[u128],
    ) -> bool {
        let has = |at: usize, sets: u128| masks.get(at).is_some_and(|mask| mask & sets != 0);
        let gap = |at: usize| tokens.all().get(at).map_or(Gap::Sentence, |token| token.before);
        for back in 1..=reach {
            let Some(at) = start.checked_sub(back) else { break };
            // `does not read, open or send` is one list.
            let is_listed = gap(at + 1) == Gap::Clause && has(at, self.take);
            if gap(at + 1) != Gap::Space && !is_listed || has(at, self.goes_on) {
                break;
            }
            if has(at, self.rarely) && back <= 2 {
                return true;
            }
            if has(at, self.never) {
                return at + 1 == start || !has(at + 1, self.not_really);
            }
        }
        for at in end + 1..=end + NEGATION_REACH_AFTER {
            // `~/.ssh and ~/.aws are never read` is one list.
            let goes_on = has(at, self.goes_on) && !(at..at + 4).any(|at| has(at, PLACE_KINDS));
            if gap(at) != Gap::Space || goes_on {
                break;
            }
            if has(at, self.turned_down) {
                return true;
            }
        }
        false
    }
}

// The bits of all kinds of places (see `tokens`).
const PLACE_KINDS: u128 = 0x7f;

/// Matches the rest of a pattern after `from`, and returns where it ends.
fn match_end(
    rest: &[PatternStep],
    from: usize,
    across: bool,
    tokens: &TextTokens,
    masks: &[u128],
) -> Option<usize> {
    let Some((step, after)) = rest.split_first() else { return Some(from) };
    for at in from + 1..=from + 1 + step.gap {
        if tokens.all().get(at)?.before == Gap::Sentence && !across {
            return None;
        }
        if masks.get(at)? & step.sets != 0
            && let Some(end) = match_end(after, at, across, tokens, masks)
        {
            return Some(end);
        }
    }
    None
}

#[cfg(test)]
#[path = "patterns_tests.rs"]
mod tests;
