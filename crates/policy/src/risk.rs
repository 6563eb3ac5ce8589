//! How much harm a call could do, as a number from 0 to 100 with its reasons.

use serde_json::Value;
use switchboard_core::{Risk, TargetKind};
use switchboard_text::characters::mixed_script_reading;

use crate::facts::PolicyFacts;
use crate::risk_words::{Verb, find_verb, inspect_argument};

/// So much of the arguments is looked at, in texts.
const MAX_TEXTS: usize = 1_000;

/// Weighs a call by what can be seen of it. What a server that is not trusted says about itself can
/// only make it worse.
#[must_use]
pub fn assess_risk(facts: &PolicyFacts<'_>) -> Risk {
    let mut weighed = RiskTally::default();
    let hints = facts.hints();
    match facts.target.kind {
        TargetKind::Resource | TargetKind::Prompt => weighed.add(5, "it reads"),
        TargetKind::Tool if facts.read_only => weighed.add(5, "it is known to change nothing"),
        TargetKind::Tool => {
            weighed.add(25, "it may change something");
            match find_verb(&facts.target.name) {
                Some((Verb::Run, word)) => weighed.add(30, &format!("its name says `{word}`")),
                Some((Verb::Destroy, word)) => weighed.add(30, &format!("its name says `{word}`")),
                Some((Verb::Send, word)) => weighed.add(20, &format!("its name says `{word}`")),
                Some((Verb::Write, word)) => weighed.add(10, &format!("its name says `{word}`")),
                None => {}
            }
        }
    }
    if let Some(taken) = mixed_script_reading(&facts.target.name) {
        weighed.add(20, &format!("its name can be taken for `{taken}`: it mixes two alphabets"));
    }
    if hints.destructive_hint == Some(true) && hints.read_only_hint != Some(true) {
        weighed.add(20, "the server says that it can destroy something");
    }
    if hints.open_world_hint == Some(true) {
        weighed.add(5, "the server says that it reaches beyond itself");
    }
    if facts.trusted {
        if !facts.read_only && hints.destructive_hint == Some(false) {
            weighed.subtract(10, "a trusted server says that it destroys nothing");
        }
    } else {
        weighed.add(10, "the server is not trusted");
    }
    if let Ok(arguments) = serde_json::from_str::<Value>(facts.arguments) {
        let mut looks = Vec::new();
        inspect_texts(&arguments, "", &mut looks, &mut MAX_TEXTS.clone());
        for (weight, reason) in looks {
            weighed.add(weight, &reason);
        }
    }
    if let Some(server) = facts.tainted_by() {
        weighed.add(15, &format!("data came from `{server}` before, which is not trusted"));
    }
    weighed.finish()
}

/// Goes through the texts of the arguments; each reason counts once.
fn inspect_texts(value: &Value, name: &str, looks: &mut Vec<(i32, String)>, left: &mut usize) {
    match value {
        Value::String(text) => {
            let Some(fewer) = left.checked_sub(1) else { return };
            *left = fewer;
            for (weight, reason) in inspect_argument(name, text) {
                if !looks.iter().any(|(_, other)| *other == reason) {
                    looks.push((weight, reason));
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| inspect_texts(item, name, looks, left)),
        Value::Object(members) => {
            members.iter().for_each(|(name, value)| inspect_texts(value, name, looks, left));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[derive(Default)]
struct RiskTally {
    sum: i32,
    reasons: Vec<(i32, String)>,
}

impl RiskTally {
    fn add(&mut self, weight: i32, reason: &str) {
        self.sum += weight;
        self.reasons.push((weight, reason.to_owned()));
    }

    fn subtract(&mut self, weight: i32, reason: &str) {
        self.sum -= weight;
        self.reasons.push((-weight, reason.to_owned()));
    }

    fn finish(mut self) -> Risk {
        self.reasons.sort_by_key(|(weight, _)| std::cmp::Reverse(*weight));
        let reasons = self.reasons.into_iter().map(|(_, reason)| reason).collect();
        Risk { score: u8::try_from(self.sum.clamp(0, 100)).unwrap_or(100), reasons }
    }
}

#[cfg(test)]
#[path = "risk_tests.rs"]
mod tests;
