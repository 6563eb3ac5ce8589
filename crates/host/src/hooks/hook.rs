//! One hook: its action, its event, the calls it matches, and the effect of its failure.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use switchboard_rules::PolicyLevel;

use crate::hooks::matcher::Matcher;
use crate::hooks::seal::ApprovalSeal;

/// One entry of a `hooks.json`.
#[derive(Clone, Debug)]
pub struct Hook {
    /// The text in the file: the command or the URL.
    pub name: String,
    pub level: PolicyLevel,
    pub event: HookEvent,
    pub action: HookAction,
    pub limit: Duration,
    /// Whether a failure of the hook stops the call.
    pub fail_closed: bool,
    pub rules: HookRules,
    /// The working directory of the program.
    pub folder: PathBuf,
    pub(super) matcher: Option<Matcher>,
    /// The approved state of the files that it runs, if it belongs to a project.
    pub(super) seal: Option<Arc<ApprovalSeal>>,
}

/// The event at which a hook runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookEvent {
    /// Before a call; the hook decides whether it runs.
    Before,
    /// After a call, with its result.
    After,
}

/// The version of the rules for the hooks of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookRules {
    /// Every hook runs, the strictest answer counts, durations are in milliseconds.
    Current,
    /// The rules of Cursor 2.3.41: the first answer ends the chain, durations are in seconds.
    Cursor2341,
}

/// The action of a hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookAction {
    /// A program with its arguments, started without a shell.
    Program { program: String, args: Vec<String> },
    /// A line for the system's shell.
    Shell(String),
    /// A URL that the input is posted to.
    Web(String),
    /// A type of hook that is not supported, with the reason.
    Unusable(String),
}

impl Hook {
    /// Returns whether the hook applies to calls of this target.
    pub fn matches(&self, server: &str, target: &str) -> bool {
        self.matcher.as_ref().is_none_or(|matcher| matcher.matches(server, target))
    }

    /// Returns the pattern over tool names, if there is one.
    pub fn pattern(&self) -> Option<&str> {
        self.matcher.as_ref().map(Matcher::as_str)
    }
}

impl HookEvent {
    /// Returns the name of the event, in the file and in the input.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Before => "beforeMCPExecution",
            Self::After => "afterMCPExecution",
        }
    }
}

impl HookRules {
    /// Returns the `version` in the file.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Current => "1",
            Self::Cursor2341 => "2.3.41",
        }
    }
}
