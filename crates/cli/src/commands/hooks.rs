//! `switchboard hooks`: lists and tests hooks; approves and revokes those of a project.

use std::fmt::Write as _;
use std::time::Duration;

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use switchboard_config::Config;
use switchboard_core::{Target, TargetKind};
use switchboard_host::{
    Hook, HookEvent, HookFile, HookFileState, HookInput, HookOutcome, HookRules, HookRunner,
    HookSet, HookSource, ServerLocation,
};
use switchboard_rules::PolicyLevel;
use switchboard_terminal::{CliError, arguments_from_json, exit_code, pluralize};
use switchboard_text::escape_line;
use switchboard_trust::Approvals;

use crate::context::CommandContext;

#[derive(Debug, Args)]
pub(crate) struct HooksArgs {
    #[command(subcommand)]
    pub(crate) command: Option<HooksCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum HooksCommand {
    /// List hook files and their hooks
    #[command(visible_alias = "ls")]
    List,
    /// Run every hook with an example call and show its answer; no tool is called
    Test(TestHooksArgs),
    /// Approve the project's hooks in their current form
    Approve,
    /// Revoke the approval of the project's hooks
    Revoke,
}

pub(crate) async fn run(context: &CommandContext, args: HooksArgs) -> Result<u8, CliError> {
    let config = context.config()?;
    let set = read(context, &config);
    match args.command.unwrap_or(HooksCommand::List) {
        HooksCommand::List => list(context, &set),
        HooksCommand::Test(wanted) => test_hooks(context, &config, &set, wanted).await,
        HooksCommand::Approve => approve(context, &set),
        HooksCommand::Revoke => revoke(context, &set),
    }
}

pub(crate) fn read(context: &CommandContext, config: &Config) -> HookSet {
    HookSource::new(&context.places, config).read()
}

fn list(context: &CommandContext, set: &HookSet) -> Result<u8, CliError> {
    if context.printer.json {
        context.printer.json(&set.files.iter().map(as_json).collect::<Vec<_>>())?;
        return Ok(exit_code::OK);
    }
    let there = set.files.iter().filter(|file| file.state != HookFileState::Absent);
    let rows: Vec<[String; 7]> = there.clone().flat_map(rows).collect();
    context
        .printer
        .table(["level", "state", "event", "hook", "matcher", "limit", "if it fails"], &rows)?;
    if rows.is_empty() {
        context.printer.say("no hooks configured");
    }
    for file in there {
        context.printer.say(&escape_line(&file_line(file)));
        for note in &file.notes {
            context.printer.say(&escape_line(&format!("  {note}")));
        }
    }
    Ok(exit_code::OK)
}

fn rows(file: &HookFile) -> Vec<[String; 7]> {
    let row = |hook: &Hook| {
        [
            file.level.as_str().to_owned(),
            state(file).to_owned(),
            hook.event.as_str().to_owned(),
            hook.name.clone(),
            hook.pattern().unwrap_or("*").to_owned(),
            format!("{} s", hook.limit.as_secs_f64()),
            if hook.fail_closed { "deny" } else { "allow" }.to_owned(),
        ]
    };
    file.hooks.iter().map(|hook| row(hook)).collect()
}

pub(crate) fn state(file: &HookFile) -> &'static str {
    match &file.state {
        HookFileState::Absent => "absent",
        HookFileState::InForce => "in force",
        HookFileState::NotApproved => "not approved",
        HookFileState::Broken(_) => "broken",
    }
}

pub(crate) fn file_line(file: &HookFile) -> String {
    let path = file.path.display();
    match &file.state {
        HookFileState::Absent => format!("{path} (missing)"),
        HookFileState::InForce => format!("{path} ({})", pluralize(file.hooks.len(), "hook")),
        HookFileState::NotApproved => {
            format!(
                "{path} (not approved and not run: review it, then `switchboard hooks approve`)"
            )
        }
        HookFileState::Broken(error) => format!("{path} (all calls are blocked: {error})"),
    }
}

