//! Shows and checks the rules about calls.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use switchboard_config::{Config, read_policy};
use switchboard_document::ConfigError;
use switchboard_host::policy::{OfferedNames, check_examples, unused_rules};
use switchboard_rules::{Policies, PolicyFile, PolicyLevel, PolicyLine};
use switchboard_terminal::{CliError, exit_code, table};
use switchboard_trust::offered_names;

use crate::commands::policy::explain::ExplainArgs;
use crate::commands::policy::replay::WhatIfArgs;
use crate::commands::policy::{explain, replay, test};
use crate::context::CommandContext;

#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 well, 1 a case of `test` is not as expected or `what-if` finds a difference, \
2 usage, 3 the rules cannot be read."
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
    /// Check the rules and their examples, of all levels or of a file
    Check {
        /// Only this file
        file: Option<PathBuf>,
    },
    /// Try cases out: calls, and what is expected to be said to them
    Test {
        /// The file with the cases
        cases: PathBuf,
        /// With this file in place of the user's rules
        #[arg(long, value_name = "FILE")]
        policy: Option<PathBuf>,
    },
    /// Say what would be decided about a call, and by which rule; nothing is called
    Explain(ExplainArgs),
    /// Say what a changed policy would have decided otherwise about recorded calls
    WhatIf(WhatIfArgs),
}

pub(crate) async fn run(context: &CommandContext, policy: PolicyArgs) -> Result<u8, CliError> {
    match policy.command.unwrap_or(PolicyCommand::Show) {
        PolicyCommand::Show => show(context),
        PolicyCommand::Check { file } => check(context, file.as_deref()),
        PolicyCommand::Test { cases, policy } => test::test(context, &cases, policy.as_deref()),
        PolicyCommand::Explain(wanted) => explain::explain(context, wanted).await,
        PolicyCommand::WhatIf(wanted) => replay::what_if(context, &wanted).await,
    }
}

/// The configuration with rules that can be used.
///
/// # Errors
/// When they cannot.
pub(crate) fn usable(context: &CommandContext) -> Result<Config, CliError> {
    let config = context.silent_config();
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
    if context.printer.json {
        let all: Vec<Value> = lines.iter().map(PolicyRow::as_json).collect();
        context.printer.json(&all)?;
        return Ok(exit_code::OK);
    }
    if lines.is_empty() {
        context.printer.say("there are no rules; what nobody allowed is asked");
        return Ok(exit_code::OK);
    }
    let rows: Vec<[String; 5]> = lines.iter().map(PolicyRow::row).collect();
    let heading = ["level", "effect", "target", "when", "place"];
    context.printer.data(&table(context.printer.reader(), heading, &rows))?;
    Ok(exit_code::OK)
}

/// One line of a policy, and where it is.
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
        let count = files.len();
        let how = match warnings.len() {
            0 => "all well".to_owned(),
            1 => "1 warning".to_owned(),
            many => format!("{many} warnings"),
        };
        context.printer.say(&format!("{count} files, {rules} rules, {examples} examples: {how}"));
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

/// A file as the rules of a level, with its examples checked.
pub(crate) fn check_file(path: &Path, level: PolicyLevel) -> Result<PolicyFile, ConfigError> {
    let file = read_policy(path, level)?;
    let alone = Policies { files: vec![file.clone()], broken: None };
    match check_examples(&alone) {
        Some(problem) => Err(problem),
        None => Ok(file),
    }
}
