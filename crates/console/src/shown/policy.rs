//! The rules in effect, what they say to a call, and what changed ones would have said.

use serde::Serialize;
use switchboard_host::Target;
use switchboard_host::config::{Level, PolicyFile};
use switchboard_host::policy::{Compared, Explained, Verdict};
use switchboard_host::record::Full;

use crate::console::Console;

/// The longest text of rules that is shown to be changed.
const LONGEST: u64 = 1 << 20;

/// The rules in effect.
#[derive(Debug, Serialize)]
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
#[derive(Debug, Serialize)]
pub(crate) struct LevelShown {
    pub(crate) level: &'static str,
    pub(crate) file: Option<String>,
    pub(crate) rules: Vec<RuleShown>,
}

/// One line of a policy.
#[derive(Debug, Serialize)]
pub(crate) struct RuleShown {
    pub(crate) effect: &'static str,
    pub(crate) target: String,
    pub(crate) when: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) line: usize,
}

/// What would be decided about a call.
#[derive(Debug, Serialize)]
pub(crate) struct ExplainedShown {
    pub(crate) target: String,
    pub(crate) verdict: &'static str,
    pub(crate) by: String,
    pub(crate) is_readonly: bool,
    pub(crate) levels: Vec<RulingShown>,
    pub(crate) risk: u8,
    pub(crate) reasons: Vec<String>,
}

/// What one level says to a call.
#[derive(Debug, Serialize)]
pub(crate) struct RulingShown {
    pub(crate) level: &'static str,
    pub(crate) effect: &'static str,
    pub(crate) rule: String,
    pub(crate) why: Option<String>,
    pub(crate) file: String,
    pub(crate) line: usize,
}

/// What changed rules would have decided otherwise.
#[derive(Debug, Serialize)]
pub(crate) struct WhatIfShown {
    pub(crate) hours: u32,
    /// How many calls were looked at.
    pub(crate) calls: usize,
    /// How many are looked at at most.
    pub(crate) most: u32,
    pub(crate) differences: Vec<DifferenceShown>,
}

/// A call about which the rules do not agree.
#[derive(Debug, Serialize)]
pub(crate) struct DifferenceShown {
    pub(crate) call: String,
    pub(crate) created_at: String,
    pub(crate) target: String,
    pub(crate) caller: String,
    pub(crate) today: &'static str,
    pub(crate) then: &'static str,
    pub(crate) by: String,
}

/// The rules in effect.
pub(crate) fn policy(console: &Console) -> PolicyShown {
    let config = console.host.config().load();
    let levels = Level::ALL.into_iter().map(|level| {
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
    let file = console.places.file_of(Level::User, "policy.json");
    let open = file.and_then(|file| std::fs::File::open(file).ok());
    let mut text = String::new();
    let read = open.map(|file| file.take(LONGEST).read_to_string(&mut text));
    if read.is_some_and(|read| read.is_ok()) { text } else { String::new() }
}

/// What would be decided about a call.
pub(crate) fn explained(target: &Target, explained: &Explained) -> ExplainedShown {
    let (effect, by) = explained.verdict.told();
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
pub(crate) fn difference(call: &Full, compared: &Compared) -> DifferenceShown {
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