pub(crate) fn as_json(file: &HookFile) -> Value {
    let problem = match &file.state {
        HookFileState::Broken(error) => Some(error.to_string()),
        HookFileState::Absent | HookFileState::InForce | HookFileState::NotApproved => None,
    };
    let hooks = file.hooks.iter().map(|hook| {
        json!({
            "event": hook.event.as_str(),
            "hook": hook.name,
            "matcher": hook.pattern(),
            "timeout": hook.limit.as_secs_f64(),
            "failClosed": hook.fail_closed,
        })
    });
    json!({
        "level": file.level.as_str(),
        "file": file.path,
        "state": state(file),
        "version": file.rules.map(HookRules::as_str),
        "problem": problem,
        "notes": file.notes,
        "hooks": hooks.collect::<Vec<_>>(),
    })
}

/// Returns the lines for `doctor`: files, their state, and hooks that do not fail closed.
pub(crate) fn diagnosis(set: &HookSet) -> String {
    let mut text = String::new();
    for file in set.files.iter().filter(|file| file.state != HookFileState::Absent) {
        // Writing to a `String` cannot fail.
        _ = writeln!(text, "hooks   {}", escape_line(&file_line(file)));
        if let HookFileState::Broken(error) = &file.state
            && let Some(hint) = error.hint()
        {
            _ = writeln!(text, "        hint: {}", escape_line(&hint));
        }
        // Such a hook protects nothing: a call that makes it fail gets through.
        for hook in file.hooks.iter().filter(|hook| !hook.fail_closed) {
            let line = format!("`{}` has `failClosed: false`: calls run if it fails", hook.name);
            _ = writeln!(text, "        {}", escape_line(&line));
        }
        for note in &file.notes {
            _ = writeln!(text, "        {}", escape_line(note));
        }
    }
    text
}

fn approve(context: &CommandContext, set: &HookSet) -> Result<u8, CliError> {
    let mut approvals = Approvals::load(&context.places.state);
    let mut count = 0_usize;
    for file in project_files(set) {
        let Some(digest) = &file.digest else {
            if file.state == HookFileState::Absent {
                continue;
            }
            let why =
                file.notes.first().map_or("it has changed since it was approved", String::as_str);
            let message = format!("`{}` cannot be approved: {why}", file.path.display());
            return Err(CliError::new(exit_code::CONFIG, message)
                .with_hint("fix the file, or run `switchboard hooks revoke` to disable it"));
        };
        // The digest was computed when the file was read, so a change made since is not approved.
        approvals.approve_hooks(&file.path, digest)?;
        count += 1;
        context.printer.say(&escape_line(&format!("approved {}", file.path.display())));
        for hook in &file.hooks {
            let line = format!("  {}: {}", hook.event.as_str(), hook.name);
            context.printer.say(&escape_line(&line));
        }
        for script in &file.scripts {
            // The approval covers the scripts that the commands name, so list them too.
            context.printer.say(&escape_line(&format!("  script: {}", script.display())));
        }
    }
    if count == 0 {
        return Err(CliError::usage("this project has no hooks")
            .with_hint("project hooks are in `.switchboard/hooks.json` or `.cursor/hooks.json`"));
    }
    approvals.save()?;
    Ok(exit_code::OK)
}

fn revoke(context: &CommandContext, set: &HookSet) -> Result<u8, CliError> {
    let mut approvals = Approvals::load(&context.places.state);
    for file in project_files(set) {
        approvals.revoke_hooks(&file.path)?;
    }
    approvals.save()?;
    context.printer.say("the project's hooks are disabled until you approve them");
    Ok(exit_code::OK)
}

fn project_files(set: &HookSet) -> impl Iterator<Item = &HookFile> {
    set.files.iter().filter(|file| file.level == PolicyLevel::Project)
}

#[derive(Debug, Args)]
pub(crate) struct TestHooksArgs {
    /// Server of the example call
    #[arg(default_value = "example")]
    pub(crate) server: String,
    /// Tool of the example call
    #[arg(default_value = "example")]
    pub(crate) tool: String,
    /// Arguments as one JSON object
    #[arg(long, value_name = "JSON", default_value = "{}")]
    pub(crate) json_args: String,
}

const RESULT: &str = r#"{"content":[{"type":"text","text":"an example"}]}"#;

struct HookReply {
    level: &'static str,
    event: &'static str,
    hook: String,
    answer: String,
    words: Option<String>,
    rewritten: Option<String>,
    took: Duration,
}

