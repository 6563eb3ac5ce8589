//! The rules of all levels, indexed for evaluation.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use switchboard_core::{Target, TargetKind};
use switchboard_rules::{
    Expression, Pattern, Policies, PolicyFile, PolicyLevel, RuleEffect, RuleEntry,
};

use crate::condition::{ConditionEvaluator, RegexTable};
use crate::facts::PolicyFacts;
use crate::session_tracker::SessionTracker;
use crate::spelling::NormalizedTarget;
use crate::{address, spelling};

/// The rules of all levels, highest level first.
#[derive(Debug, Default)]
pub struct Policy {
    levels: Vec<Rulebook>,
    patterns: Arc<RegexTable>,
}

#[derive(Debug)]
struct Rulebook {
    file: PolicyFile,
    patterns: Vec<Pattern>,
    index: PatternIndex,
    /// Patterns with normalized spelling, except those of `allow` rules.
    spelled: Vec<Option<Pattern>>,
    spelled_index: PatternIndex,
    /// Whether a pattern is written in another than its normalized spelling.
    has_odd: bool,
    allowed_tools: Vec<Pattern>,
}

impl Policy {
    /// Compiles and indexes the rules of policy files.
    #[must_use]
    pub fn new(policies: &Policies) -> Self {
        let rules = policies.files.iter().flat_map(|file| &file.rules);
        let written = rules.filter_map(|rule| rule.when.as_ref()).flat_map(Expression::patterns);
        let patterns = written.map(|pattern| (pattern.as_str().into(), pattern.clone())).collect();
        Self {
            levels: policies.files.iter().cloned().map(Rulebook::new).collect(),
            patterns: Arc::new(patterns),
        }
    }

    /// Returns the ruling of each level that has one, highest level first.
    #[must_use]
    pub fn rulings(&self, facts: &PolicyFacts<'_>) -> Vec<Ruling> {
        let mut conditions = ConditionEvaluator::new(facts, &self.patterns);
        self.levels.iter().filter_map(|level| level.ruling(facts, &mut conditions)).collect()
    }

    /// Returns the rule that forbids a target for every caller and all arguments.
    #[must_use]
    pub fn forbids(&self, target: &Target) -> Option<Citation> {
        self.levels.iter().find_map(|level| level.forbids(target))
    }

    /// Returns the strictest ruling of all levels.
    #[must_use]
    pub fn ruling(&self, facts: &PolicyFacts<'_>) -> Option<Ruling> {
        // The strictest effect wins, so that no level can widen what another allows.
        let mut strictest: Option<Ruling> = None;
        for ruling in self.rulings(facts) {
            if strictest.as_ref().is_none_or(|before| ruling.effect > before.effect) {
                strictest = Some(ruling);
            }
        }
        strictest
    }
}

impl Rulebook {
    fn new(file: PolicyFile) -> Self {
        let patterns: Vec<Pattern> =
            file.rules.iter().map(|rule| Pattern::new(&rule.target)).collect();
        let index = PatternIndex::new(patterns.iter());
        // An `allow` matches only the exact name, so that a look-alike never benefits from it.
        let normalize = |rule: &RuleEntry| match rule.effect {
            RuleEffect::Allow => None,
            RuleEffect::Ask | RuleEffect::Deny => spelling::normalize_pattern(&rule.target),
        };
        let spelled: Vec<Option<Pattern>> = file.rules.iter().map(normalize).collect();
        let nothing = Pattern::new("");
        let spelled_index =
            PatternIndex::new(spelled.iter().map(|one| one.as_ref().unwrap_or(&nothing)));
        let is_odd = |(rule, spelled): (&RuleEntry, &Option<Pattern>)| {
            spelled.as_ref().is_some_and(|spelled| spelled.as_str() != rule.target)
        };
        let has_odd = file.rules.iter().zip(&spelled).any(is_odd);
        let tools = file.allowed_tools.iter().flat_map(|(tools, _)| tools);
        let allowed_tools = tools.map(|tool| Pattern::new(tool)).collect();
        Self { file, patterns, index, spelled, spelled_index, has_odd, allowed_tools }
    }

