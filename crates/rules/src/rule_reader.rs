//! Reads values from policy files. In contrast to settings files, an unknown member is an error.

use std::path::Path;
use std::sync::Arc;

use switchboard_core::TargetKind;
use switchboard_document::{ConfigError, Node, Position, TypeMismatch, choose, nested_position};
use switchboard_text::{BadPattern, is_visible, sanitize, suggestion};

use crate::pattern::Pattern;
use crate::policy_file::{Example, RuleEntry};
use crate::policy_read::{KINDS, to_json_text};

/// The name of a member in snake case, its position and its value.
pub(crate) type NamedMember<'n> = (String, Position, &'n Node);

const EXAMPLE_KEYS: &[&str] =
    &["target", "kind", "args", "caller", "annotations", "trusted", "reads", "results"];

/// A reader of the nodes of one file.
pub struct NodeReader<'a> {
    pub file: &'a Arc<Path>,
    /// The whole text of the file.
    pub source: &'a str,
}

impl NodeReader<'_> {
    pub(crate) fn error(&self, at: Position, message: String) -> ConfigError {
        ConfigError::new(Arc::clone(self.file), message).at(at)
    }

    fn mismatch_error(&self, node: &Node, key: &str, wrong: TypeMismatch) -> ConfigError {
        let error = self.error(node.at, format!("`{}` {}", sanitize(key), wrong.predicate));
        match wrong.hint {
            Some(hint) => error.hint(hint),
            None => error,
        }
    }

    /// Returns the members of an object; an unknown or duplicate name is an error.
    pub fn members<'n>(
        &self,
        node: &'n Node,
        what: &str,
        known: &[&'static str],
    ) -> Result<Vec<NamedMember<'n>>, ConfigError> {
        let members = node
            .members()
            .map_err(|wrong| self.error(node.at, format!("{what} {}", wrong.predicate)))?;
        let mut named: Vec<NamedMember<'n>> = Vec::new();
        for member in members {
            let name = to_snake_case(&member.name);
            // An error, not a warning: a rule with a misspelled `when` would apply to every call.
            if !known.contains(&name.as_str()) {
                let error =
                    self.error(member.at, format!("`{}` is not known", sanitize(&member.name)));
                return Err(match suggestion(&name, known) {
                    Some(near) => error.hint(format!("did you mean `{near}`?")),
                    None => error.hint(format!("{what} has `{}`", known.join("`, `"))),
                });
            }
            // `readOnly` and `read_only` are the same name.
            if named.iter().any(|(other, ..)| *other == name) {
                return Err(self.error(member.at, format!("`{name}` is given twice")));
            }
            named.push((name, member.at, &member.value));
        }
        Ok(named)
    }

    pub(crate) fn list<'n>(&self, node: &'n Node, key: &str) -> Result<&'n [Node], ConfigError> {
        node.list("a list").map_err(|wrong| self.mismatch_error(node, key, wrong))
    }

    fn texts(&self, node: &Node, key: &str) -> Result<Vec<String>, ConfigError> {
        let texts = self.list(node, key)?.iter().map(|node| self.text(node, key));
        texts.map(|text| text.map(str::to_owned)).collect()
    }

    pub(crate) fn text<'n>(&self, node: &'n Node, key: &str) -> Result<&'n str, ConfigError> {
        node.text().map_err(|wrong| self.mismatch_error(node, key, wrong))
    }

    pub(crate) fn flag(&self, node: &Node, key: &str) -> Result<bool, ConfigError> {
        node.flag().map_err(|wrong| self.mismatch_error(node, key, wrong))
    }

    pub(crate) fn choice<T: Copy>(
        &self,
        node: &Node,
        key: &str,
        choices: &[(&str, T)],
    ) -> Result<T, ConfigError> {
        choose(self.text(node, key)?, choices)
            .map_err(|wrong| self.mismatch_error(node, key, wrong))
    }

    /// Reads a name or pattern; rejects surrounding white space and hidden characters.
    fn name<'n>(&self, node: &'n Node, key: &str) -> Result<&'n str, ConfigError> {
        let text = self.text(node, key)?;
        if text.is_empty() {
            return Err(self.error(node.at, format!("`{key}` is empty")));
        }
        if text.trim() != text || !is_visible(text) {
            let message = format!("`{key}` has surrounding white space or hidden characters");
            return Err(self.error(node.at, message));
        }
        Ok(text)
    }

    /// Reads a pattern over `server/target`.
    pub fn pattern(&self, node: &Node, key: &str) -> Result<Pattern, ConfigError> {
        let text = self.name(node, key)?;
        if text.starts_with('!') {
            // As a literal, it would match almost nothing, and the rule would have no effect.
            let message = format!("`{key}` begins with `!`, but patterns cannot be negated");
            return Err(self
                .error(node.at, message)
                .hint("name the targets that the rule applies to"));
        }
        Pattern::parse(text).map_err(|bad| self.bad_pattern(node, key, &bad))
    }

    pub(crate) fn bad_pattern(&self, node: &Node, key: &str, bad: &BadPattern) -> ConfigError {
        let at = match bad.offset {
            0 => node.at,
            offset => nested_position(self.source, node.at, offset),
        };
        self.error(at, format!("`{key}` {bad}")).hint(bad.hint)
    }
}

