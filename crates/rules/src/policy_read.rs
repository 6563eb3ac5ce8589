//! Parses policy files. A file with any error is rejected as a whole.

use std::path::Path;
use std::sync::Arc;

use switchboard_core::TargetKind;
use switchboard_document::{ConfigError, Node, NodeValue, Position, nested_position};
use switchboard_text::{BadPattern, SingleChoice, parse_forms, sanitize};

use crate::allowed_servers::{AllowedServer, AllowedServers, UrlPattern};
use crate::expression::Expression;
use crate::pattern::{Pattern, check_address};
use crate::policy_file::{PolicyFile, PolicyLevel, RuleEffect, RuleEntry};
use crate::rule_reader::{NodeReader, example};
use crate::team::{Team, read_team};

const MAX_RULES: usize = 20_000;

const TOP_KEYS: &[&str] = &["rules", "servers", "controls", "read_only", "auto_approve", "team"];
const RULE_KEYS: &[&str] =
    &["effect", "target", "kind", "when", "name", "tainted", "match", "not_match"];
const SERVER_KEYS: &[&str] = &["disable_all", "allowed", "allowed_mcp_servers"];
const CONTROL_KEYS: &[&str] = &["enabled", "allowed_tools"];
pub(crate) const KINDS: &[(&str, TargetKind)] = &[
    ("tool", TargetKind::Tool),
    ("resource", TargetKind::Resource),
    ("prompt", TargetKind::Prompt),
];
pub(crate) const EFFECTS: &[(&str, RuleEffect)] =
    &[("allow", RuleEffect::Allow), ("ask", RuleEffect::Ask), ("deny", RuleEffect::Deny)];

/// Parses a text as the policy file of a level.
pub fn policy_from_text(
    level: PolicyLevel,
    file: &Arc<Path>,
    text: &str,
) -> Result<PolicyFile, ConfigError> {
    Ok(read_policy_file(level, file, text)?.0)
}

/// Parses the policy file of a level, and the team that it names.
pub fn read_policy_file(
    level: PolicyLevel,
    file: &Arc<Path>,
    text: &str,
) -> Result<(PolicyFile, Option<Team>), ConfigError> {
    let nodes = NodeReader { file, source: text };
    let mut policy = PolicyFile {
        level,
        file: Arc::clone(file),
        rules: Vec::new(),
        servers: None,
        allowed_tools: None,
        switched_off: None,
        read_only: None,
        ask_always: None,
    };
    let root = switchboard_document::parse(text)
        .map_err(|syntax| nodes.error(syntax.at, syntax.message).hint(syntax.hint))?;
    // A file without a value is a policy without rules.
    let Some(root) = root else { return Ok((policy, None)) };
    // Parsers differ in which duplicate they use, so a reviewer could read another rule than the
    // one that applies.
    if let Some((path, at)) = root.find_duplicate() {
        return Err(nodes.error(at, format!("`{}` is given twice", sanitize(&path))));
    }
    let mut team = None;
    for (name, at, node) in nodes.members(&root, "the file", TOP_KEYS)? {
        match name.as_str() {
            "rules" => policy.rules = rules(&nodes, node)?,
            "servers" => policy.servers = Some(servers(&nodes, at, node)?),
            "controls" => controls(&nodes, node, &mut policy)?,
            "read_only" => policy.read_only = nodes.flag(node, &name)?.then_some(at.line),
            "auto_approve" => policy.ask_always = (!nodes.flag(node, &name)?).then_some(at.line),
            _ if level == PolicyLevel::Enterprise => team = Some(read_team(&nodes, node)?),
            _ => return Err(nodes.error(at, "only the organisation's file can name a team".into())),
        }
    }
    Ok((policy, team))
}

fn rules(nodes: &NodeReader<'_>, node: &Node) -> Result<Vec<RuleEntry>, ConfigError> {
    let list = nodes.list(node, "rules")?;
    if list.len() > MAX_RULES {
        return Err(nodes.error(node.at, format!("has more than {MAX_RULES} rules")));
    }
    list.iter().map(|node| rule(nodes, node)).collect()
}

fn rule(nodes: &NodeReader<'_>, node: &Node) -> Result<RuleEntry, ConfigError> {
    let Position { line, column } = node.at;
    let mut effect = None;
    let mut target = None;
    let mut rule = RuleEntry {
        effect: RuleEffect::Deny,
        target: String::new(),
        kind: None,
        when: None,
        name: None,
        tainted: false,
        line,
        column,
        covers: Vec::new(),
        leaves: Vec::new(),
    };
    let mut examples = Vec::new();
    for (name, _, node) in nodes.members(node, "a rule", RULE_KEYS)? {
        match name.as_str() {
            "effect" => effect = Some(nodes.choice(node, &name, EFFECTS)?),
            "target" => target = Some((nodes.pattern(node, &name)?, node)),
            "kind" => rule.kind = Some(nodes.choice(node, &name, KINDS)?),
            "when" => rule.when = Some(when(nodes, node)?),
            "name" => rule.name = Some(nodes.text(node, &name)?.to_owned()),
            "tainted" => rule.tainted = nodes.flag(node, &name)?,
            _ => examples.push((name, node)),
        }
    }
    let missing = |key: &str| nodes.error(node.at, format!("the rule has no `{key}`"));
    rule.effect = effect.ok_or_else(|| missing("effect"))?;
    let (pattern, written) = target.ok_or_else(|| missing("target"))?;
    // Not in the loop, since `kind` may follow `target` in the file.
    if rule.kind == Some(TargetKind::Resource) {
        let server = pattern.as_str().chars().take_while(|sign| *sign != '/').count();
        check_address(pattern.as_str(), server)
            .map_err(|bad| nodes.bad_pattern(written, "target", &bad))?;
    }
    pattern.as_str().clone_into(&mut rule.target);
    // Examples come last: their defaults are the target and the kind of the complete rule.
    for (name, node) in examples {
        let list = nodes.list(node, &name)?;
        let read: Result<Vec<_>, _> = list.iter().map(|node| example(nodes, node, &rule)).collect();
        match name.as_str() {
            "match" => rule.covers = read?,
            _ => rule.leaves = read?,
        }
    }
    Ok(rule)
}

