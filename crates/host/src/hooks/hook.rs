//! One hook: what runs, when, for which calls, and what its failure means.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use switchboard_rules::PolicyLevel;

use crate::hooks::matcher::Matcher;
use crate::hooks::seal::ApprovalSeal;

/// One entry of a `hooks.json`.
#[derive(Clone, Debug)]
pub struct Hook {
    /// Its text in the file: the command or the address.
    pub name: String,
    pub level: PolicyLevel,
    /// When it is asked.
    pub event: HookEvent,
    pub action: HookAction,
    /// How long it may take.
    pub limit: Duration,
    /// Whether a failure of the hook stops the call.
    pub fail_closed: bool,
    /// Which rules its file is written for.
    pub rules: HookRules,
    /// Where a program runs.
    pub folder: PathBuf,
    pub(super) matcher: Option<Matcher>,
    /// What was approved together with it, if it is a project's.
    pub(super) seal: Option<Arc<ApprovalSeal>>,
}

/// When a hook is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookEvent {
    /// Before a call, about whether it may run.
    Before,
    /// After a call, about its result.
    After,
}

/// Which rules hold for the hooks of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookRules {
    /// Every hook is asked, the strictest answer counts, durations are in milliseconds.
    Current,
    /// Those of Cursor 2.3.41: the first answer ends the chain, durations are in seconds.
    Cursor2341,
}

/// What a hook is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookAction {
    /// A program with its arguments, without a shell.
    Program {
        /// A name to look up in `PATH`, or a path.
        program: String,
        args: Vec<String>,
    },
    /// A line for the system's shell.
    Shell(String),
    /// An address that is sent the input.
    Web(String),
    /// Something that cannot be asked here, and why.
    Unusable(String),
}

impl Hook {
    /// Whether it wants to hear of calls of this target.
    #[must_use]
    pub fn matches(&self, server: &str, target: &str) -> bool {
        self.matcher.as_ref().is_none_or(|matcher| matcher.matches(server, target))
    }

    /// The pattern over names of tools, if it has one.
    #[must_use]
    pub fn pattern(&self) -> Option<&str> {
        self.matcher.as_ref().map(Matcher::as_str)
    }
}

impl HookEvent {
    /// The name of the event, in the file and in the input.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Before => "beforeMCPExecution",
            Self::After => "afterMCPExecution",
        }
    }
}

impl HookRules {
    /// What `version` says in the file.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Current => "1",
            Self::Cursor2341 => "2.3.41",
        }
    }
}