async fn test_hooks(
    context: &CommandContext,
    config: &Config,
    set: &HookSet,
    wanted: TestHooksArgs,
) -> Result<u8, CliError> {
    let arguments = arguments_from_json(&wanted.json_args)?;
    let server = config.servers.values().find(|server| server.id.as_str() == wanted.server);
    // As in a real call without configured roots, so that a hook sees the paths it would get.
    let roots = match config.settings.roots.as_slice() {
        [] => vec![context.environment.current_dir.clone()],
        roots => roots.to_vec(),
    };
    let occasion = HookInput {
        conversation: "example".to_owned(),
        call: "example".to_owned(),
        model: "example".to_owned(),
        roots,
        target: Target::new(TargetKind::Tool, &wanted.server, &wanted.tool),
        arguments: arguments.as_str().to_owned(),
        location: ServerLocation::from_config(server),
    };
    let runner = HookRunner::new(
        &context.environment,
        context.places.project_folder.as_ref(),
        context.keeper(),
    );
    let mut said = Vec::new();
    for file in &set.files {
        for hook in &file.hooks {
            said.push(match file.state {
                HookFileState::InForce => ask(&runner, hook, &occasion).await,
                HookFileState::Absent | HookFileState::NotApproved => {
                    not_asked(hook, "not asked: it is not approved")
                }
                HookFileState::Broken(_) => {
                    not_asked(hook, "not asked: it has changed since it was approved")
                }
            });
        }
    }
    show_replies(context, &said)?;
    if let Some(error) = set.first_error() {
        let broken = CliError::new(exit_code::CONFIG, error.to_string());
        return Err(match error.hint() {
            Some(hint) => broken.with_hint(hint),
            None => broken,
        });
    }
    Ok(exit_code::OK)
}

async fn ask(runner: &HookRunner, hook: &Hook, occasion: &HookInput) -> HookReply {
    if !hook.matches(&occasion.target.server, &occasion.target.name) {
        return not_asked(hook, "not asked: its matcher does not match");
    }
    let plain = not_asked(hook, "");
    match hook.event {
        HookEvent::Before => {
            let ran = runner.ask(hook, occasion).await;
            match ran.outcome {
                HookOutcome::Answered(answer) => HookReply {
                    answer: answer.permission.as_str().to_owned(),
                    words: answer.user_message.or(answer.agent_message),
                    rewritten: answer.updated_input.map(|input| input.as_str().to_owned()),
                    took: ran.took,
                    ..plain
                },
                HookOutcome::Failed(failure) => HookReply {
                    answer: "error".to_owned(),
                    words: Some(failure.message),
                    took: ran.took,
                    ..plain
                },
            }
        }
        HookEvent::After => {
            let (failure, took) = runner.notify(hook, occasion, RESULT, Duration::ZERO).await;
            let answer = if failure.is_some() { "error" } else { "told" }.to_owned();
            HookReply { answer, words: failure.map(|failure| failure.message), took, ..plain }
        }
    }
}

fn not_asked(hook: &Hook, why: &str) -> HookReply {
    HookReply {
        level: hook.level.as_str(),
        event: hook.event.as_str(),
        hook: hook.name.clone(),
        answer: why.to_owned(),
        words: None,
        rewritten: None,
        took: Duration::ZERO,
    }
}

fn show_replies(context: &CommandContext, said: &[HookReply]) -> Result<(), CliError> {
    let milliseconds = |said: &HookReply| u64::try_from(said.took.as_millis()).unwrap_or(u64::MAX);
    let json = |said: &HookReply| {
        json!({
            "level": said.level,
            "event": said.event,
            "hook": said.hook,
            "answer": said.answer,
            "message": said.words,
            "updated_input": said.rewritten.as_deref().map(parse_json),
            "milliseconds": milliseconds(said),
        })
    };
    let row = |said: &HookReply| {
        let words = [said.words.clone(), said.rewritten.clone()];
        [
            said.level.to_owned(),
            said.event.to_owned(),
            said.hook.clone(),
            said.answer.clone(),
            milliseconds(said).to_string(),
            words.into_iter().flatten().collect::<Vec<_>>().join("; "),
        ]
    };
    let heading = ["level", "event", "hook", "says", "ms", "message"];
    context.printer.list(said, json, heading, row)?;
    if said.is_empty() && !context.printer.json {
        context.printer.say("no hooks configured");
    }
    Ok(())
}

fn parse_json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| json!(text))
}
