//! Tries cases out on the rules: calls, and what is expected to be said to them.

use std::path::Path;

use serde_json::{Value, json};
use switchboard_config::read_policy_cases;
use switchboard_host::policy::{ExampleCall, Policy, RuleContext};
use switchboard_rules::{PolicyCase, PolicyLevel};
use switchboard_terminal::{CliError, exit_code};

use crate::commands::policy::{check_file, usable};
use crate::context::CommandContext;

/// What came of a case.
struct CaseResult<'a> {
    case: &'a PolicyCase,
    got: &'static str,
    by: String,
    is_well: bool,
}

/// Tries all cases of a file; gives 1 if one is not as expected.
pub(crate) fn test(
    context: &CommandContext,
    cases: &Path,
    instead: Option<&Path>,
) -> Result<u8, CliError> {
    let here = &context.environment.current_dir;
    let config = usable(context)?;
    let policies = match instead {
        Some(file) => config.policies.with_file(check_file(&here.join(file), PolicyLevel::User)?),
        None => (*config.policies).clone(),
    };
    let cases = read_policy_cases(&here.join(cases))?;
    let policy = Policy::new(&policies);
    let tried: Vec<CaseResult<'_>> = cases
        .iter()
        .map(|case| {
            let imagined = ExampleCall::new(&case.call);
            let facts = imagined.facts(&case.call);
            let rules = RuleContext {
                policy: Some(&policy),
                ..RuleContext::from_settings(&config.settings, &[])
            };
            let server = config.servers.get(facts.target.server.as_str());
            // A server that is not configured says nothing by itself.
            let verdict = match server {
                Some(server) => rules.verdict(&facts, Some(server)),
                None => rules.verdict_without_server(&facts),
            };
            let (effect, by) = verdict.effect_and_reason();
            let named = case.rule.as_ref().is_none_or(|rule| by.starts_with(&format!("`{rule}` ")));
            let is_well = effect == case.expect && named;
            CaseResult { case, got: effect.as_str(), by: by.to_owned(), is_well }
        })
        .collect();
    let wrong = tried.iter().filter(|tried| !tried.is_well).count();
    if context.printer.json {
        let all: Vec<Value> = tried.iter().map(as_json).collect();
        context.printer.json(&all)?;
    } else {
        for tried in tried.iter().filter(|tried| !tried.is_well) {
            context.printer.warn(&sentence(tried), None);
        }
        let count = tried.len();
        context.printer.say(&format!("{count} cases, {wrong} not as expected"));
    }
    Ok(if wrong == 0 { exit_code::OK } else { exit_code::TOOL_ERROR })
}

fn as_json(tried: &CaseResult<'_>) -> Value {
    json!({
        "name": tried.case.name,
        "target": tried.case.call.target,
        "line": tried.case.call.line,
        "expected": tried.case.expect.as_str(),
        "got": tried.got,
        "by": tried.by,
        "well": tried.is_well,
    })
}

fn sentence(tried: &CaseResult<'_>) -> String {
    let PolicyCase { call, expect, name, .. } = tried.case;
    let name = name.as_deref().unwrap_or(&call.target);
    let line = call.line;
    let got = tried.got;
    let by = &tried.by;
    format!("case `{name}` (line {line}): expected {}, got {got} by {by}", expect.as_str())
}
