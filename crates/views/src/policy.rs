//! View models of the policy: rules in effect, explained verdicts and replays of changed rules.

use schemars::JsonSchema;
use serde::Serialize;
use switchboard_core::Target;
use switchboard_host::Host;
use switchboard_host::policy::{Explanation, Verdict, VerdictChange};
use switchboard_rules::{PolicyFile, PolicyLevel};
use switchboard_store::FullCall;

/// The policy rules in effect.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PolicyShown {
    /// All levels, strongest first, including those without a file.
    pub levels: Vec<LevelShown>,
    /// Whether `autoApprove` entries take effect.
    pub auto_approve: bool,
    /// Whether calls with side effects need approval after untrusted data was read.
    pub taint: bool,
    /// Whether definitions are compared with the approved ones.
    pub pins: bool,
    /// Whether definitions are scanned for attacks.
    pub scan: bool,
}

/// The rules of one level.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LevelShown {
    /// Level, such as `user` or `project`.
    pub level: &'static str,
    /// Policy file of the level, if there is one.
    pub file: Option<String>,
    /// Rules in the order of the file.
    pub rules: Vec<RuleShown>,
}

/// One rule of a policy file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RuleShown {
    /// Effect: `allow`, `ask` or `deny`.
    pub effect: &'static str,
    /// Target pattern of the rule.
    pub target: String,
    /// Condition of the rule, if it has one.
    pub when: Option<String>,
    /// Name of the rule, if it has one.
    pub name: Option<String>,
    /// Line number in the file.
    pub line: usize,
}

/// The verdict on a call, with the rules behind it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ExplainedShown {
    /// Target of the call, as `server/name`.
    pub target: String,
    /// Verdict: `allow`, `ask` or `deny`.
    pub verdict: &'static str,
    /// Rule or setting behind the verdict.
    pub by: String,
    /// Whether the call is denied because a rule allows only read-only tools.
    pub is_readonly: bool,
    /// Deciding rule of each level.
    pub levels: Vec<RulingShown>,
    /// Risk of the call, from 0 to 100.
    pub risk: u8,
    /// Reasons for the risk, weightiest first.
    pub reasons: Vec<String>,
}

/// The rule of one level that applies to a call.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RulingShown {
    /// Level that has the rule.
    pub level: &'static str,
    /// Effect: `allow`, `ask` or `deny`.
    pub effect: &'static str,
    /// Text of the rule.
    pub rule: String,
    /// Reason that the rule gives.
    pub why: Option<String>,
    /// File that contains the rule.
    pub file: String,
    /// Line number in the file.
    pub line: usize,
}

/// Recorded calls replayed with changed rules.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WhatIfShown {
    /// Number of hours that were replayed.
    pub hours: u32,
    /// Number of calls that were replayed.
    pub calls: usize,
    /// Maximum number of calls to replay.
    pub most: u32,
    /// Calls with a different verdict, oldest first.
    pub differences: Vec<DifferenceShown>,
}

/// A recorded call with a different verdict under the changed rules.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DifferenceShown {
    /// Id of the call in the record.
    pub call: String,
    /// Time at which the call was proposed.
    pub created_at: String,
    /// Target of the call, as `server/name`.
    pub target: String,
    /// Caller of the call, as `kind:name`.
    pub caller: String,
    /// Verdict of the rules in effect.
    pub today: &'static str,
    /// Verdict of the changed rules.
    pub then: &'static str,
    /// Changed rule behind the new verdict.
    pub by: String,
}

/// Returns the rules in effect, by level.
pub fn policy(host: &Host) -> PolicyShown {
    let config = host.config().load();
    // Levels without a file are listed too, so that a person sees where rules could go.
    let levels = PolicyLevel::ALL.into_iter().map(|level| {
        let file = config.policies.files.iter().find(|file| file.level == level);
        let lines = file.map(PolicyFile::lines).unwrap_or_default();
        let rules = lines.into_iter().map(|line| RuleShown {
            effect: line.effect,
            target: line.target,
            when: Some(line.when).filter(|when| !when.is_empty()),
            name: line.name,
            line: line.line,
        });
        let file = file.map(|file| file.file.display().to_string());
        LevelShown { level: level.as_str(), file, rules: rules.collect() }
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
