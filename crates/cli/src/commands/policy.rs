//! `switchboard policy`: shows, checks, tests and explains the rules about calls.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};
use switchboard_catalog::ResolvedCall;
use switchboard_config::{Config, read_policy, read_policy_cases};
use switchboard_core::{Caller, Face, Origin, ProposedCall, ServerId, Target, TargetKind};
use switchboard_document::ConfigError;
use switchboard_host::policy::{
    ExampleCall, Explanation, OfferedNames, PastCall, Policy, RuleContext, SessionFacts,
    check_examples, unused_rules,
};
use switchboard_host::{ledger_file, past_call};
use switchboard_rules::{Policies, PolicyCase, PolicyFile, PolicyLevel, PolicyLine};
use switchboard_store::{Filter, FullCall, LedgerReader};
use switchboard_terminal::{CliError, arguments_from_json, exit_code, pluralize};
use switchboard_text::escape_line;
use switchboard_trust::{PinnedAnnotations, offered_names};
use switchboard_views::{DifferenceShown, difference, explanation};

use crate::context::CommandContext;

#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 success, 1 a case of `test` failed or `what-if` found a difference, \
2 usage error, 3 invalid rules"
)]
pub(crate) struct PolicyArgs {
    #[command(subcommand)]
    pub(crate) command: Option<PolicyCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Show the rules in effect, level by level
    #[command(visible_alias = "ls")]
    Show,
    /// Check rules and their examples, at all levels or in one file
    Check {
        /// Check only this file
        file: Option<PathBuf>,
    },
    /// Test the rules with cases: calls and their expected verdicts
    Test {
        /// File with the test cases
        cases: PathBuf,
        /// File to use instead of the user's rules
        #[arg(long, value_name = "FILE")]
        policy: Option<PathBuf>,
    },
    /// Show the verdict on a call and the rule behind it, without running it
    Explain(ExplainArgs),
    /// Show which recorded calls a changed policy would decide differently
    WhatIf(WhatIfArgs),
}

pub(crate) async fn run(context: &CommandContext, policy: PolicyArgs) -> Result<u8, CliError> {
    match policy.command.unwrap_or(PolicyCommand::Show) {
        PolicyCommand::Show => show(context),
        PolicyCommand::Check { file } => check(context, file.as_deref()),
        PolicyCommand::Test { cases, policy } => test_cases(context, &cases, policy.as_deref()),
        PolicyCommand::Explain(wanted) => explain(context, wanted).await,
        PolicyCommand::WhatIf(wanted) => what_if(context, &wanted).await,
    }
}

pub(crate) fn usable(context: &CommandContext) -> Result<Config, CliError> {
    let config = context.silent_config();
    // A rule whose example does not hold does not do what its author believes, so it is an error.
    match config.policies.broken.clone().or_else(|| check_examples(&config.policies)) {
        Some(problem) => Err(problem.into()),
        None => Ok(config),
    }
}

fn show(context: &CommandContext) -> Result<u8, CliError> {
    let config = usable(context)?;
    let of_file = |file: &PolicyFile| {
        let lines = file.lines().into_iter();
        lines.map(|line| PolicyRow::new(file, line)).collect::<Vec<_>>()
    };
    let lines: Vec<PolicyRow> = config.policies.files.iter().flat_map(of_file).collect();
    if lines.is_empty() && !context.printer.json {
        context.printer.say("no rules configured; calls that nothing allows need approval");
        return Ok(exit_code::OK);
    }
    let heading = ["level", "effect", "target", "when", "place"];
    let shown = context.printer.list(&lines, PolicyRow::as_json, heading, PolicyRow::row);
    shown.map(|()| exit_code::OK)
}

struct PolicyRow {
    level: PolicyLevel,
    place: String,
    says: PolicyLine,
}

impl PolicyRow {
    fn new(file: &PolicyFile, says: PolicyLine) -> Self {
        let place = format!("{}:{}", file.file.display(), says.line);
        Self { level: file.level, place, says }
    }

    fn row(&self) -> [String; 5] {
        let PolicyLine { effect, target, when, .. } = &self.says;
        [self.level.as_str(), effect, target, when, &self.place].map(str::to_owned)
    }

