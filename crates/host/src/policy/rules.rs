//! What the configuration says about calls, in its simplest form.

use crate::caller::{Caller, Origin};
use crate::catalog::ResolvedCall;
use crate::config::Settings;
use crate::policy::pattern::Pattern;
use crate::proposed::TargetKind;

/// Why everything is asked while the global switch is off.
pub(super) const SWITCHED_OFF: &str = "`settings.autoApprove` is off";

/// The rules that are in force.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rules<'a> {
    /// The global switch: without it nothing of the configuration is allowed unasked.
    pub auto_approve: bool,
    /// What the person at the face allowed for this run.
    pub allow: &'a [Pattern],
    /// Whether a person has answered "always" for this tool since the host started: it is in the
    /// file by now, and will be in the configuration soon.
    pub always: bool,
}

/// What the rules say to a call, and which of them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Verdict {
    /// It may run.
    Allow(String),
    /// A person decides.
    Ask(String),
    /// It may not run.
    Deny(String),
}

impl<'a> Rules<'a> {
    /// The rules of a configuration, and of the person at the face.
    #[must_use]
    pub const fn of(settings: &Settings, allow: &'a [Pattern]) -> Self {
        Self { auto_approve: settings.auto_approve, allow, always: false }
    }

    /// What they say to `call`, proposed by `caller`.
    pub fn verdict(self, call: &ResolvedCall, caller: &Caller) -> Verdict {
        let Some(config) = &call.server().config else {
            return Verdict::Deny("the server's configuration cannot be read".to_owned());
        };
        if config.disabled {
            return Verdict::Deny(format!("server `{}` is disabled", config.id));
        }
        if caller.origin == Origin::Person {
            return Verdict::Allow("a person typed it".to_owned());
        }
        let target = call.target();
        let covers = |pattern: &&Pattern| pattern.covers(&target.server, &target.name);
        if let Some(pattern) = self.allow.iter().find(covers) {
            return Verdict::Allow(format!("`{}` for this run", pattern.as_str()));
        }
        if !self.auto_approve {
            return Verdict::Ask(SWITCHED_OFF.to_owned());
        }
        match call.target().kind {
            TargetKind::Tool
                if self.always || config.auto_approve.contains(&call.target().name) =>
            {
                Verdict::Allow(format!("`autoApprove` of server `{}`", config.id))
            }
            TargetKind::Tool => {
                Verdict::Ask(format!("not in `autoApprove` of server `{}`", config.id))
            }
            // Reading follows the global switch alone.
            TargetKind::Resource | TargetKind::Prompt => {
                Verdict::Allow("`settings.autoApprove`".to_owned())
            }
        }
    }
}
