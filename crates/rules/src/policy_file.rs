//! `PolicyFile`: what one level says about calls and servers, as written.

use std::path::Path;
use std::sync::Arc;

use switchboard_core::TargetKind;

use crate::allowed_servers::AllowedServers;
use crate::expression::Expression;

/// The author of rules or hooks, the strongest first: each may only narrow what those before it
/// allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PolicyLevel {
    /// The organisation, for this machine.
    Enterprise,
    /// A team, by a path or an address in the settings.
    Team,
    Project,
    User,
}

impl PolicyLevel {
    /// All levels, the strongest first.
    pub const ALL: [Self; 4] = [Self::Enterprise, Self::Team, Self::Project, Self::User];

    /// The level in one word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Enterprise => "enterprise",
            Self::Team => "team",
            Self::Project => "project",
            Self::User => "user",
        }
    }
}

/// The file of one level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyFile {
    pub level: PolicyLevel,
    pub file: Arc<Path>,
    /// Its rules, in the order of the file.
    pub rules: Vec<RuleEntry>,
    /// Which servers may be there at all.
    pub servers: Option<AllowedServers>,
    /// Which tools may be called at all: patterns, and where the list is written.
    pub allowed_tools: Option<(Vec<String>, usize)>,
    /// Where it says that nothing may be called.
    pub switched_off: Option<usize>,
    /// Where it says that only what is known to change nothing may run.
    pub read_only: Option<usize>,
    /// Where it says that nothing runs unasked.
    pub ask_always: Option<usize>,
}

/// One rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleEntry {
    pub effect: RuleEffect,
    /// Of what: a pattern over `server/target`.
    pub target: String,
    /// Of which kind of thing; of all without one.
    pub kind: Option<TargetKind>,
    pub when: Option<Expression>,
    /// What people call it.
    pub name: Option<String>,
    /// Whether an `allow` holds also after something was read from a server that is not trusted.
    pub tainted: bool,
    /// The line of the rule, from 1.
    pub line: usize,
    /// Its column, from 1.
    pub column: usize,
    /// Calls that it must cover.
    pub covers: Vec<Example>,
    /// Calls that it must not cover.
    pub leaves: Vec<Example>,
}

/// What a rule says; the stricter one is the greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RuleEffect {
    Allow,
    Ask,
    /// It may not run.
    Deny,
}

/// A call as an example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    pub target: String,
    /// Which kind of thing it is.
    pub kind: TargetKind,
    /// The text of the arguments: a JSON object.
    pub arguments: String,
    /// Who proposes it: `person`, `model` or `client`.
    pub caller: String,
    /// What the server says about the tool: the text of a JSON object.
    pub annotations: String,
    /// Whether the server is trusted.
    pub trusted: bool,
    /// Servers that were read from before.
    pub reads: Vec<String>,
    /// What results came from before: `server/target`.
    pub results: Vec<String>,
    /// The line of the example, from 1.
    pub line: usize,
    /// Its column, from 1.
    pub column: usize,
}

impl RuleEffect {
    /// The effect in one word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// The files of all levels, the strongest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policies {
    /// What could be read.
    pub files: Vec<PolicyFile>,
    /// What is wrong with the first file that could not.
    pub broken: Option<switchboard_document::ConfigError>,
}

impl Policies {
    /// Returns a message for each file of `earlier` that is gone: the person who removed it may not
    /// expect its rules to be off.
    pub fn removed_files(&self, earlier: &Self) -> Vec<String> {
        let is_there = |file: &PolicyFile| self.files.iter().any(|one| one.file == file.file);
        let gone = earlier.files.iter().filter(|file| !is_there(file) && self.broken.is_none());
        let words = |file: &PolicyFile| {
            let level = file.level.as_str();
            let place = file.file.display();
            format!("the {level} policy is gone, and its rules with it ({place})")
        };
        gone.map(words).collect()
    }
}