    fn as_json(&self) -> Value {
        let PolicyLine { effect, target, when, name, .. } = &self.says;
        json!({
            "level": self.level.as_str(),
            "effect": effect,
            "target": target,
            "when": (!when.is_empty()).then_some(when),
            "name": name,
            "place": self.place,
        })
    }
}

fn check(context: &CommandContext, file: Option<&Path>) -> Result<u8, CliError> {
    let files = match file {
        Some(file) => {
            vec![check_file(&context.environment.current_dir.join(file), PolicyLevel::User)?]
        }
        None => usable(context)?.policies.files.clone(),
    };
    let config = context.silent_config();
    let names = offered_names(&context.places.state, &context.lock_folder(), &config);
    let offered = OfferedNames(names);
    let warnings = unused_rules(&files, &offered);
    let rules: usize = files.iter().map(|file| file.rules.len()).sum();
    let examples: usize = files
        .iter()
        .flat_map(|file| &file.rules)
        .map(|rule| rule.covers.len() + rule.leaves.len())
        .sum();
    if context.printer.json {
        let names: Vec<_> = files.iter().map(|file| file.file.display().to_string()).collect();
        let warnings: Vec<Value> = warnings.iter().map(warning).collect();
        let counted =
            json!({"files": names, "rules": rules, "examples": examples, "warnings": warnings});
        context.printer.json(&counted)?;
    } else {
        for one in &warnings {
            context.printer.warn(&one.to_string(), one.hint.as_deref());
        }
        let how = match warnings.len() {
            0 => "no warnings".to_owned(),
            some => pluralize(some, "warning"),
        };
        let files = pluralize(files.len(), "file");
        let rules = pluralize(rules, "rule");
        let examples = pluralize(examples, "example");
        context.printer.say(&format!("{files}, {rules}, {examples}: {how}"));
    }
    Ok(exit_code::OK)
}

fn warning(warning: &ConfigError) -> Value {
    json!({
        "message": warning.message,
        "hint": warning.hint,
        "file": warning.file.display().to_string(),
        "line": warning.line,
    })
}

pub(crate) fn check_file(path: &Path, level: PolicyLevel) -> Result<PolicyFile, ConfigError> {
    let file = read_policy(path, level)?;
    let alone = Policies { files: vec![file.clone()], broken: None };
    match check_examples(&alone) {
        Some(problem) => Err(problem),
        None => Ok(file),
    }
}

struct CaseResult<'a> {
    case: &'a PolicyCase,
    got: &'static str,
    by: String,
    is_well: bool,
}

fn test_cases(
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
            // A server that is not configured has no settings that affect the verdict.
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
        let all: Vec<Value> = tried.iter().map(case_json).collect();
        context.printer.json(&all)?;
    } else {
        for tried in tried.iter().filter(|tried| !tried.is_well) {
            context.printer.warn(&sentence(tried), None);
        }
        let count = tried.len();
        context.printer.say(&format!("{count} cases, {wrong} failed"));
    }
    Ok(if wrong == 0 { exit_code::OK } else { exit_code::TOOL_ERROR })
}

