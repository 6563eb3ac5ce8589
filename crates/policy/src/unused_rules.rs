//! Finds rules without effect: rules that match no target, and rules that never decide.

use std::collections::{BTreeMap, BTreeSet};

use switchboard_config::BUILTIN;
use switchboard_core::TargetKind;
use switchboard_document::ConfigError;
use switchboard_rules::{AllowedServer, Pattern, PolicyFile, PolicyLevel, RuleEffect, RuleEntry};
use switchboard_text::suggestion;

/// The names that each server offers, or `None` for unknown offers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OfferedNames(pub BTreeMap<String, Option<BTreeSet<String>>>);

/// Returns a warning for each rule without effect.
#[must_use]
pub fn unused_rules(files: &[PolicyFile], offered: &OfferedNames) -> Vec<ConfigError> {
    let denials: Vec<DenyRule<'_>> = files.iter().flat_map(deny_rules).collect();
    let mut warnings = Vec::new();
    for file in files {
        for rule in &file.rules {
            let pattern = Pattern::new(&rule.target);
            let what = RulePattern { key: "target", pattern: &pattern, kind: rule.kind };
            let problem = ignored_allow(file, rule)
                .or_else(|| what.find_unused(offered))
                .or_else(|| shadowed_by_deny(rule, &pattern, &denials));
            warnings
                .extend(problem.map(|problem| problem.into_warning(file, rule.line, rule.column)));
        }
        if let Some((tools, line)) = &file.allowed_tools {
            for tool in tools {
                let kind = Some(TargetKind::Tool);
                let what = RulePattern { key: "allowed_tools", pattern: &Pattern::new(tool), kind };
                let problem = what.find_unused(offered);
                warnings.extend(problem.map(|problem| problem.into_warning(file, *line, 1)));
            }
        }
        warnings.extend(literal_wildcards(file));
    }
    warnings
}

struct UnusedRule {
    message: String,
    hint: Option<String>,
}

impl UnusedRule {
    fn into_warning(self, file: &PolicyFile, line: usize, column: usize) -> ConfigError {
        let warning = ConfigError::new(file.file.clone(), self.message).at_place(line, column);
        let warning = warning.warning();
        match self.hint {
            Some(hint) => warning.hint(hint),
            None => warning,
        }
    }
}

struct RulePattern<'a> {
    key: &'static str,
    pattern: &'a Pattern,
    kind: Option<TargetKind>,
}

impl RulePattern<'_> {
    /// Returns why the pattern matches no known target, if that is certain.
    fn find_unused(&self, offered: &OfferedNames) -> Option<UnusedRule> {
        let text = self.pattern.as_str();
        let servers: Vec<&str> = offered.0.keys().map(String::as_str).collect();
        // Without servers, the file may be written for another machine than this one.
        if servers.iter().all(|server| *server == BUILTIN) {
            return None;
        }
        let (of_server, of_target) = text.split_once('/').unwrap_or((text, "*"));
        let reached: Vec<&str> =
            servers.iter().copied().filter(|server| self.pattern.reaches(server)).collect();
        if reached.is_empty() {
            let near =
                suggestion(of_server, &servers).map(|near| format!("did you mean `{near}`?"));
            let message = format!("`{}` `{text}` matches no configured server", self.key);
            return Some(UnusedRule { message, hint: near });
        }
        // Resources are not fully listed, because of templates; a URI contains a colon.
        let may_be_resource = match self.kind {
            Some(TargetKind::Resource) => true,
            None => of_target.contains(':'),
            Some(TargetKind::Tool | TargetKind::Prompt) => false,
        };
        if may_be_resource || of_target == "*" {
            return None;
        }
        let mut names: Vec<&str> = Vec::new();
        for server in &reached {
            let known = offered.0.get(*server).and_then(Option::as_ref)?;
            if known.iter().any(|name| self.pattern.covers(server, name)) {
                return None;
            }
            names.extend(known.iter().map(String::as_str));
        }
        let near = suggestion(of_target, &names).map(|near| format!("did you mean `{near}`?"));
        let whose = match reached.as_slice() {
            [server] => format!("server `{server}`"),
            servers => format!("any of the {} matching servers", servers.len()),
        };
        let message = format!("`{}` `{text}` matches nothing that {whose} offers", self.key);
        Some(UnusedRule { message, hint: near })
    }
}

