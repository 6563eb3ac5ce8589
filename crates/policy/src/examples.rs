//! Validates the examples of rules: calls that a rule must match or must not match.

use switchboard_core::{Caller, Face, Origin, Target};
use switchboard_document::ConfigError;
use switchboard_rules::{Example, Policies, PolicyFile, RuleEffect, RuleEntry};

use crate::facts::{AnnotationSource, PolicyFacts};
use crate::policy::Policy;
use crate::session_tracker::SessionFacts;

/// Returns the first example that fails, as an error with its position.
#[must_use]
pub fn check_examples(policies: &Policies) -> Option<ConfigError> {
    policies
        .files
        .iter()
        .find_map(|file| file.rules.iter().find_map(|rule| check_rule_examples(file, rule)))
}

/// An example, as the facts about a call.
pub struct ExampleCall {
    target: Target,
    caller: Caller,
    session: SessionFacts,
    read_only: bool,
}

impl ExampleCall {
    /// Creates the call that an example describes.
    #[must_use]
    pub fn new(example: &Example) -> Self {
        // Split at the first slash: a slash in the server's name cannot be distinguished from one
        // in the target's, and rules do not distinguish them either.
        let (server, name) = example.target.split_once('/').unwrap_or((&example.target, ""));
        let origin = match example.caller.as_str() {
            "person" => Origin::Person,
            "client" => Origin::Client,
            _ => Origin::Model,
        };
        let face = match origin {
            Origin::Person => Face::Cli,
            Origin::Model => Face::Chat,
            Origin::Client => Face::Gateway,
        };
        let mut session = SessionFacts::default();
        example.reads.iter().for_each(|server| session.record_untrusted_read(server));
        for name in &example.results {
            session.assume_untrusted_read(name, |server| {
                example.reads.iter().any(|read| read == server)
            });
        }
        let hints = AnnotationSource::Text(&example.annotations).hints();
        let is_tool = example.kind == switchboard_core::TargetKind::Tool;
        Self {
            target: Target::new(example.kind, server, name),
            caller: Caller { face, origin, name: example.caller.clone(), reference: None },
            session,
            read_only: !is_tool || example.trusted && hints.read_only_hint == Some(true),
        }
    }

    /// Returns the facts about the example's call.
    #[must_use]
    pub fn facts<'a>(&'a self, example: &'a Example) -> PolicyFacts<'a> {
        PolicyFacts {
            target: &self.target,
            arguments: &example.arguments,
            annotations: AnnotationSource::Text(&example.annotations),
            read_only: self.read_only,
            trusted: example.trusted,
            transport: "stdio",
            caller: &self.caller,
            session: &self.session,
        }
    }
}

fn check_rule_examples(file: &PolicyFile, rule: &RuleEntry) -> Option<ConfigError> {
    if rule.covers.is_empty() && rule.leaves.is_empty() {
        return None;
    }
    // Evaluate the rule alone, as a `deny`, which counts at every level.
    let alone = RuleEntry { effect: RuleEffect::Deny, ..rule.clone() };
    let file_alone = PolicyFile {
        rules: vec![alone],
        servers: None,
        allowed_tools: None,
        switched_off: None,
        read_only: None,
        ask_always: None,
        ..file.clone()
    };
    let policy = Policy::new(&Policies { files: vec![file_alone], broken: None });
    let said = |example: &Example| policy.ruling(&ExampleCall::new(example).facts(example));
    let wrong = |example: &Example, what: &str| {
        ConfigError::new(file.file.clone(), format!("the rule {what}"))
            .at_place(example.line, example.column)
    };
    for example in &rule.covers {
        match said(example) {
            None => return Some(wrong(example, "does not cover this example of `match`")),
            Some(ruling) => {
                if let Some(why) = ruling.by.why {
                    return Some(wrong(
                        example,
                        &format!("cannot judge this example of `match`, {why}"),
                    ));
                }
            }
        }
    }
    for example in &rule.leaves {
        // A condition that fails to evaluate does not match, although the call would be denied.
        if said(example).is_some_and(|ruling| ruling.by.why.is_none()) {
            return Some(wrong(example, "covers this example of `not_match`"));
        }
    }
    None
}
