//! Puts a made-up call to every hook and shows what each says.

use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};
use switchboard_config::Config;
use switchboard_core::{Target, TargetKind};
use switchboard_host::{
    Hook, HookEvent, HookFileState, HookInput, HookOutcome, HookRunner, HookSet, ServerLocation,
};
use switchboard_terminal::{CliError, arguments_from_json, exit_code, table};

use crate::context::CommandContext;

#[derive(Debug, Args)]
pub(crate) struct TestHooksArgs {
    /// The server of the made-up call
    #[arg(default_value = "example")]
    pub(crate) server: String,
    /// Its tool
    #[arg(default_value = "example")]
    pub(crate) tool: String,
    /// All arguments as one JSON object
    #[arg(long, value_name = "JSON", default_value = "{}")]
    pub(crate) json_args: String,
}

/// The result that hooks are told of.
const RESULT: &str = r#"{"content":[{"type":"text","text":"an example"}]}"#;

/// What one hook said.
struct HookReply {
    level: &'static str,
    event: &'static str,
    hook: String,
    answer: String,
    words: Option<String>,
    rewritten: Option<String>,
    took: Duration,
}

/// Asks every hook; none of them changes what happens to another.
pub(crate) async fn test(
    context: &CommandContext,
    config: &Config,
    set: &HookSet,
    wanted: TestHooksArgs,
) -> Result<u8, CliError> {
    let arguments = arguments_from_json(&wanted.json_args)?;
    let server = config.servers.values().find(|server| server.id.as_str() == wanted.server);
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
                    not_asked(hook, "not asked: it has not been approved")
                }
                HookFileState::Broken(_) => {
                    not_asked(hook, "not asked: it is not what was approved")
                }
            });
        }
    }
    show(context, &said)?;
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
        return not_asked(hook, "not asked: its matcher does not fit");
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

fn show(context: &CommandContext, said: &[HookReply]) -> Result<(), CliError> {
    let milliseconds = |said: &HookReply| u64::try_from(said.took.as_millis()).unwrap_or(u64::MAX);
    if context.printer.json {
        let all = said.iter().map(|said| {
            json!({
                "level": said.level,
                "event": said.event,
                "hook": said.hook,
                "answer": said.answer,
                "message": said.words,
                "updated_input": said.rewritten.as_deref().map(parse_json),
                "milliseconds": milliseconds(said),
            })
        });
        return context.printer.json(&all.collect::<Vec<_>>());
    }
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
    let rows: Vec<[String; 6]> = said.iter().map(row).collect();
    let heading = ["level", "event", "hook", "says", "ms", "message"];
    context.printer.data(&table(context.printer.reader(), heading, &rows))?;
    if rows.is_empty() {
        context.printer.say("there are no hooks");
    }
    Ok(())
}

fn parse_json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| json!(text))
}