    fn ruling(
        &self,
        facts: &PolicyFacts<'_>,
        conditions: &mut ConditionEvaluator<'_>,
    ) -> Option<Ruling> {
        if let Some(ruling) = self.control_ruling(facts) {
            return Some(ruling);
        }
        let mut strictest = self
            .file
            .ask_always
            .map(|line| self.make_ruling(RuleEffect::Ask, "autoApprove: false", line));
        for rule in self.covering_rules(facts.target) {
            let ruling = match rule.when.as_ref().map(|when| conditions.holds(when, rule.effect)) {
                None | Some(Ok(true)) => self.rule_ruling(rule),
                Some(Ok(false)) => continue,
                // Fail closed: a condition that cannot be evaluated denies the call.
                Some(Err(problem)) => {
                    let mut ruling = self.rule_ruling(rule);
                    ruling.effect = RuleEffect::Deny;
                    ruling.by.why = Some(format!("whose `when` cannot be evaluated: {problem}"));
                    ruling
                }
            };
            if strictest.as_ref().is_none_or(|before| ruling.effect > before.effect) {
                strictest = Some(ruling);
            }
        }
        strictest
    }

    fn forbids(&self, target: &Target) -> Option<Citation> {
        if let Some(ruling) = self.switch_ruling(target) {
            return Some(ruling.by);
        }
        let outright = |rule: &&RuleEntry| rule.effect == RuleEffect::Deny && rule.when.is_none();
        let rule = self.covering_rules(target).into_iter().find(outright)?;
        Some(self.rule_ruling(rule).by)
    }

    /// Returns the ruling of switches and lists, which apply to every call.
    fn control_ruling(&self, facts: &PolicyFacts<'_>) -> Option<Ruling> {
        if let Some(ruling) = self.switch_ruling(facts.target) {
            return Some(ruling);
        }
        let line = self.file.read_only.filter(|_| !facts.read_only)?;
        Some(Ruling {
            read_only: true,
            ..self.make_ruling(RuleEffect::Deny, "readOnly: true", line)
        })
    }

    fn switch_ruling(&self, target: &Target) -> Option<Ruling> {
        if let Some(line) = self.file.switched_off {
            return Some(self.make_ruling(RuleEffect::Deny, "controls.enabled: false", line));
        }
        if let Some((_, line)) = &self.file.allowed_tools
            && target.kind == TargetKind::Tool
            && !self.allowed_tools.iter().any(|tool| tool.covers(&target.server, &target.name))
        {
            return Some(self.make_ruling(RuleEffect::Deny, "controls.allowed_tools", *line));
        }
        None
    }

    /// Returns the rules that cover a target.
    fn covering_rules(&self, target: &Target) -> Vec<&RuleEntry> {
        let plain = match target.kind {
            TargetKind::Resource => address::normalize(&target.name),
            TargetKind::Tool | TargetKind::Prompt => None,
        };
        let spelled = NormalizedTarget::new(target);
        let spelled = Some(spelled).filter(|one| self.has_odd || one.differs(target));
        let mut places = self.index.candidates(&target.to_string());
        if let Some(plain) = &plain {
            places.extend(self.index.candidates(&format!("{}/{plain}", target.server)));
        }
        if let Some(NormalizedTarget { server, name }) = &spelled {
            places.extend(self.spelled_index.candidates(&format!("{server}/{name}")));
        }
        if plain.is_some() || spelled.is_some() {
            places.sort_unstable();
            places.dedup();
        }
        let counts = |place: usize| {
            let rule = self.file.rules.get(place)?;
            // A project's file cannot grant permissions: its author is not the user.
            let counts =
                rule.effect != RuleEffect::Allow || self.file.level != PolicyLevel::Project;
            let is_kind = rule.kind.is_none_or(|kind| kind == target.kind);
            let is_meant = counts && is_kind;
            (is_meant && self.covers(place, target, plain.as_deref(), spelled.as_ref()))
                .then_some(rule)
        };
        places.into_iter().filter_map(counts).collect()
    }

    /// Returns whether the rule at `place` covers a target.
    fn covers(
        &self,
        place: usize,
        target: &Target,
        plain: Option<&str>,
        spelled: Option<&NormalizedTarget<'_>>,
    ) -> bool {
        let (Some(rule), Some(pattern)) = (self.file.rules.get(place), self.patterns.get(place))
        else {
            return false;
        };
        // The server may read any of the forms. An `allow` must therefore cover all of them, and a
        // restriction applies if it covers one.
        let raw = pattern.covers(&target.server, &target.name);
        let plain = plain.map(|plain| pattern.covers(&target.server, plain));
        if rule.effect == RuleEffect::Allow {
            return raw && plain.unwrap_or(true);
        }
        let of_spelling = self.spelled.get(place).and_then(Option::as_ref).zip(spelled);
        raw || plain.unwrap_or(false)
            || of_spelling.is_some_and(|(pattern, one)| pattern.covers(&one.server, &one.name))
    }

    fn rule_ruling(&self, rule: &RuleEntry) -> Ruling {
        let text = match &rule.name {
            Some(name) => name.clone(),
            None => format!("{} {}", rule.effect.as_str(), rule.target),
        };
        Ruling { tainted: rule.tainted, ..self.make_ruling(rule.effect, &text, rule.line) }
    }

