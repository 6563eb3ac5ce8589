//! Combines the rules of all levels with the configuration's `autoApprove` into a verdict.

use switchboard_config::{ServerConfig, Settings};
use switchboard_core::{Origin, TargetKind};
use switchboard_rules::{Pattern, RuleEffect};

use crate::facts::PolicyFacts;
use crate::policy::{Policy, Ruling};

const AUTO_APPROVE_OFF: &str = "`settings.autoApprove` is off";
const COUNTS_WHEN_ON: &str = "always-allow answers apply once it is on";
pub(crate) const ASKED_EACH_TIME: &str = "this is asked each time";

/// The rules in force for a call.
#[derive(Clone, Copy, Debug, Default)]
pub struct RuleContext<'a> {
    /// The global switch, without which the configuration auto-approves nothing.
    pub auto_approve: bool,
    /// Patterns that the person at the face allowed for this run.
    pub allow: &'a [Pattern],
    /// Whether a person has answered "always" for this tool since the host started.
    // The answer is in the file already, but perhaps not yet in the loaded configuration.
    pub always: bool,
    pub policy: Option<&'a Policy>,
    /// Whether a tainted session needs approval for calls that are not read-only.
    pub taint: bool,
    /// The scanner's finding in the definition, if a person must see it before the call.
    pub flagged: Option<&'a str>,
}

/// The verdict on a call, with the rule behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Verdict {
    Allow(String),
    Ask(ReviewReason),
    Deny(String),
    // Denied because only read-only calls may run.
    ReadOnly(String),
}

impl Verdict {
    /// Returns the effect and the rule or reason behind it.
    #[must_use]
    pub fn effect_and_reason(&self) -> (RuleEffect, &str) {
        match self {
            Self::Allow(by) => (RuleEffect::Allow, by),
            Self::Ask(doubt) => (RuleEffect::Ask, &doubt.why),
            Self::Deny(by) | Self::ReadOnly(by) => (RuleEffect::Deny, by),
        }
    }
}

/// The reason why a call needs a review.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewReason {
    pub why: String,
    /// Why an answer for the future does not prevent the next question.
    pub repeat_reason: Option<&'static str>,
}

/// A grant of permission, subject to the taint check.
struct Allowance {
    by: String,
    /// Whether the grant also applies to a tainted session.
    in_spite_of_taint: bool,
}

impl<'a> RuleContext<'a> {
    /// Creates the context from settings and the patterns allowed for this run.
    #[must_use]
    pub const fn from_settings(settings: &Settings, allow: &'a [Pattern]) -> Self {
        let auto_approve = settings.auto_approve;
        let taint = settings.taint;
        Self { auto_approve, allow, always: false, policy: None, taint, flagged: None }
    }

    /// Returns the verdict on a call of a server with this configuration.
    pub fn verdict(self, facts: &PolicyFacts<'_>, server: Option<&ServerConfig>) -> Verdict {
        let Some(server) = server else {
            return Verdict::Deny("the server's configuration cannot be read".to_owned());
        };
        // Before the policy: no rule can allow a server that is barred or disabled.
        if let Some(why) = &server.barred {
            return Verdict::Deny(why.clone());
        }
        if server.disabled {
            return Verdict::Deny(format!("server `{}` is disabled", server.id));
        }
        self.verdict_or_default(facts, |rules| rules.default_verdict(facts, server))
    }

    /// Returns the verdict on a call of a server that is not configured.
    pub fn verdict_without_server(self, facts: &PolicyFacts<'_>) -> Verdict {
        let unknown = || format!("unknown server `{}`", facts.target.server);
        self.verdict_or_default(facts, |_| Err(unknown()))
    }

