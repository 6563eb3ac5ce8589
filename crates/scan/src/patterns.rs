//! The rules of `rules.json`: words in an order, with so many others between them.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;
use switchboard_text::characters::plain;

use crate::finding::Sign;
use crate::tokens::{Gap, Tokens};
use crate::transforms;
use crate::transforms::Turn;
use crate::unspaced::{BETWEEN, Joined, SQUEEZED, in_order};
use crate::word_sets::{PAIRS, Sets, Step, Words};

/// The rules, read once.
pub(crate) static RULES: LazyLock<Rules> = LazyLock::new(Rules::read);

/// How far before a match a word that turns it around may stand, where the rule does not say.
const REACH: usize = 4;
/// How far after it.
const NEGATION_AFTER: usize = 10;

/// All rules, and which words they are about.
#[derive(Debug)]
pub(crate) struct Rules {
    /// For each word, the sets that it is in.
    words: Words,
    rules: Vec<Rule>,
    /// Parts of words of scripts that are written without spaces, in their order.
    joined: Vec<Joined<'static>>,
    take: u128,
    never: u128,
    rarely: u128,
    not_really: u128,
    turned_down: u128,
    goes_on: u128,
    sample: u128,
    turned: u128,
    /// Words that only texts of other languages hold.
    foreign: u128,
}

/// What else was seen in a text.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    /// How its letters were put elsewhere.
    pub(crate) turn: Option<Turn>,
    /// Whether it is in another language, though in Latin letters.
    pub(crate) is_foreign: bool,
}

#[derive(Debug)]
struct Rule {
    name: &'static str,
    points: u32,
    patterns: Vec<Vec<Step>>,
    negatable: bool,
    reach: usize,
    across: bool,
}

#[derive(Deserialize)]
struct File<'a> {
    #[serde(borrow)]
    sets: HashMap<&'a str, &'a str>,
    #[serde(borrow)]
    rules: Vec<FileRule<'a>>,
    #[serde(borrow)]
    joined: Vec<Joined<'a>>,
}

#[derive(Deserialize)]
struct FileRule<'a> {
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

impl Rules {
    fn read() -> Self {
        // The file is part of the program and a test reads it: it cannot be wrong here.
        let file: File<'static> = serde_json::from_str(include_str!("rules.json"))
            .unwrap_or(File { sets: HashMap::new(), rules: Vec::new(), joined: Vec::new() });
        let mut sets = Sets::default();
        let mut rules = Vec::with_capacity(file.rules.len());
        for rule in &file.rules {
            let patterns = rule.find.iter().map(|find| sets.pattern(find, &file.sets)).collect();
            let FileRule { name, points, negatable, across, .. } = *rule;
            let reach = rule.reach.unwrap_or(REACH);
            rules.push(Rule { name, points, patterns, negatable, reach, across });
        }
        let mut named = |name: &str| sets.bit(name, &file.sets);
        let (take, never) = (named("take"), named("never"));
        let rarely = named("rarely");
        let not_really = named("not_really");
        let turned_down = named("turned_down");
        let goes_on = named("goes_on");
        let sample = named("sample");
        let (turned, foreign) = (named("turned"), named("foreign"));
        let (mut joined, mut words) = (file.joined, sets.words);
        joined.iter_mut().for_each(Joined::fold);
        transforms::mark(&mut words, turned);
        Self {
            words,
            rules,
            joined,
            take,
            never,
            rarely,
            not_really,
            turned_down,
            goes_on,
            sample,
            turned,
            foreign,
        }
    }

    /// What speaks against these words, and what else there is to see.
    pub(crate) fn signs(&self, tokens: &Tokens, signs: &mut Vec<Sign>) -> Seen {
        let masks: Vec<u128> = (0..tokens.all().len()).map(|at| self.mask(tokens, at)).collect();
        let all = masks.iter().fold(0, |all, mask| all | mask);
        if all == 0 {
            return Seen::default();
        }
        for rule in &self.rules {
            if let Some((place, points)) = self.strongest(rule, tokens, (&masks, all)) {
                let at = tokens.all().get(place).map_or(0, |token| token.at);
                signs.push(Sign::new(rule.name, points, at));
            }
        }
        let is_foreign = all & self.foreign != 0;
        if all & self.turned == 0 {
            return Seen { turn: None, is_foreign };
        }
        let turned = masks.iter().enumerate().filter(|(_, mask)| **mask & self.turned != 0);
        Seen { turn: transforms::turn_of(tokens, turned.map(|(place, _)| place)), is_foreign }
    }

