//! `switchboard models`: lists model profiles and checks that the models answer.

use clap::{Args, Subcommand};
use serde::Serialize;
use switchboard_chat::{profile_for, trouble_code};
use switchboard_config::{Config, ModelProfile};
use switchboard_terminal::{CliError, exit_code, spinner};

use crate::context::CommandContext;

#[derive(Debug, Args)]
pub(crate) struct ModelsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<ModelsCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelsCommand {
    /// List the profiles without checking them
    #[command(visible_alias = "ls")]
    List,
    /// Check that models respond and that keys and names are valid
    Check {
        /// Check only this profile or provider:model
        name: Option<String>,
    },
}

#[derive(Clone, Serialize)]
struct ModelRow {
    name: String,
    provider: &'static str,
    model: String,
    default: bool,
    /// Whether the model can be used; `None` if it was not checked.
    ok: Option<bool>,
    message: Option<String>,
    hint: Option<String>,
    #[serde(skip)]
    code: Option<u8>,
}

pub(crate) async fn run(context: &CommandContext, args: ModelsArgs) -> Result<u8, CliError> {
    // Checking is the default: a list alone does not show that a key has expired.
    let command = args.command.unwrap_or(ModelsCommand::Check { name: None });
    let config = context.config()?;
    let profiles: Vec<ModelProfile> = match &command {
        ModelsCommand::Check { name: Some(name) } => vec![profile_for(&config, Some(name))?],
        ModelsCommand::Check { name: None } | ModelsCommand::List => {
            config.models.values().cloned().collect()
        }
    };
    if profiles.is_empty() && !context.printer.json {
        context.printer.say("no model profile configured");
        context.printer.say("hint: configure one in `models`, or pass `--model provider:model`");
        return Ok(exit_code::OK);
    }
    let mut shown = Vec::new();
    for profile in &profiles {
        let mut row = row(&config, profile);
        if matches!(command, ModelsCommand::Check { .. }) {
            check(context, profile, &mut row).await?;
        }
        shown.push(row);
    }
    // Every profile is checked before the first failure decides the exit code.
    let code = shown.iter().find_map(|row| row.code).unwrap_or(exit_code::OK);
    print(context, &shown)?;
    Ok(code)
}

fn row(config: &Config, profile: &ModelProfile) -> ModelRow {
    ModelRow {
        name: profile.name.clone(),
        provider: profile.provider.as_str(),
        model: profile.model.clone(),
        default: config.settings.chat.model.as_deref() == Some(profile.name.as_str()),
        ok: None,
        message: None,
        hint: None,
        code: None,
    }
}

async fn check(
    context: &CommandContext,
    profile: &ModelProfile,
    row: &mut ModelRow,
) -> Result<(), CliError> {
    let bar = spinner(&context.printer, &format!("asking {}", profile.name));
    let checked = match switchboard_models::open(profile, &context.environment) {
        Err(error) => Some(Err(error)),
        Ok(model) => context.interrupts.token().run_until_cancelled(model.check()).await,
    };
    bar.finish_and_clear();
    match checked {
        None => return Err(CliError::new(exit_code::INTERRUPTED, "interrupted")),
        Some(Ok(message)) => (row.ok, row.message) = (Some(true), Some(message)),
        Some(Err(error)) => {
            row.ok = Some(false);
            row.code = Some(trouble_code(error.kind));
            row.message = Some(error.message);
            row.hint = error.hint;
        }
    }
    Ok(())
}

fn print(context: &CommandContext, shown: &[ModelRow]) -> Result<(), CliError> {
    let state = |row: &ModelRow| match (row.ok, &row.message) {
        (None, _) => String::new(),
        (Some(true), message) => message.clone().unwrap_or_else(|| "ok".to_owned()),
        (Some(false), message) => format!("error: {}", message.as_deref().unwrap_or("unknown")),
    };
    let name = |row: &ModelRow| {
        if row.default { format!("{} (default)", row.name) } else { row.name.clone() }
    };
    let heading = ["name", "provider", "model", "state"];
    context.printer.list(shown, ModelRow::clone, heading, |row| {
        [name(row), row.provider.to_owned(), row.model.clone(), state(row)]
    })?;
    for row in shown.iter().filter(|_| !context.printer.json) {
        if let Some(hint) = &row.hint {
            context.printer.say(&format!("hint: {}: {hint}", row.name));
        }
    }
    Ok(())
}
