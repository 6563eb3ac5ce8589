//! View models of the policy: rules in effect, explanations of verdicts, and replays of changed
//! rules.

use schemars::JsonSchema;
use serde::Serialize;
use switchboard_core::Target;
use switchboard_host::Host;
use switchboard_host::policy::{Explanation, Verdict, VerdictChange};
use switchboard_rules::{PolicyFile, PolicyLevel};
use switchboard_store::FullCall;

/// The rules in effect.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PolicyShown {
    /// Every level, the strongest first, also those without a file.
    pub levels: Vec<LevelShown>,
    /// Whether tools that were always allowed run without a question.
    pub auto_approve: bool,
    /// Whether what may change something is asked about after something foreign was read.
    pub taint: bool,
    /// Whether definitions are held against what was approved.
    pub pins: bool,
    /// Whether definitions are scanned.
    pub scan: bool,
}

/// What one level says.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LevelShown {
    /// Whose rules they are.
    pub level: &'static str,
    /// The file that has them.
    pub file: Option<String>,
    /// Its rules, in their order.
    pub rules: Vec<RuleShown>,
}

/// One line of a policy.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RuleShown {
    /// `allow`, `ask` or `deny`.
    pub effect: &'static str,
    /// What it is about.
    pub target: String,
    /// On which condition.
    pub when: Option<String>,
    /// What it is called.
    pub name: Option<String>,
    /// Its line in the file.
    pub line: usize,
}

/// What would be decided about a call.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ExplainedShown {
    /// What would be called.
    pub target: String,
    /// What would be decided: `allow`, `ask` or `deny`.
    pub verdict: &'static str,
    /// By which rule.
    pub by: String,
    /// Whether it is let through because it only reads.
    pub is_readonly: bool,
    /// What each level says.
    pub levels: Vec<RulingShown>,
    /// How much harm it could do, from 0 to 100.
    pub risk: u8,
    /// Why, the weightiest first.
    pub reasons: Vec<String>,
}

/// What one level says to a call.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RulingShown {
    /// Whose rule it is.
    pub level: &'static str,
    /// `allow`, `ask` or `deny`.
    pub effect: &'static str,
    /// The rule.
    pub rule: String,
    /// What it says of itself.
    pub why: Option<String>,
    /// The file that has it.
    pub file: String,
    /// Its line there.
    pub line: usize,
}

/// What changed rules would have decided otherwise.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WhatIfShown {
    /// As many hours were looked back.
    pub hours: u32,
    /// How many calls were looked at.
    pub calls: usize,
    /// How many are looked at at most.
    pub most: u32,
    /// Calls about which the rules do not agree, the oldest first.
    pub differences: Vec<DifferenceShown>,
}

/// A call about which the rules do not agree.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DifferenceShown {
    /// Its number in the record.
    pub call: String,
    /// When it was asked for.
    pub created_at: String,
    /// What was called.
    pub target: String,
    /// Who called.
    pub caller: String,
    /// What the rules in effect say.
    pub today: &'static str,
    /// What the changed rules say.
    pub then: &'static str,
    /// By which of the changed rules.
    pub by: String,
}

/// Returns the rules in effect, by level.
pub fn policy(host: &Host) -> PolicyShown {
    let config = host.config().load();
    let levels = PolicyLevel::ALL.into_iter().map(|level| {
        let file = config.policies.files.iter().find(|file| file.level == level);
        let lines = file.map(PolicyFile::lines).unwrap_or_default();
        LevelShown {
            level: level.as_str(),
            file: file.map(|file| file.file.display().to_string()),
            rules: lines
                .into_iter()
                .map(|line| RuleShown {
                    effect: line.effect,
                    target: line.target,
                    when: Some(line.when).filter(|when| !when.is_empty()),
                    name: line.name,
                    line: line.line,
                })
                .collect(),
        }
    });
    let settings = &config.settings;
    PolicyShown {
        levels: levels.collect(),
        auto_approve: settings.auto_approve,
        taint: settings.taint,
        pins: settings.pins,
        scan: settings.scan,
    }
}

/// Returns the explanation of the verdict on a call.
pub fn explanation(target: &Target, explained: &Explanation) -> ExplainedShown {
    let (effect, by) = explained.verdict.effect_and_reason();
    let levels = explained.rulings.iter().map(|ruling| RulingShown {
        level: ruling.by.level.as_str(),
        effect: ruling.effect.as_str(),
        rule: ruling.by.rule.clone(),
        why: ruling.by.why.clone(),
        file: ruling.by.file.display().to_string(),
        line: ruling.by.line,
    });
    ExplainedShown {
        target: target.to_string(),
        verdict: effect.as_str(),
        by: by.to_owned(),
        is_readonly: matches!(explained.verdict, Verdict::ReadOnly(_)),
        levels: levels.collect(),
        risk: explained.risk.score,
        reasons: explained.risk.reasons.clone(),
    }
}

/// Returns a recorded call on which the current and the changed rules disagree.
pub fn difference(call: &FullCall, compared: &VerdictChange) -> DifferenceShown {
    let summary = &call.summary;
    DifferenceShown {
        call: summary.id.to_string(),
        created_at: summary.created_at.to_string(),
        target: format!("{}/{}", summary.server, summary.target),
        caller: summary.caller.clone(),
        today: compared.today.as_str(),
        then: compared.then.as_str(),
        by: compared.by.clone(),
    }
}
