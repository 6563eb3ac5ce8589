//! Scores the risk of a call from 0 to 100, with reasons.

use serde_json::Value;
use switchboard_core::{Risk, TargetKind};
use switchboard_text::mixed_script_reading;

use crate::facts::PolicyFacts;

// Arguments may be large, and the first texts are enough for an estimate.
const MAX_TEXTS: usize = 1_000;

/// Scores a call by its name, annotations, arguments and session.
#[must_use]
pub fn assess_risk(facts: &PolicyFacts<'_>) -> Risk {
    let mut weighed = RiskTally::default();
    let hints = facts.hints();
    match facts.target.kind {
        TargetKind::Resource | TargetKind::Prompt => weighed.add(5, "it only reads"),
        TargetKind::Tool if facts.read_only => weighed.add(5, "it is known to be read-only"),
        TargetKind::Tool => {
            weighed.add(25, "it may change something");
            if let Some((weight, word)) = find_verb(&facts.target.name) {
                weighed.add(weight, &format!("its name says `{word}`"));
            }
        }
    }
    if let Some(taken) = mixed_script_reading(&facts.target.name) {
        weighed.add(20, &format!("its name can be taken for `{taken}`: it mixes two alphabets"));
    }
    if hints.destructive_hint == Some(true) && hints.read_only_hint != Some(true) {
        weighed.add(20, "the server declares it destructive");
    }
    if hints.open_world_hint == Some(true) {
        weighed.add(5, "the server declares that it reaches other systems");
    }
    // Annotations of an untrusted server can only raise the score: it could lie to lower it.
    if facts.trusted {
        if !facts.read_only && hints.destructive_hint == Some(false) {
            weighed.add(-10, "a trusted server declares it non-destructive");
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

/// Inspects the strings in the arguments. Each reason counts once.
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

    fn finish(mut self) -> Risk {
        self.reasons.sort_by_key(|(weight, _)| std::cmp::Reverse(*weight));
        let reasons = self.reasons.into_iter().map(|(_, reason)| reason).collect();
        Risk { score: u8::try_from(self.sum.clamp(0, 100)).unwrap_or(100), reasons }
    }
}

// Words in tool names with their weights, most dangerous first: the first match counts.
const VERBS: [(i32, &[&str]); 4] = [
    // Runs code.
    (30, &["exec", "execute", "run", "shell", "eval", "command", "spawn", "sudo", "bash"]),
    (
        30,
        &[
            "delete", "remove", "drop", "destroy", "purge", "kill", "wipe", "truncate", "revoke",
            "reset", "overwrite", "erase", "clear", "unlink", "rm", "terminate",
        ],
    ),
    (
        // Data leaves the machine, or other people are affected.
        20,
        &[
            "send", "post", "publish", "pay", "transfer", "buy", "order", "email", "mail", "share",
            "invite", "grant", "merge", "deploy", "push", "release", "approve", "upload",
        ],
    ),
    (
        10,
        &[
            "write", "create", "update", "set", "put", "edit", "insert", "add", "move", "rename",
            "patch", "append", "save", "modify", "replace", "commit", "close",
        ],
    ),
];

fn find_verb(name: &str) -> Option<(i32, &'static str)> {
    let words = split_words(name);
    VERBS.iter().find_map(|(weight, known)| {
        let found = known.iter().find(|known| words.iter().any(|word| word == **known))?;
        Some((*weight, *found))
    })
}

/// Splits a name into words: `deleteRepo`, `delete_repo` and `delete-repo` have the same two.
fn split_words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before_is_lower = false;
    for character in name.chars() {
        let begins = character.is_uppercase() && before_is_lower;
        before_is_lower = character.is_lowercase() || character.is_numeric();
        if begins || !character.is_alphanumeric() {
            words.push(String::new());
        }
        if character.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(character.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

const SECRET_NAMES: [&str; 7] =
    ["password", "passwd", "secret", "token", "apikey", "credential", "privatekey"];
const SECRET_STARTS: [&str; 9] =
    ["sk-", "ghp_", "github_pat_", "gho_", "xoxb-", "xoxp-", "AKIA", "eyJ", "-----BEGIN"];
const COMMAND_NAMES: [&str; 6] = ["command", "cmd", "script", "code", "sql", "shell"];
const SENSITIVE_PATHS: [&str; 8] =
    ["/etc/", "/.ssh", "/.aws", "/.gnupg", "/.config/", "/proc/", "/root", ".env"];

/// Returns reasons why an argument is risky, with their weights.
fn inspect_argument(name: &str, text: &str) -> Vec<(i32, String)> {
    let mut looks = Vec::new();
    let plain: String = name.to_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
    // Real keys have at least 12 characters; ordinary words may begin like one.
    let begins = SECRET_STARTS.iter().any(|start| text.starts_with(start)) && text.len() >= 12;
    if begins || !text.is_empty() && SECRET_NAMES.iter().any(|secret| plain.contains(secret)) {
        looks.push((20, format!("`{name}` looks like a secret")));
    }
    let is_shell =
        ["$(", "`", "&&", "| ", "; ", "rm -", "sudo "].iter().any(|part| text.contains(part));
    if COMMAND_NAMES.contains(&plain.as_str()) || is_shell {
        looks.push((15, format!("`{name}` looks like a command")));
    }
    if let Some(taken) = mixed_script_reading(text) {
        looks.push((15, format!("`{name}` can be taken for `{taken}`: it mixes two alphabets")));
    }
    if text.contains("://") {
        looks.push((10, format!("`{name}` contains a URL")));
    } else if text.starts_with(['/', '~']) || text.contains("../") || text.contains('\\') {
        let is_tender =
            text.contains("..") || SENSITIVE_PATHS.iter().any(|tender| text.contains(tender));
        let weight = if is_tender { 20 } else { 5 };
        looks.push((weight, format!("`{name}` looks like a path")));
    }
    looks
}

#[cfg(test)]
#[path = "risk_tests.rs"]
mod tests;

#[cfg(test)]
mod risk_words_tests {
    use super::*;

    #[test]
    fn a_name_tells_what_it_does_in_any_spelling() {
        for (name, expected) in [
            ("delete_repo", Some((30, "delete"))),
            ("deleteRepo", Some((30, "delete"))),
            ("Delete-Repo", Some((30, "delete"))),
            ("run_and_delete", Some((30, "run"))),
            ("read_and_delete", Some((30, "delete"))),
            ("send.mail", Some((20, "send"))),
            ("setTitle", Some((10, "set"))),
            ("settings", None),
            ("get_issue", None),
            ("", None),
        ] {
            assert_eq!(find_verb(name), expected, "{name}");
        }
    }
}