/// Reads an example call. The default target is that of `rule`, if it has no wildcards.
pub(crate) fn example(
    nodes: &NodeReader<'_>,
    node: &Node,
    rule: &RuleEntry,
) -> Result<Example, ConfigError> {
    let mut example = Example {
        target: Pattern::new(&rule.target).literal().unwrap_or_default().to_owned(),
        kind: rule.kind.unwrap_or(TargetKind::Tool),
        line: node.at.line,
        column: node.at.column,
        ..blank_example()
    };
    fill_example(nodes, node, EXAMPLE_KEYS, &mut example)?;
    if !is_single(&example.target) {
        let error = nodes.error(node.at, "the example needs a single `target`".into());
        return Err(error.hint("add `\"target\": \"server/tool\"`"));
    }
    Ok(example)
}

/// Returns whether a text names one target.
pub(crate) fn is_single(target: &str) -> bool {
    // A name may contain `*`, but in an example it is certainly meant as a wildcard.
    let is_half = |(server, name): (&str, &str)| server.is_empty() || name.is_empty();
    !target.contains('*') && target.split_once('/').is_some_and(|halves| !is_half(halves))
}

pub(crate) fn blank_example() -> Example {
    Example {
        target: String::new(),
        kind: TargetKind::Tool,
        arguments: "{}".to_owned(),
        caller: "model".to_owned(),
        annotations: "{}".to_owned(),
        trusted: false,
        reads: Vec::new(),
        results: Vec::new(),
        line: 0,
        column: 0,
    }
}

/// Fills an example from an object, and skips members of `known` that belong to the caller.
pub(crate) fn fill_example(
    nodes: &NodeReader<'_>,
    node: &Node,
    known: &[&'static str],
    example: &mut Example,
) -> Result<(), ConfigError> {
    for (name, _, node) in nodes.members(node, "an example", known)? {
        match name.as_str() {
            "target" => nodes.name(node, &name)?.clone_into(&mut example.target),
            "kind" => example.kind = nodes.choice(node, &name, KINDS)?,
            "args" => example.arguments = to_json_text(nodes, node, &name)?,
            "annotations" => example.annotations = to_json_text(nodes, node, &name)?,
            "trusted" => example.trusted = nodes.flag(node, &name)?,
            "caller" => {
                let callers = [("person", "person"), ("model", "model"), ("client", "client")];
                nodes.choice(node, &name, &callers)?.clone_into(&mut example.caller);
            }
            "reads" => example.reads = nodes.texts(node, &name)?,
            "results" => {
                example.results = nodes.texts(node, &name)?;
                if let Some(name) = example.results.iter().find(|name| !is_single(name)) {
                    let message =
                        format!("`{}` is not of the form `server/target`", sanitize(name));
                    return Err(nodes.error(node.at, message));
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn to_snake_case(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for character in name.chars() {
        if character.is_ascii_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.push(character.to_ascii_lowercase());
    }
    text
}
