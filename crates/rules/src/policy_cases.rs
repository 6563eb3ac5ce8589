//! Test cases of policies: calls and their expected effects.

use std::path::Path;
use std::sync::Arc;

use switchboard_document::{ConfigError, Node};

use crate::policy_file::{Example, RuleEffect};
use crate::policy_read::EFFECTS;
use crate::rule_reader::{NodeReader, blank_example, fill_example, is_single};

const KEYS: &[&str] = &[
    "target", "kind", "args", "caller", "annotations", "trusted", "reads", "results", "expect",
    "rule", "name",
];

/// A call and the expected effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyCase {
    pub name: Option<String>,
    pub call: Example,
    pub expect: RuleEffect,
    /// The rule that is expected to decide.
    pub rule: Option<String>,
}

/// Parses a file of cases: `{"cases": [{"target": …, "args": {…}, "expect": "deny"}]}`.
pub fn policy_cases_from_text(
    file: &Arc<Path>,
    text: &str,
) -> Result<Vec<PolicyCase>, ConfigError> {
    let nodes = NodeReader { file, source: text };
    let root = switchboard_document::parse(text)
        .map_err(|syntax| nodes.error(syntax.at, syntax.message).hint(syntax.hint))?
        .ok_or_else(|| ConfigError::new(Arc::clone(file), "the file is empty"))?;
    let mut cases = Vec::new();
    for (name, _, node) in nodes.members(&root, "the file", &["cases"])? {
        for node in nodes.list(node, &name)? {
            cases.push(case(&nodes, node)?);
        }
    }
    Ok(cases)
}

fn case(nodes: &NodeReader<'_>, node: &Node) -> Result<PolicyCase, ConfigError> {
    let mut call = Example { line: node.at.line, column: node.at.column, ..blank_example() };
    fill_example(nodes, node, KEYS, &mut call)?;
    if !is_single(&call.target) {
        let error = nodes.error(node.at, "the case needs a single `target`".to_owned());
        return Err(error.hint("add `\"target\": \"server/tool\"`"));
    }
    let mut name = None;
    let mut expect = None;
    let mut rule = None;
    for (key, _, node) in nodes.members(node, "a case", KEYS)? {
        match key.as_str() {
            "name" => name = Some(nodes.text(node, &key)?.to_owned()),
            "rule" => rule = Some(nodes.text(node, &key)?.to_owned()),
            "expect" => expect = Some(nodes.choice(node, &key, EFFECTS)?),
            _ => {}
        }
    }
    let expect =
        expect.ok_or_else(|| nodes.error(node.at, "the case has no `expect`".to_owned()))?;
    Ok(PolicyCase { name, call, expect, rule })
}