fn case_json(tried: &CaseResult<'_>) -> Value {
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

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// Target as server/tool, or server/URI with `--kind resource`
    pub(crate) target: String,
    /// Arguments as a JSON object
    #[arg(long, value_name = "JSON", default_value = "{}")]
    pub(crate) args: String,
    /// Kind of the target
    #[arg(long, value_enum, default_value_t = KindChoice::Tool)]
    pub(crate) kind: KindChoice,
    /// Origin of the call
    #[arg(long, value_enum, default_value_t = CallerChoice::Model)]
    pub(crate) caller: CallerChoice,
    /// Assume that content of this server, or of server/tool, was read before (can be repeated)
    #[arg(long, value_name = "SERVER")]
    pub(crate) after: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KindChoice {
    /// The target is a tool
    Tool,
    /// The target is a resource
    Resource,
    /// The target is a prompt
    Prompt,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CallerChoice {
    /// A person makes the call
    Person,
    /// A model proposes the call
    Model,
    /// A client of the gateway makes the call
    Client,
}

pub(crate) async fn explain(context: &CommandContext, wanted: ExplainArgs) -> Result<u8, CliError> {
    let config = usable(context)?;
    let target = parse_target(&config, &wanted)?;
    let arguments = arguments_from_json(&wanted.args)?;
    let id = context.server_id(&config, &target.server)?;
    let host = context.start(Some(vec![id.clone()]))?;
    context.wait_ready(&host, Some(&[id])).await?;
    let resolved = host.lease().resolve(ProposedCall { target, arguments });
    host.stop().await;
    let call = resolved.map_err(|error| {
        let code =
            if error.word() == "not_allowed" { exit_code::NOT_ALLOWED } else { exit_code::USAGE };
        let refused = CliError::new(code, error.to_string());
        match error.hint() {
            Some(hint) => refused.with_hint(hint),
            None => refused,
        }
    })?;
    let mut session = SessionFacts::default();
    for text in &wanted.after {
        session.assume_untrusted_read(text, |server| config.servers.contains_key(server));
    }
    let explained = Explanation::new(&config, &call, &caller(wanted.caller), &session);
    if context.printer.json {
        let mut value = json!(explanation(call.target(), &explained));
        if let Some(members) = value.as_object_mut() {
            members.remove("reasons");
            members.insert("risk".to_owned(), json!(explained.risk));
        }
        context.printer.json(&value)?;
    } else {
        context.printer.data(&decision_text(&call, &explained))?;
    }
    Ok(exit_code::OK)
}

fn decision_text(call: &ResolvedCall, explained: &Explanation) -> String {
    let (effect, by) = explained.verdict.effect_and_reason();
    let line = |text: &str| escape_line(text).into_owned();
    let mut text = String::new();
    // Writing to a `String` cannot fail.
    _ = writeln!(text, "{}: {}", line(&call.target().to_string()), effect.as_str());
    _ = writeln!(text, "  by    {}", line(by));
    for ruling in &explained.rulings {
        let said = ruling.effect.as_str();
        _ = writeln!(text, "  {said:<5} {}", line(&ruling.by.to_string()));
    }
    _ = writeln!(text, "  risk  {} of 100", explained.risk.score);
    for reason in &explained.risk.reasons {
        _ = writeln!(text, "        {}", line(reason));
    }
    text
}

fn parse_target(config: &Config, wanted: &ExplainArgs) -> Result<Target, CliError> {
    let text = &wanted.target;
    let known = config.servers.keys().map(ServerId::as_str);
    // Server names may contain slashes, so match against the configured ones.
    let server = known
        .filter(|id| text.strip_prefix(*id).is_some_and(|rest| rest.starts_with('/')))
        .max_by_key(|id| id.len());
    let split = match server {
        Some(server) => {
            text.strip_prefix(server).map(|rest| (server, rest.trim_start_matches('/')))
        }
        None => text.split_once('/'),
    };
    let (server, name) = split.ok_or_else(|| {
        CliError::usage(format!("`{text}` is not a target")).with_hint("write it as server/tool")
    })?;
    let kind = match wanted.kind {
        KindChoice::Tool => TargetKind::Tool,
        KindChoice::Resource => TargetKind::Resource,
        KindChoice::Prompt => TargetKind::Prompt,
    };
    Ok(Target::new(kind, server, name))
}

fn caller(choice: CallerChoice) -> Caller {
    let (face, origin, name) = match choice {
        CallerChoice::Person => return Caller::person(),
        CallerChoice::Model => (Face::Chat, Origin::Model, "model"),
        CallerChoice::Client => (Face::Gateway, Origin::Client, "client"),
    };
    Caller { face, origin, name: name.to_owned(), reference: None }
}

#[derive(Debug, Args)]
pub(crate) struct WhatIfArgs {
    /// File with the changed rules
    pub(crate) file: PathBuf,
    /// Level whose rules the file replaces
    #[arg(long, value_enum, default_value_t = LevelChoice::User)]
    pub(crate) level: LevelChoice,
    /// Consider only calls of this period: 90m, 12h, 7d
    #[arg(long, value_name = "TIME", value_parser = ago)]
    pub(crate) since: Option<Duration>,
    /// Maximum number of calls, newest first
    #[arg(long, short = 'n', default_value_t = 1_000)]
    pub(crate) limit: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LevelChoice {
    /// Rules of the organization
    Enterprise,
    /// Rules of the team
    Team,
    /// Rules of the project
    Project,
    /// Rules of the user
    User,
}

fn ago(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is not a duration: write it as 90m, 12h or 7d");
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    let unit = match text.strip_prefix(digits) {
        Some("s") => 1,
        Some("m") => 60,
        Some("h") => 3_600,
        Some("d") => 86_400,
        _ => return Err(wrong()),
    };
    Ok(Duration::from_secs(number.saturating_mul(unit)))
}

pub(crate) async fn what_if(context: &CommandContext, wanted: &WhatIfArgs) -> Result<u8, CliError> {
    let config = usable(context)?;
    let level = match wanted.level {
        LevelChoice::Enterprise => PolicyLevel::Enterprise,
        LevelChoice::Team => PolicyLevel::Team,
        LevelChoice::Project => PolicyLevel::Project,
        LevelChoice::User => PolicyLevel::User,
    };
    let file = check_file(&context.environment.current_dir.join(&wanted.file), level)?;
    let changed = config.policies.with_file(file);
    let calls = recorded_calls(context, wanted).await?;
    let count = calls.len();
    let annotations = PinnedAnnotations::load(&context.places.state, &config);
    let past: Vec<PastCall> = calls.iter().map(|call| past_call(call, &annotations)).collect();
    let compared = switchboard_host::policy::what_if(&config, &changed, &past);
    let pairs = calls.iter().zip(compared);
    let different = pairs.filter_map(|(call, compared)| Some((call, compared?)));
    let differences: Vec<(&FullCall, DifferenceShown)> =
        different.map(|(call, compared)| (call, difference(call, &compared))).collect();
    show_differences(context, count, &differences)
}

async fn recorded_calls(
    context: &CommandContext,
    wanted: &WhatIfArgs,
) -> Result<Vec<FullCall>, CliError> {
    let path = ledger_file(&context.places.state);
    // A home without a record is not an error: there is nothing to compare yet.
    if !path.exists() {
        return Ok(Vec::new());
    }
    let filter = Filter { limit: wanted.limit, ..Filter::default() };
    let filter = match wanted.since {
        Some(age) => filter.within(age),
        None => filter,
    };
    let mut calls = LedgerReader::at(&path).list_full(filter).await?;
    // Taint builds up over a session, so the calls have to be replayed in their order.
    calls.reverse();
    Ok(calls)
}

fn show_differences(
    context: &CommandContext,
    count: usize,
    differences: &[(&FullCall, DifferenceShown)],
) -> Result<u8, CliError> {
    if context.printer.json {
        let as_json = |(call, shown): &(&FullCall, DifferenceShown)| {
            let mut value = json!(shown);
            if let Some(members) = value.as_object_mut() {
                members.remove("created_at");
                let recorded = call.summary.verdict.as_ref().map(|(verdict, _)| verdict.as_str());
                members.insert("recorded".to_owned(), json!(recorded));
            }
            value
        };
        let all: Vec<Value> = differences.iter().map(as_json).collect();
        context.printer.json(&json!({"calls": count, "differences": all}))?;
    } else {
        let row = |(_, shown): &(&FullCall, DifferenceShown)| {
            [&*shown.call, &shown.target, shown.today, shown.then, &shown.by].map(str::to_owned)
        };
        let rows: Vec<[String; 5]> = differences.iter().map(row).collect();
        if !rows.is_empty() {
            context.printer.table(["call", "target", "today", "then", "by"], &rows)?;
        }
        let calls = pluralize(count, "call");
        context.printer.say(&format!("{calls}, {} decided differently", rows.len()));
    }
    Ok(if differences.is_empty() { exit_code::OK } else { exit_code::TOOL_ERROR })
}
