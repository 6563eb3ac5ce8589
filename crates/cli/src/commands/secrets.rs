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
    /// List secrets and their servers, never their values
    #[command(visible_alias = "ls")]
    List,
    /// Store a secret for a server, typed or from standard input
    Set(SecretArgs),
    /// Delete a secret of a server
    #[command(visible_alias = "rm")]
    Remove(SecretArgs),
}

#[derive(Debug, Args)]
pub(crate) struct SecretArgs {
    /// Name of the secret, as in `${keyring:NAME}`
    pub(crate) name: String,
    /// Only server that can use the secret
    #[arg(long, short, value_name = "NAME")]
    pub(crate) server: String,
}

/// Maximum length of a secret, in bytes.
const MAX_SECRET_BYTES: u64 = 64 * 1_024;

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
            context.printer.say(&format!("stored `{name}` for `{server}`"));
        }
        SecretsCommand::Remove(of) => {
            let which = which(context, &config, &of)?;
            let word = if secrets.remove(&which).await? { "deleted" } else { "not stored" };
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
    // The same characters as in `${keyring:NAME}`; any other name could never be referenced.
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if of.name.is_empty() || !of.name.chars().all(plain) {
        return Err(CliError::usage(
            "the name of a secret can contain only letters, digits and `_`",
        ));
    }
    let id = context.server_id(config, &of.server)?;
    // A project's server has a scope of its own: reusing a name must not give it the user's secrets.
    let server = config.servers.get(&id).map_or_else(|| of.server.clone(), secret_scope);
    Ok(SecretName { server, name: of.name.clone() })
}

async fn read() -> Result<Secret, CliError> {
    let text = if std::io::stdin().is_terminal() {
        ask_secret_line("Secret: ").await?
    } else {
        let mut text = String::new();
        std::io::stdin().take(MAX_SECRET_BYTES + 1).read_to_string(&mut text)?;
        text
    };
    // `echo` and most editors add a line break that is not part of the secret.
    let value = text.trim_end_matches(['\r', '\n']);
    if value.is_empty() || value.contains('\0') || value.len() as u64 > MAX_SECRET_BYTES {
        return Err(CliError::usage("a secret must have 1 to 65536 bytes and no NUL"));
    }
    Ok(Secret::new(value))
}
