//! What a level says to a call, and by which of its lines.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use switchboard_rules::{PolicyLevel, RuleEffect};

/// What a level says to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ruling {
    /// What it says.
    pub effect: RuleEffect,
    /// By which of its lines.
    pub by: Citation,
    /// Whether an `allow` holds also after something was read from a server that is not trusted.
    pub tainted: bool,
    /// Whether it is refused because only what changes nothing may run.
    pub read_only: bool,
}

/// A line of a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Citation {
    /// Who wrote it.
    pub level: PolicyLevel,
    /// What it is called, or what it says.
    pub rule: String,
    /// Why it counts, where that needs saying.
    pub why: Option<String>,
    /// The file.
    pub file: Arc<Path>,
    /// The line in it.
    pub line: usize,
}

impl fmt::Display for Citation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { level, rule, why, file, line } = self;
        write!(formatter, "`{rule}` of the {} policy", level.as_str())?;
        if let Some(why) = why {
            write!(formatter, ", {why}")?;
        }
        write!(formatter, " ({}:{line})", file.display())
    }
}
