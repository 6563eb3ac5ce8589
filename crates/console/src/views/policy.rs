//! The rules in effect, what they say to a call, and what changed ones would have said.

use schemars::JsonSchema;
use serde::Serialize;
use switchboard_core::Target;
use switchboard_host::policy::{Explanation, Verdict, VerdictChange};
use switchboard_rules::{PolicyFile, PolicyLevel};
use switchboard_store::FullCall;

use crate::console::Console;

/// The longest text of rules that is shown to be changed.
const MAX_RULES_BYTES: u64 = 1 << 20;

/// The rules in effect.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PolicyShown {
    /// Every level, the strongest first, also those without a file.
    pub(crate) levels: Vec<LevelShown>,
    /// Whether tools that were always allowed run without a question.
    pub(crate) auto_approve: bool,
    /// Whether what may change something is asked about after something foreign was read.
    pub(crate) taint: bool,
    /// Whether definitions are held against what was approved.
    pub(crate) pins: bool,
    /// Whether definitions are scanned.
    pub(crate) scan: bool,
}

/// What one level says.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LevelShown {
    /// Whose rules they are.
    pub(crate) level: &'static str,
    /// The file that has them.
    pub(crate) file: Option<String>,
    /// Its rules, in their order.
    pub(crate) rules: Vec<RuleShown>,
}

/// One line of a policy.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RuleShown {
    /// `allow`, `ask` or `deny`.
    pub(crate) effect: &'static str,
    /// What it is about.
    pub(crate) target: String,
    /// On which condition.
    pub(crate) when: Option<String>,
    /// What it is called.
    pub(crate) name: Option<String>,
    /// Its line in the file.
    pub(crate) line: usize,
}

/// What would be decided about a call.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ExplainedShown {
    /// What would be called.
    pub(crate) target: String,
    /// What would be decided: `allow`, `ask` or `deny`.
    pub(crate) verdict: &'static str,
    /// By which rule.
    pub(crate) by: String,
    /// Whether it is let through because it only reads.
    pub(crate) is_readonly: bool,
    /// What each level says.
    pub(crate) levels: Vec<RulingShown>,
    /// How much harm it could do, from 0 to 100.
    pub(crate) risk: u8,
    /// Why, the weightiest first.
    pub(crate) reasons: Vec<String>,
}

/// What one level says to a call.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RulingShown {
    /// Whose rule it is.
    pub(crate) level: &'static str,
    /// `allow`, `ask` or `deny`.
    pub(crate) effect: &'static str,
    /// The rule.
    pub(crate) rule: String,
    /// What it says of itself.
    pub(crate) why: Option<String>,
    /// The file that has it.
    pub(crate) file: String,
    /// Its line there.
    pub(crate) line: usize,
}

/// What changed rules would have decided otherwise.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct WhatIfShown {
    /// As many hours were looked back.
    pub(crate) hours: u32,
    /// How many calls were looked at.
    pub(crate) calls: usize,
    /// How many are looked at at most.
    pub(crate) most: u32,
    /// Calls about which the rules do not agree, the oldest first.
    pub(crate) differences: Vec<DifferenceShown>,
}

/// A call about which the rules do not agree.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DifferenceShown {
    /// Its number in the record.
    pub(crate) call: String,
    /// When it was asked for.
    pub(crate) created_at: String,
    /// What was called.
    pub(crate) target: String,
    /// Who called.
    pub(crate) caller: String,
    /// What the rules in effect say.
    pub(crate) today: &'static str,
    /// What the changed rules say.
    pub(crate) then: &'static str,
    /// By which of the changed rules.
    pub(crate) by: String,
}

/// The rules in effect.
pub(crate) fn policy(console: &Console) -> PolicyShown {
    let config = console.host.config().load();
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

/// The text of the user's own rules, to be changed and tried; empty if there is none.
pub(crate) fn own_rules(console: &Console) -> String {
    use std::io::Read as _;
    let file = console.places.level_files(PolicyLevel::User, "policy.json").pop();
    let open = file.and_then(|file| std::fs::File::open(file).ok());
    let mut text = String::new();
    let read = open.map(|file| file.take(MAX_RULES_BYTES).read_to_string(&mut text));
    if read.is_some_and(|read| read.is_ok()) { text } else { String::new() }
}

/// What would be decided about a call.
pub(crate) fn explanation(target: &Target, explained: &Explanation) -> ExplainedShown {
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

/// A call about which the rules do not agree.
pub(crate) fn difference(call: &FullCall, compared: &VerdictChange) -> DifferenceShown {
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