fn when(nodes: &NodeReader<'_>, node: &Node) -> Result<Expression, ConfigError> {
    let text = nodes.text(node, "when")?;
    Expression::compile(text).map_err(|bad| {
        let at = nested_position(nodes.source, node.at, bad.offset);
        let error = nodes.error(at, format!("`when` {}", sanitize(&bad.message)));
        match bad.hint {
            Some(hint) => error.hint(hint),
            None => error,
        }
    })
}

fn servers(
    nodes: &NodeReader<'_>,
    at: Position,
    node: &Node,
) -> Result<AllowedServers, ConfigError> {
    let mut servers = AllowedServers { line: at.line, ..AllowedServers::default() };
    for (name, at, node) in nodes.members(node, "servers", SERVER_KEYS)? {
        if name == "disable_all" {
            servers.disable_all = nodes.flag(node, &name)?;
            continue;
        }
        // `allowed` and `allowed_mcp_servers` are two names of the same list.
        if servers.allowed.is_some() {
            return Err(nodes.error(at, "the list of allowed servers is given twice".into()));
        }
        let list = nodes.list(node, &name)?;
        servers.allowed =
            Some(list.iter().map(|node| allowed_server(nodes, node)).collect::<Result<_, _>>()?);
    }
    Ok(servers)
}

fn allowed_server(nodes: &NodeReader<'_>, node: &Node) -> Result<AllowedServer, ConfigError> {
    let members = nodes.members(node, "an allowed server", &["command", "url", "server_url"])?;
    let [(name, _, value)] = members.as_slice() else {
        return Err(nodes.error(node.at, "an allowed server has either `command` or `url`".into()));
    };
    let text = nodes.text(value, name)?;
    if name == "command" {
        return Ok(AllowedServer::Command(text.to_owned()));
    }
    let wrong = |cause: &str| nodes.error(value.at, format!("`{name}` {cause}"));
    UrlPattern::parse(text).map(AllowedServer::Url).map_err(wrong)
}

fn controls(
    nodes: &NodeReader<'_>,
    node: &Node,
    policy: &mut PolicyFile,
) -> Result<(), ConfigError> {
    for (name, at, node) in nodes.members(node, "controls", CONTROL_KEYS)? {
        if name == "enabled" {
            policy.switched_off = (!nodes.flag(node, &name)?).then_some(at.line);
            continue;
        }
        let list = nodes.list(node, &name)?;
        let patterns: Result<Vec<Vec<String>>, ConfigError> =
            list.iter().map(|node| tool_patterns(nodes, node, &name)).collect();
        policy.allowed_tools = Some((patterns?.concat(), at.line));
    }
    Ok(())
}

/// Parses an entry of the allow-list of tools: a tool of any server, `server:tool` as other
/// products write it, or `server/tool`.
fn tool_patterns(
    nodes: &NodeReader<'_>,
    node: &Node,
    key: &str,
) -> Result<Vec<String>, ConfigError> {
    let text = nodes.pattern(node, key)?;
    // An offset in an expanded form does not exist in the file, so errors point to the entry.
    let bad = |bad: BadPattern| nodes.bad_pattern(node, key, &BadPattern { offset: 0, ..bad });
    // Braces are expanded first, because they may enclose the colon: `{a:b,c:d}`.
    let forms = parse_forms(text.as_str(), SingleChoice::Reject).map_err(bad)?.into_iter();
    let patterns = forms.map(|form| form.text).map(|text| match text.split_once(':') {
        _ if text.contains('/') || text == "*" => text,
        Some((server, tool)) => format!("{server}/{tool}"),
        None => format!("*/{text}"),
    });
    patterns.map(|text| Pattern::parse(&text).map(|_| text).map_err(bad)).collect()
}

/// Returns the compact JSON text of an object, independent of its layout.
pub(crate) fn to_json_text(
    nodes: &NodeReader<'_>,
    node: &Node,
    key: &str,
) -> Result<String, ConfigError> {
    match &node.value {
        NodeValue::Object(_) => Ok(node.to_compact_json()),
        _ => Err(nodes.error(node.at, format!("`{key}` must be an object, not {}", node.kind()))),
    }
}

#[cfg(test)]
#[path = "policy_read_tests.rs"]
mod tests;
