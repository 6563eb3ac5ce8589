//! The contents of a policy, line by line, for display.

use crate::policy_file::{Policies, PolicyFile};

/// One line of a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyLine {
    /// The effect: `allow`, `ask`, `deny`, or `bar` for servers.
    pub effect: &'static str,
    pub target: String,
    /// The condition; empty if the line always applies.
    pub when: String,
    pub name: Option<String>,
    pub line: usize,
}

impl PolicyFile {
    /// Returns the lines of the file: its general settings first, then its rules in file order.
    pub fn lines(&self) -> Vec<PolicyLine> {
        let control = |effect, when: &str, line| PolicyLine {
            effect,
            target: "*".to_owned(),
            when: when.to_owned(),
            name: None,
            line,
        };
        let mut lines: Vec<PolicyLine> = Vec::new();
        lines.extend(self.switched_off.map(|line| control("deny", "", line)));
        lines.extend(self.read_only.map(|line| control("deny", "it may change something", line)));
        lines.extend(self.ask_always.map(|line| control("ask", "", line)));
        if let Some((tools, line)) = &self.allowed_tools {
            lines.push(control("deny", &format!("none of {}", tools.join(", ")), *line));
        }
        lines.extend(self.servers.as_ref().map(|servers| {
            let when = match (servers.disable_all, &servers.allowed) {
                (true, _) => "every server".to_owned(),
                (false, Some(allowed)) => {
                    format!("server is not one of the {} allowed ones", allowed.len())
                }
                (false, None) => "no server".to_owned(),
            };
            control("bar", &when, servers.line)
        }));
        lines.extend(self.rules.iter().map(|rule| PolicyLine {
            effect: rule.effect.as_str(),
            target: match rule.kind {
                Some(kind) => format!("{kind} {}", rule.target),
                None => rule.target.clone(),
            },
            when: rule.when.as_ref().map(|when| when.text().to_owned()).unwrap_or_default(),
            name: rule.name.clone(),
            line: rule.line,
        }));
        lines
    }
}

impl Policies {
    /// Returns the policies with the file of one level replaced.
    pub fn with_file(&self, file: PolicyFile) -> Self {
        let others = self.files.iter().filter(|other| other.level != file.level).cloned();
        let mut files: Vec<PolicyFile> = others.collect();
        files.push(file);
        files.sort_by_key(|file| file.level);
        Self { files, broken: None }
    }
}
