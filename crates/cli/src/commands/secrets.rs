//! `switchboard secrets`: stores, lists and removes secrets that entries refer to.

use std::io::{IsTerminal as _, Read as _};

use clap::{Args, Subcommand};
use switchboard_config::Config;
use switchboard_oauth::{Secret, SecretName, SecretStore, secret_scope};
use switchboard_terminal::{CliError, ask_secret_line, exit_code};
use switchboard_text::escape_line;

use crate::context::CommandContext;

#[derive(Debug, Args)]
pub(crate) struct SecretsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<SecretsCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SecretsCommand {
    /// List the names of secrets and whose they are, never their values
    #[command(visible_alias = "ls")]
    List,
    /// Keep a secret for a server, read from standard input or typed unseen
    Set(SecretArgs),
    /// Forget a secret
    #[command(visible_alias = "rm")]
    Remove(SecretArgs),
}

#[derive(Debug, Args)]
pub(crate) struct SecretArgs {
    /// Its name, as in `${keyring:NAME}`
    pub(crate) name: String,
    /// The only server that gets it
    #[arg(long, short, value_name = "NAME")]
    pub(crate) server: String,
}

/// Maximum length of a secret, in bytes.
const MAX_SECRET_BYTES: u64 = 64 * 1_024;

/// Runs `switchboard secrets`.
pub(crate) async fn run(context: &CommandContext, args: SecretsArgs) -> Result<u8, CliError> {
    let config = context.config()?;
    let secrets = SecretStore::new(&context.places.state, &context.environment, &config.settings);
    match args.command.unwrap_or(SecretsCommand::List) {
        SecretsCommand::List => {
            let names = secrets.names().await?;
            let row = |one: &SecretName| [one.name.clone(), one.server.clone()];
            context.printer.list(&names, Clone::clone, ["secret", "server"], row)?;
        }
        SecretsCommand::Set(of) => {
            let which = which(context, &config, &of)?;
            let value = read().await?;
            secrets.set(&which, value).await?;
            let name = escape_line(&of.name);
            let server = escape_line(&of.server);
            context.printer.say(&format!("kept `{name}` for `{server}`"));
        }
        SecretsCommand::Remove(of) => {
            let which = which(context, &config, &of)?;
            let word = if secrets.remove(&which).await? { "forgotten" } else { "not there" };
            context.printer.say(&format!("`{}` is {word}", escape_line(&of.name)));
        }
    }
    Ok(exit_code::OK)
}

fn which(
    context: &CommandContext,
    config: &Config,
    of: &SecretArgs,
) -> Result<SecretName, CliError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if of.name.is_empty() || !of.name.chars().all(plain) {
        return Err(CliError::usage("a secret's name has letters, digits and `_`"));
    }
    let id = context.server_id(config, &of.server)?;
    let server = config.servers.get(&id).map_or_else(|| of.server.clone(), secret_scope);
    Ok(SecretName { server, name: of.name.clone() })
}

/// Reads the secret from standard input; a terminal does not echo it.
async fn read() -> Result<Secret, CliError> {
    let text = if std::io::stdin().is_terminal() {
        ask_secret_line("Secret: ").await?
    } else {
        let mut text = String::new();
        std::io::stdin().take(MAX_SECRET_BYTES + 1).read_to_string(&mut text)?;
        text
    };
    let value = text.trim_end_matches(['\r', '\n']);
    if value.is_empty() || value.contains('\0') || value.len() as u64 > MAX_SECRET_BYTES {
        return Err(CliError::usage("a secret has 1 to 65536 characters and no NUL"));
    }
    Ok(Secret::new(value))
}
