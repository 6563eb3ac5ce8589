//! Shows and checks the rules about calls.

use std::path::Path;

use serde_json::{Value, json};
use switchboard_host::config::{Config, ConfigError, Level, Policies, PolicyFile, read_policy};
use switchboard_host::policy::broken_example;

use crate::args_policy::{PolicyArguments, PolicyCommand};
use crate::commands::{policy_explain, policy_replay, policy_test};
use crate::context::Context;
use crate::error::CliError;
use crate::exit_code;
use crate::ui::table::table;

pub(crate) async fn policy(context: &Context, policy: PolicyArguments) -> Result<u8, CliError> {
    match policy.command.unwrap_or(PolicyCommand::Show) {
        PolicyCommand::Show => show(context),
        PolicyCommand::Check { file } => check(context, file.as_deref()),
        PolicyCommand::Test { cases, policy } => {
            policy_test::test(context, &cases, policy.as_deref())
        }
        PolicyCommand::Explain(wanted) => policy_explain::explain(context, wanted).await,
        PolicyCommand::WhatIf(wanted) => policy_replay::what_if(context, &wanted).await,
    }
}

/// The configuration with rules that can be used.
///
/// # Errors
/// When they cannot.
pub(crate) fn usable(context: &Context) -> Result<Config, CliError> {
    let config = context.silent_config();
    match config.policies.broken.clone().or_else(|| broken_example(&config.policies)) {
        Some(problem) => Err(problem.into()),
        None => Ok(config),
    }
}

fn show(context: &Context) -> Result<u8, CliError> {
    let config = usable(context)?;
    let lines: Vec<Line<'_>> = config.policies.files.iter().flat_map(lines).collect();
    if context.printer.json {
        let all: Vec<Value> = lines.iter().map(Line::as_json).collect();
        context.printer.json(&all)?;
        return Ok(exit_code::OK);
    }
    if lines.is_empty() {
        context.printer.say("there are no rules; what nobody allowed is asked");
        return Ok(exit_code::OK);
    }
    let rows: Vec<[String; 5]> = lines.iter().map(Line::row).collect();
    let heading = ["level", "effect", "target", "when", "place"];
    context.printer.data(&table(context.printer.reader(), heading, &rows))?;
    Ok(exit_code::OK)
}

/// One line of a policy, as people see it.
struct Line<'a> {
    file: &'a PolicyFile,
    effect: &'static str,
    target: String,
    when: String,
    name: Option<&'a str>,
    line: usize,
}

impl Line<'_> {
    fn place(&self) -> String {
        format!("{}:{}", self.file.file.display(), self.line)
    }

    fn row(&self) -> [String; 5] {
        let level = self.file.level.as_str().to_owned();
        [level, self.effect.to_owned(), self.target.clone(), self.when.clone(), self.place()]
    }

    fn as_json(&self) -> Value {
        json!({
            "level": self.file.level.as_str(),
            "effect": self.effect,
            "target": self.target,
            "when": (!self.when.is_empty()).then_some(&self.when),
            "name": self.name,
            "place": self.place(),
        })
    }
}

fn lines(file: &PolicyFile) -> Vec<Line<'_>> {
    let control = |effect, when: &str, line| Line {
        file,
        effect,
        target: "*".to_owned(),
        when: when.to_owned(),
        name: None,
        line,
    };
    let mut lines: Vec<Line<'_>> = Vec::new();
    lines.extend(file.switched_off.map(|line| control("deny", "", line)));
    lines.extend(file.read_only.map(|line| control("deny", "it may change something", line)));
    lines.extend(file.ask_always.map(|line| control("ask", "", line)));
    lines.extend(
        file.allowed_tools
            .as_ref()
            .map(|(tools, line)| control("deny", &format!("none of {}", tools.join(", ")), *line)),
    );
    lines.extend(file.servers.as_ref().map(|servers| {
        let when = match (servers.disable_all, &servers.allowed) {
            (true, _) => "every server".to_owned(),
            (false, Some(allowed)) => format!("server is none of {} allowed ones", allowed.len()),
            (false, None) => "no server".to_owned(),
        };
        control("bar", &when, servers.line)
    }));
    lines.extend(file.rules.iter().map(|rule| Line {
        file,
        effect: rule.effect.as_str(),
        target: match rule.kind {
            Some(kind) => format!("{kind} {}", rule.target),
            None => rule.target.clone(),
        },
        when: rule.when.as_ref().map(|when| when.text().to_owned()).unwrap_or_default(),
        name: rule.name.as_deref(),
        line: rule.line,
    }));
    lines
}

fn check(context: &Context, file: Option<&Path>) -> Result<u8, CliError> {
    let files = match file {
        Some(file) => vec![checked(&context.environment.current_dir.join(file), Level::User)?],
        None => usable(context)?.policies.files.clone(),
    };
    let rules: usize = files.iter().map(|file| file.rules.len()).sum();
    let examples: usize = files
        .iter()
        .flat_map(|file| &file.rules)
        .map(|rule| rule.covers.len() + rule.leaves.len())
        .sum();
    if context.printer.json {
        let names: Vec<_> = files.iter().map(|file| file.file.display().to_string()).collect();
        let counted = json!({"files": names, "rules": rules, "examples": examples});
        context.printer.json(&counted)?;
    } else {
        let count = files.len();
        context
            .printer
            .say(&format!("{count} files, {rules} rules, {examples} examples: all well"));
    }
    Ok(exit_code::OK)
}

/// A file as the rules of a level, with its examples checked.
pub(crate) fn checked(path: &Path, level: Level) -> Result<PolicyFile, ConfigError> {
    let file = read_policy(path, level)?;
    let alone = Policies { files: vec![file.clone()], broken: None };
    match broken_example(&alone) {
        Some(problem) => Err(problem),
        None => Ok(file),
    }
}

/// The policies with another file for its level.
pub(crate) fn with_file(policies: &Policies, file: PolicyFile) -> Policies {
    let others = policies.files.iter().filter(|other| other.level != file.level).cloned();
    let mut files: Vec<PolicyFile> = others.collect();
    files.push(file);
    files.sort_by_key(|file| file.level);
    Policies { files, broken: None }
}