    /// Returns the verdict of the policy, or of `sugar` if it has no ruling.
    fn verdict_or_default(
        self,
        facts: &PolicyFacts<'_>,
        sugar: impl FnOnce(Self) -> Result<Allowance, String>,
    ) -> Verdict {
        let ruling = self.policy.and_then(|policy| policy.ruling(facts));
        if let Some(Ruling { effect: RuleEffect::Deny, by, read_only, .. }) = &ruling {
            let by = by.to_string();
            return if *read_only { Verdict::ReadOnly(by) } else { Verdict::Deny(by) };
        }
        // A person's own call needs no approval, but it cannot override a `deny`.
        if facts.caller.origin == Origin::Person {
            return Verdict::Allow("a person typed it".to_owned());
        }
        let allowed = match ruling {
            Some(Ruling { effect: RuleEffect::Ask, by, .. }) => {
                return Verdict::Ask(ReviewReason {
                    why: by.to_string(),
                    repeat_reason: Some(ASKED_EACH_TIME),
                });
            }
            Some(Ruling { by, tainted, .. }) => {
                // The rule was written without knowledge of the scanner's finding.
                if let Some(found) = self.flagged.filter(|_| self.allowed_for_run(facts).is_none())
                {
                    return Verdict::Ask(ReviewReason {
                        why: found.to_owned(),
                        repeat_reason: None,
                    });
                }
                let in_spite_of_taint = tainted || self.allowed_for_run(facts).is_some();
                Allowance { by: by.to_string(), in_spite_of_taint }
            }
            None => match sugar(self) {
                Ok(allowed) => allowed,
                Err(why) => {
                    // An answer for the session predates the tainted read, so it does not apply.
                    if let Some(taint) = self.taint_reason(facts) {
                        return Verdict::Ask(ReviewReason {
                            why: format!("{why}; {taint}"),
                            repeat_reason: Some(ASKED_EACH_TIME),
                        });
                    }
                    let anyway = (why == AUTO_APPROVE_OFF).then_some(COUNTS_WHEN_ON);
                    return Verdict::Ask(ReviewReason { why, repeat_reason: anyway });
                }
            },
        };
        match self.taint_reason(facts).filter(|_| !allowed.in_spite_of_taint) {
            Some(why) => Verdict::Ask(ReviewReason { why, repeat_reason: Some(ASKED_EACH_TIME) }),
            None => Verdict::Allow(allowed.by),
        }
    }

    /// Applies `allow`, the findings and `autoApprove`. The error is the reason for asking.
    fn default_verdict(
        self,
        facts: &PolicyFacts<'_>,
        server: &ServerConfig,
    ) -> Result<Allowance, String> {
        let target = facts.target;
        if let Some(pattern) = self.allowed_for_run(facts) {
            let by = format!("`{}` for this run", pattern.as_str());
            // A person allowed it for this run, tainted or not.
            return Ok(Allowance { by, in_spite_of_taint: true });
        }
        if let Some(found) = self.flagged {
            return Err(found.to_owned());
        }
        if !self.auto_approve {
            return Err(AUTO_APPROVE_OFF.to_owned());
        }
        let by = match target.kind {
            TargetKind::Tool if self.always || server.auto_approve.contains(&target.name) => {
                format!("`autoApprove` of server `{}`", server.id)
            }
            TargetKind::Tool => {
                return Err(format!("not in `autoApprove` of server `{}`", server.id));
            }
            // Reads depend only on the global switch.
            TargetKind::Resource | TargetKind::Prompt => "`settings.autoApprove`".to_owned(),
        };
        Ok(Allowance { by, in_spite_of_taint: false })
    }

    fn allowed_for_run(self, facts: &PolicyFacts<'_>) -> Option<&'a Pattern> {
        let target = facts.target;
        self.allow.iter().find(|pattern| pattern.covers(&target.server, &target.name))
    }

    /// Returns why the taint of the session requires a review of this call.
    fn taint_reason(self, facts: &PolicyFacts<'_>) -> Option<String> {
        let from = facts.tainted_by().filter(|_| self.taint && !facts.read_only)?;
        Some(format!(
            "something was read from `{from}`, which is not trusted, and `{}` may change something",
            facts.target
        ))
    }
}

#[cfg(test)]
#[path = "rule_context_tests.rs"]
mod tests;