    /// The same for a text without spaces between words.
    pub(crate) fn joined_signs(&self, text: &str, signs: &mut Vec<Sign>) {
        let folded: String = text.chars().filter_map(plain).collect();
        for joined in &self.joined {
            if in_order(&folded, &joined.parts, BETWEEN).is_some() {
                signs.push(Sign::new(joined.rule, joined.points, 0));
            }
        }
    }

    /// The rules that need no spaces, for letters that were written one by one.
    pub(crate) fn squeezed_signs(&self, letters: &str, signs: &mut Vec<Sign>) {
        for (rule, parts) in SQUEEZED {
            let parts: Vec<Vec<&str>> =
                parts.iter().map(|part| part.split(' ').collect()).collect();
            if let Some(at) = in_order(letters, &parts, BETWEEN) {
                signs.push(Sign::new(rule, 10, at));
            }
        }
    }

    fn mask(&self, tokens: &Tokens, at: usize) -> u128 {
        let one = self.words.get(tokens.word(at)).copied().unwrap_or(0);
        let pair = match tokens.pair(at).filter(|_| one & PAIRS != 0) {
            Some(pair) => self.words.get(pair).copied().unwrap_or(0),
            None => 0,
        };
        let one = one & !PAIRS;
        let kinds = tokens.all().get(at).map_or(0, |token| token.kinds);
        one | pair | u128::from(kinds)
    }

    fn strongest(
        &self,
        rule: &Rule,
        tokens: &Tokens,
        (masks, all): (&[u128], u128),
    ) -> Option<(usize, u32)> {
        let mut best: Option<(usize, u32)> = None;
        let possible = |pattern: &&Vec<Step>| pattern.iter().all(|step| step.sets & all != 0);
        for pattern in rule.patterns.iter().filter(possible) {
            let Some((first, rest)) = pattern.split_first() else { continue };
            for (start, _) in masks.iter().enumerate().filter(|(_, mask)| **mask & first.sets != 0)
            {
                let Some(end) = ends(rest, start, rule.across, tokens, masks) else { continue };
                let points = self.points(rule, (start, end), tokens, masks);
                if points > best.map_or(0, |(_, points)| points) {
                    best = Some((start, points));
                }
            }
        }
        best
    }

    fn points(
        &self,
        rule: &Rule,
        (start, end): (usize, usize),
        tokens: &Tokens,
        masks: &[u128],
    ) -> u32 {
        if !rule.negatable {
            return rule.points;
        }
        if self.is_negated(rule.reach, (start, end), tokens, masks) {
            return 0;
        }
        let inside = masks.get(start..=end).unwrap_or_default();
        // What is named as an example is not what is to be done.
        if inside.iter().any(|mask| mask & self.sample != 0) {
            rule.points / 2
        } else {
            rule.points
        }
    }

    fn is_negated(
        &self,
        reach: usize,
        (start, end): (usize, usize),
        tokens: &Tokens,
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
        for at in end + 1..=end + NEGATION_AFTER {
            // `~/.ssh and ~/.aws are never read` is one list.
            let goes_on = has(at, self.goes_on) && !(at..at + 4).any(|at| has(at, PLACES));
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

/// All kinds of places that a word can be.
const PLACES: u128 = 0x7f;

/// Where the rest of a pattern ends that began at `from`.
fn ends(
    rest: &[Step],
    from: usize,
    across: bool,
    tokens: &Tokens,
    masks: &[u128],
) -> Option<usize> {
    let Some((step, after)) = rest.split_first() else { return Some(from) };
    for at in from + 1..=from + 1 + step.gap {
        if tokens.all().get(at)?.before == Gap::Sentence && !across {
            return None;
        }
        if masks.get(at)? & step.sets != 0
            && let Some(end) = ends(after, at, across, tokens, masks)
        {
            return Some(end);
        }
    }
    None
}

#[cfg(test)]
#[path = "patterns_tests.rs"]
mod tests;
