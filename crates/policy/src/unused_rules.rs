//! Finds what a policy says in vain: rules about what is not there, or that never decide anything.

use std::collections::{BTreeMap, BTreeSet};

use switchboard_config::BUILTIN;
use switchboard_core::TargetKind;
use switchboard_document::ConfigError;
use switchboard_rules::{AllowedServer, Effect, Level, Pattern, PolicyFile, RuleEntry};
use switchboard_text::suggestion;

/// The names that servers offer, by server. A server about which nothing is known has no names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offered(pub BTreeMap<String, Option<BTreeSet<String>>>);

/// What files say in vain, as warnings with their places. Without any server that is configured
/// nothing is said about servers: then the file is looked at where it is written, not where it counts.
#[must_use]
pub fn idle_rules(files: &[PolicyFile], offered: &Offered) -> Vec<ConfigError> {
    let denials: Vec<Denial<'_>> = files.iter().flat_map(denials).collect();
    let mut warnings = Vec::new();
    for file in files {
        for rule in &file.rules {
            let pattern = Pattern::new(&rule.target);
            let what = Meant { key: "target", pattern: &pattern, kind: rule.kind };
            let problem = uncounted(file, rule)
                .or_else(|| what.in_vain(offered))
                .or_else(|| shadowed(rule, &pattern, &denials));
            warnings.extend(problem.map(|problem| problem.at(file, rule.line, rule.column)));
        }
        if let Some((tools, line)) = &file.allowed_tools {
            for tool in tools {
                let pattern = Pattern::new(tool);
                let kind = Some(TargetKind::Tool);
                let what = Meant { key: "allowed_tools", pattern: &pattern, kind };
                let problem = what.in_vain(offered);
                warnings.extend(problem.map(|problem| problem.at(file, *line, 1)));
            }
        }
        warnings.extend(literal_signs(file));
    }
    warnings
}

/// Something that is said in vain.
struct Vain {
    message: String,
    hint: Option<String>,
}

impl Vain {
    fn at(self, file: &PolicyFile, line: usize, column: usize) -> ConfigError {
        let warning = ConfigError::new(file.file.clone(), self.message).at_place(line, column);
        let warning = warning.warning();
        match self.hint {
            Some(hint) => warning.hint(hint),
            None => warning,
        }
    }
}

/// What a pattern is meant for.
struct Meant<'a> {
    key: &'static str,
    pattern: &'a Pattern,
    kind: Option<TargetKind>,
}

impl Meant<'_> {
    /// Why nothing that is there is meant, if that is known.
    fn in_vain(&self, offered: &Offered) -> Option<Vain> {
        let text = self.pattern.as_str();
        let servers: Vec<&str> = offered.0.keys().map(String::as_str).collect();
        if servers.iter().all(|server| *server == BUILTIN) {
            return None;
        }
        let (of_server, of_target) = text.split_once('/').unwrap_or((text, "*"));
        let reached: Vec<&str> =
            servers.iter().copied().filter(|server| self.pattern.reaches(server)).collect();
        if reached.is_empty() {
            let near =
                suggestion(of_server, &servers).map(|near| format!("did you mean `{near}`?"));
            let message = format!("`{}` `{text}` is of no server that is configured", self.key);
            return Some(Vain { message, hint: near });
        }
        // Of resources only families are known, and an address has a colon.
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
            servers => format!("the {} servers that it is for", servers.len()),
        };
        let message = format!("`{}` `{text}` is nothing that {whose} offers", self.key);
        Some(Vain { message, hint: near })
    }
}

/// Whoever wrote a project cannot agree to anything.
fn uncounted(file: &PolicyFile, rule: &RuleEntry) -> Option<Vain> {
    let is_vain = file.level == Level::Project && rule.effect == Effect::Allow;
    is_vain.then(|| Vain {
        message: format!("`allow` `{}` does not count in the file of a project", rule.target),
        hint: Some("write it into your own policy, or into the team's".to_owned()),
    })
}

/// A rule that denies something to everybody, whatever the arguments are.
struct Denial<'a> {
    file: &'a PolicyFile,
    rule: &'a RuleEntry,
    pattern: Pattern,
}

fn denials(file: &PolicyFile) -> impl Iterator<Item = Denial<'_>> {
    let outright = |rule: &&RuleEntry| rule.effect == Effect::Deny && rule.when.is_none();
    let rules = file.rules.iter().filter(outright);
    rules.map(move |rule| Denial { file, rule, pattern: Pattern::new(&rule.target) })
}

/// Why a rule never decides anything: what it is for is denied outright. Only plain cases are seen: the
/// same pattern, one for everything, or one that covers the single name of the rule.
fn shadowed(rule: &RuleEntry, pattern: &Pattern, denials: &[Denial<'_>]) -> Option<Vain> {
    let covers = |denial: &&Denial<'_>| {
        let is_of_kind = denial.rule.kind.is_none() || denial.rule.kind == rule.kind;
        let name = pattern.literal().and_then(|name| name.split_once('/'));
        let is_same = denial.rule.target == rule.target || denial.rule.target == "*";
        let is_in = name.is_some_and(|(server, target)| denial.pattern.covers(server, target));
        is_of_kind && (is_same || is_in) && !std::ptr::eq(denial.rule, rule)
    };
    // Of two that deny the same, the one with conditions is the one in vain.
    let is_open = rule.effect != Effect::Deny || rule.when.is_some();
    let by = denials.iter().filter(|_| is_open).find(covers)?;
    let (target, place, line) = (&by.rule.target, by.file.file.display(), by.rule.line);
    let message = format!(
        "the rule for `{}` never decides: `{target}` is denied ({place}:{line})",
        rule.target
    );
    Some(Vain { message, hint: None })
}

/// Signs in the list of allowed servers that are wildcards elsewhere.
fn literal_signs(file: &PolicyFile) -> Vec<ConfigError> {
    let Some(servers) = &file.servers else { return Vec::new() };
    let texts = servers.allowed.iter().flatten().map(|allowed| match allowed {
        AllowedServer::Command(text) => (text.clone(), &['?', '[', '{'][..]),
        // An address has question marks, and brackets around some hosts.
        AllowedServer::Url(pattern) => (pattern.to_string(), &['{'][..]),
    });
    let doubtful = texts.filter(|(text, signs)| text.contains(*signs));
    doubtful
        .map(|(text, _)| {
            let message = format!("`{text}` is compared sign by sign but for `*`");
            let hint = Some("other wildcards are not known in lists of servers".to_owned());
            Vain { message, hint }.at(file, servers.line, 1)
        })
        .collect()
}

#[cfg(test)]
#[path = "unused_rules_tests.rs"]
mod tests;