/// Reports an `allow` in a project's file, which cannot grant permissions.
fn ignored_allow(file: &PolicyFile, rule: &RuleEntry) -> Option<UnusedRule> {
    let is_vain = file.level == PolicyLevel::Project && rule.effect == RuleEffect::Allow;
    is_vain.then(|| UnusedRule {
        message: format!("`allow` `{}` has no effect in a project's file", rule.target),
        hint: Some("move it to your own policy or to the team's".to_owned()),
    })
}

// A rule that denies a target for all callers and arguments.
struct DenyRule<'a> {
    file: &'a PolicyFile,
    rule: &'a RuleEntry,
    pattern: Pattern,
}

fn deny_rules(file: &PolicyFile) -> impl Iterator<Item = DenyRule<'_>> {
    let outright = |rule: &&RuleEntry| rule.effect == RuleEffect::Deny && rule.when.is_none();
    let rules = file.rules.iter().filter(outright);
    rules.map(move |rule| DenyRule { file, rule, pattern: Pattern::new(&rule.target) })
}

/// Returns why a rule never decides, if its target is denied unconditionally.
fn shadowed_by_deny(
    rule: &RuleEntry,
    pattern: &Pattern,
    denials: &[DenyRule<'_>],
) -> Option<UnusedRule> {
    // Only simple cases: the same pattern, `*`, or a pattern that covers a literal name. Whether
    // one pattern contains another is hard in general.
    let covers = |denial: &&DenyRule<'_>| {
        let is_of_kind = denial.rule.kind.is_none() || denial.rule.kind == rule.kind;
        let name = pattern.literal().and_then(|name| name.split_once('/'));
        let is_same = denial.rule.target == rule.target || denial.rule.target == "*";
        let is_in = name.is_some_and(|(server, target)| denial.pattern.covers(server, target));
        is_of_kind && (is_same || is_in) && !std::ptr::eq(denial.rule, rule)
    };
    // Of two rules that deny the same, only the conditional one is redundant.
    let is_open = rule.effect != RuleEffect::Deny || rule.when.is_some();
    let by = denials.iter().filter(|_| is_open).find(covers)?;
    let target = &by.rule.target;
    let place = by.file.file.display();
    let line = by.rule.line;
    let message = format!(
        "the rule for `{}` never decides: `{target}` is denied ({place}:{line})",
        rule.target
    );
    Some(UnusedRule { message, hint: None })
}

/// Reports wildcards in the allow-list of servers, where they are literal characters.
fn literal_wildcards(file: &PolicyFile) -> Vec<ConfigError> {
    let Some(servers) = &file.servers else { return Vec::new() };
    let texts = servers.allowed.iter().flatten().map(|allowed| match allowed {
        AllowedServer::Command(text) => (text.clone(), &['?', '[', '{'][..]),
        // URLs may contain question marks, and brackets around IPv6 addresses.
        AllowedServer::Url(pattern) => (pattern.to_string(), &['{'][..]),
    });
    let doubtful = texts.filter(|(text, signs)| text.contains(*signs));
    doubtful
        .map(|(text, _)| {
            let message = format!("`{text}` is compared literally except for `*`");
            let hint = Some("lists of servers support no other wildcards".to_owned());
            UnusedRule { message, hint }.into_warning(file, servers.line, 1)
        })
        .collect()
}

#[cfg(test)]
#[path = "unused_rules_tests.rs"]
mod tests;
