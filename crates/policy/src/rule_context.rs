//! All that decides about a call: the levels' rules, and what the configuration says in short.

use switchboard_config::{ServerConfig, Settings};
use switchboard_core::{Origin, TargetKind};
use switchboard_rules::{Pattern, RuleEffect};

use crate::facts::PolicyFacts;
use crate::policy::{Policy, Ruling};

/// Why everything is asked while the global switch is off.
const AUTO_APPROVE_OFF: &str = "`settings.autoApprove` is off";
const COUNTS_WHEN_ON: &str = "what is always allowed counts once it is on";
pub(crate) const ASKED_EACH_TIME: &str = "this is asked each time";

/// The rules that are in force.
#[derive(Clone, Copy, Debug, Default)]
pub struct RuleContext<'a> {
    /// The global switch: without it nothing of the configuration is allowed unasked.
    pub auto_approve: bool,
    /// What the person at the face allowed for this run.
    pub allow: &'a [Pattern],
    /// Whether a person has answered "always" for this tool since the host started: it is in the
    /// file by now, and will be in the configuration soon.
    pub always: bool,
    /// The rules of all levels.
    pub policy: Option<&'a Policy>,
    /// Whether what may change something is asked about after something was read from a server that
    /// is not trusted.
    pub taint: bool,
    /// What the scanner found in the definition, if a person should know it before the call.
    pub flagged: Option<&'a str>,
}

/// What the rules say to a call, and which of them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Verdict {
    Allow(String),
    Ask(ReviewReason),
    /// It may not run.
    Deny(String),
    /// It may not run, because only what changes nothing may.
    ReadOnly(String),
}

impl Verdict {
    /// The verdict in one word, and what says so.
    #[must_use]
    pub fn effect_and_reason(&self) -> (RuleEffect, &str) {
        match self {
            Self::Allow(by) => (RuleEffect::Allow, by),
            Self::Ask(doubt) => (RuleEffect::Ask, &doubt.why),
            Self::Deny(by) | Self::ReadOnly(by) => (RuleEffect::Deny, by),
        }
    }
}

/// Why a person is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewReason {
    pub why: String,
    /// Why it will be asked again all the same, whatever a person says for the future.
    pub repeat_reason: Option<&'static str>,
}

/// What lets a call run, as far as it is one.
struct Allowance {
    by: String,
    /// Whether somebody said so with what was read before in mind.
    in_spite_of_taint: bool,
}

impl<'a> RuleContext<'a> {
    /// The rules of a configuration, and of the person at the face.
    #[must_use]
    pub const fn from_settings(settings: &Settings, allow: &'a [Pattern]) -> Self {
        let auto_approve = settings.auto_approve;
        let taint = settings.taint;
        Self { auto_approve, allow, always: false, policy: None, taint, flagged: None }
    }

    /// What they say to a call of a server with this configuration.
    pub fn verdict(self, facts: &PolicyFacts<'_>, server: Option<&ServerConfig>) -> Verdict {
        let Some(server) = server else {
            return Verdict::Deny("the server's configuration cannot be read".to_owned());
        };
        if let Some(why) = &server.barred {
            return Verdict::Deny(why.clone());
        }
        if server.disabled {
            return Verdict::Deny(format!("server `{}` is disabled", server.id));
        }
        self.verdict_or_default(facts, |rules| rules.default_verdict(facts, server))
    }

    /// What they say to a call of a server that is not configured.
    pub fn verdict_without_server(self, facts: &PolicyFacts<'_>) -> Verdict {
        let unknown = || format!("there is no server `{}`", facts.target.server);
        self.verdict_or_default(facts, |_| Err(unknown()))
    }

    /// What the levels say, and `sugar` where they say nothing.
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
                // Who wrote the rule did not know what was found in the definition.
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
                    // What a person said for the session was said before this was read.
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

    /// What the configuration says in short: what allows a call, or why a person is asked.
    fn default_verdict(
        self,
        facts: &PolicyFacts<'_>,
        server: &ServerConfig,
    ) -> Result<Allowance, String> {
        let target = facts.target;
        if let Some(pattern) = self.allowed_for_run(facts) {
            let by = format!("`{}` for this run", pattern.as_str());
            // A person said so for this run, whatever is read in it.
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
            // Reading follows the global switch alone.
            TargetKind::Resource | TargetKind::Prompt => "`settings.autoApprove`".to_owned(),
        };
        Ok(Allowance { by, in_spite_of_taint: false })
    }

    /// What the person at the face allowed for this run that covers the call.
    fn allowed_for_run(self, facts: &PolicyFacts<'_>) -> Option<&'a Pattern> {
        let target = facts.target;
        self.allow.iter().find(|pattern| pattern.covers(&target.server, &target.name))
    }

    /// Why what was read before makes this call one for a person.
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