    fn make_ruling(&self, effect: RuleEffect, rule: &str, line: usize) -> Ruling {
        let by = Citation {
            level: self.file.level,
            rule: rule.to_owned(),
            why: None,
            file: Arc::clone(&self.file.file),
            line,
        };
        Ruling { effect, by, tainted: false, read_only: false }
    }
}

/// The compiled rules in force, and the history of each session.
#[derive(Debug, Default)]
pub struct ActiveRules {
    ready: Mutex<Option<(Arc<Policies>, Arc<Policy>)>>,
    pub sessions: SessionTracker,
}

impl ActiveRules {
    /// Returns the compiled rules for `policies`, cached until the policies change.
    #[must_use]
    pub fn policy(&self, policies: &Arc<Policies>) -> Arc<Policy> {
        // The lock is held while compiling, so that concurrent calls compile new rules once.
        let mut ready = self.ready.lock();
        if let Some((known, policy)) = &*ready
            && Arc::ptr_eq(known, policies)
        {
            return Arc::clone(policy);
        }
        let policy = Arc::new(Policy::new(policies));
        *ready = Some((Arc::clone(policies), Arc::clone(&policy)));
        policy
    }
}

/// The ruling of one policy level on a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ruling {
    pub effect: RuleEffect,
    pub by: Citation,
    /// Whether an `allow` also applies to a tainted session.
    pub tainted: bool,
    /// Whether the call is denied because only read-only calls may run.
    pub read_only: bool,
}

/// A reference to a line of a policy file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Citation {
    pub level: PolicyLevel,
    /// The name of the rule, or its text.
    pub rule: String,
    /// Why the rule applies, if that needs an explanation.
    pub why: Option<String>,
    pub file: Arc<Path>,
    pub line: usize,
}

impl fmt::Display for Citation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { level, rule, why, file, line } = self;
        write!(formatter, "`{rule}` of the {} policy", level.as_str())?;
        if let Some(why) = why {
            write!(formatter, ", {why}")?;
        }
        write!(formatter, " ({}:{line})", file.display())
    }
}

// Every call is tested against all rules, so candidates are found by their literal prefix.
#[derive(Debug, Default)]
struct PatternIndex {
    exact: HashMap<Box<str>, Vec<usize>>,
    by_start: HashMap<Box<str>, Vec<usize>>,
    /// Lengths of the prefixes: a lookup takes one probe for each.
    lengths: BTreeSet<usize>,
}

impl PatternIndex {
    pub(crate) fn new<'a>(patterns: impl Iterator<Item = &'a Pattern>) -> Self {
        let mut index = Self::default();
        for (place, pattern) in patterns.enumerate() {
            for (start, is_exact) in pattern.starts() {
                if is_exact {
                    index.exact.entry(start.into()).or_default().push(place);
                } else {
                    index.lengths.insert(start.len());
                    index.by_start.entry(start.into()).or_default().push(place);
                }
            }
        }
        index
    }

    /// Returns the indices of the patterns that may cover `name`, in order.
    fn candidates(&self, name: &str) -> Vec<usize> {
        let mut places: Vec<usize> = self.exact.get(name).cloned().unwrap_or_default();
        for length in self.lengths.iter().take_while(|length| **length <= name.len()) {
            let found = name.get(..*length).and_then(|start| self.by_start.get(start));
            places.extend(found.into_iter().flatten());
        }
        places.sort_unstable();
        // A pattern with alternatives has several prefixes, which may all match.
        places.dedup();
        places
    }
}

#[cfg(test)]
#[path = "policy_tests.rs"]
mod tests;

#[cfg(test)]
mod pattern_index_tests {
    use proptest::prelude::*;
    use switchboard_rules::Pattern;

    use super::PatternIndex;

    proptest! {
        #[test]
        fn every_pattern_that_covers_a_name_is_found(
            patterns in proptest::collection::vec(
                "[ab*?]{1,3}/([ab*?]|\\[[ab]\\]|\\{[ab*]{0,2},[ab?]{0,2}\\}|\\\\[ab*]){1,3}|\\*|[ab]{1,2}",
                1..20,
            ),
            server in "[ab]{1,3}",
            target in "[ab*/]{1,3}",
        ) {
            let patterns: Vec<Pattern> = patterns.iter().map(|text| Pattern::new(text)).collect();
            let found = PatternIndex::new(patterns.iter()).candidates(&format!("{server}/{target}"));
            for (place, pattern) in patterns.iter().enumerate() {
                if pattern.covers(&server, &target) {
                    prop_assert!(found.contains(&place), "{pattern:?}");
                }
            }
        }
    }
}
