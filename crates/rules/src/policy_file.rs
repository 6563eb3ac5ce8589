//! The contents of a policy file: the rules of one level about calls and servers.

use std::path::Path;
use std::sync::Arc;

use switchboard_core::TargetKind;

use crate::allowed_servers::AllowedServers;
use crate::expression::Expression;

/// The author of rules or hooks, strongest first. Each level can only narrow the levels before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PolicyLevel {
    Enterprise,
    Team,
    Project,
    User,
}

impl PolicyLevel {
    /// All levels, strongest first.
    pub const ALL: [Self; 4] = [Self::Enterprise, Self::Team, Self::Project, Self::User];

    /// Returns the name of the level.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Enterprise => "enterprise",
            Self::Team => "team",
            Self::Project => "project",
            Self::User => "user",
        }
    }
}

/// The policy file of one level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyFile {
    pub level: PolicyLevel,
    pub file: Arc<Path>,
    pub rules: Vec<RuleEntry>,
    pub servers: Option<AllowedServers>,
    /// The allow-list of tools: patterns, and the line of the list.
    pub allowed_tools: Option<(Vec<String>, usize)>,
    /// The line that denies all calls.
    pub switched_off: Option<usize>,
    /// The line that allows only calls known to be read-only.
    pub read_only: Option<usize>,
    /// The line that requires approval for every call.
    pub ask_always: Option<usize>,
}

/// A rule of a policy file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleEntry {
    pub effect: RuleEffect,
    /// A pattern over `server/target`.
    pub target: String,
    /// The kind of target; all kinds if `None`.
    pub kind: Option<TargetKind>,
    pub when: Option<Expression>,
    pub name: Option<String>,
    /// Whether an `allow` also applies after data was read from an untrusted server.
    pub tainted: bool,
    pub line: usize,
    pub column: usize,
    /// Calls that the rule must cover.
    pub covers: Vec<Example>,
    /// Calls that the rule must not cover.
    pub leaves: Vec<Example>,
}

/// The effect of a rule. A stricter effect compares as greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RuleEffect {
    Allow,
    Ask,
    Deny,
}

/// An example call of a rule or a policy test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    pub target: String,
    pub kind: TargetKind,
    /// The arguments, as the text of a JSON object.
    pub arguments: String,
    /// The origin of the call: `person`, `model` or `client`.
    pub caller: String,
    /// The annotations of the tool, as the text of a JSON object.
    pub annotations: String,
    pub trusted: bool,
    /// Servers that the session has read from before.
    pub reads: Vec<String>,
    /// Targets whose results the session has received before, as `server/target`.
    pub results: Vec<String>,
    pub line: usize,
    pub column: usize,
}

impl RuleEffect {
    /// Returns the name of the effect.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// The policy files of all levels, strongest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policies {
    pub files: Vec<PolicyFile>,
    /// The error of the first invalid file.
    pub broken: Option<switchboard_document::ConfigError>,
}

impl Policies {
    /// Returns a message for each file of `earlier` that was removed since.
    pub fn removed_files(&self, earlier: &Self) -> Vec<String> {
        // A broken file is missing from `files` too, but its error is reported already.
        let is_there = |file: &PolicyFile| self.files.iter().any(|one| one.file == file.file);
        let gone = earlier.files.iter().filter(|file| !is_there(file) && self.broken.is_none());
        let words = |file: &PolicyFile| {
            let level = file.level.as_str();
            let place = file.file.display();
            format!("the {level} policy was removed, and its rules no longer apply ({place})")
        };
        gone.map(words).collect()
    }
}
