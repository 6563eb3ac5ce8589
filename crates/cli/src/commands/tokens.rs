//! Makes, lists and takes back the tokens that clients of `serve` present.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use switchboard_gateway::keys::{KeyError, NewToken, Token, TokenFile};
use switchboard_host::policy::Pattern;
use switchboard_terminal::{CliError, exit_code, table};

use crate::args_tokens::{AddToken, TokensCommand};
use crate::context::Context;

/// Does what is wanted with tokens.
pub(crate) fn tokens(context: &Context, command: TokensCommand) -> Result<u8, CliError> {
    let file = TokenFile::in_state(&context.places.state);
    match command {
        TokensCommand::Add(add) => make(context, &file, add)?,
        TokensCommand::List => list(context, &file)?,
        TokensCommand::Revoke { name } => {
            file.revoke(&name).map_err(key_error)?;
            context.printer.say(&format!("revoked `{name}`"));
        }
    }
    Ok(exit_code::OK)
}

fn make(context: &Context, file: &TokenFile, add: AddToken) -> Result<(), CliError> {
    let config = context.config()?;
    for name in &add.server {
        context.known(&config, name)?;
    }
    let servers = add.server.iter().map(|name| Pattern::text_of_server(name));
    let sees = servers.chain(add.tool).collect();
    let new = NewToken { name: add.name, sees, lasts: add.expires };
    let (token, text) = file.add(&new).map_err(key_error)?;
    if context.printer.json {
        let mut shown = as_row(&new.name, &token);
        if let Some(members) = shown.as_object_mut() {
            members.insert("token".to_owned(), text.into());
        }
        return context.printer.json(&shown);
    }
    context.printer.data(&text)?;
    let how =
        "it is shown this once: clients send it as a bearer token, in the header `Authorization`";
    context.printer.say(how);
    Ok(())
}

fn list(context: &Context, file: &TokenFile) -> Result<(), CliError> {
    let tokens = file.read().map_err(key_error)?;
    if context.printer.json {
        let rows: Vec<Value> = tokens.iter().map(|(name, token)| as_row(name, token)).collect();
        return context.printer.json(&rows);
    }
    if tokens.is_empty() {
        context.printer.say("there is no token yet: `switchboard tokens add NAME` makes one");
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let rows: Vec<[String; 4]> = tokens
        .iter()
        .map(|(name, token)| {
            let sees = if token.sees.is_empty() { "*".to_owned() } else { token.sees.join(" ") };
            let made = now.saturating_sub(Duration::from_secs(token.created_at));
            let expires = match token.expires_at {
                None => "never".to_owned(),
                Some(_) if token.is_expired() => "expired".to_owned(),
                Some(at) => {
                    format!("in {}", span(Duration::from_secs(at).saturating_sub(now)))
                }
            };
            [name.clone(), sees, format!("{} ago", span(made)), expires]
        })
        .collect();
    let heading = ["name", "sees", "made", "expires"];
    context.printer.data(&table(context.printer.reader(), heading, &rows))
}

fn as_row(name: &str, token: &Token) -> Value {
    json!({
        "name": name,
        "sees": token.sees,
        "createdAt": token.created_at,
        "expiresAt": token.expires_at,
        "expired": token.is_expired(),
    })
}

/// A length of time in its largest unit.
fn span(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    }
}

/// Converts an error of tokens and identity providers for the terminal.
pub(crate) fn key_error(error: KeyError) -> CliError {
    let code = match &error {
        KeyError::BadName(_)
        | KeyError::Exists(_)
        | KeyError::Unknown(_)
        | KeyError::Address(_)
        | KeyError::BadScope(_) => exit_code::USAGE,
        KeyError::File { .. }
        | KeyError::Damaged { .. }
        | KeyError::NoRandomness
        | KeyError::NoClient(_) => exit_code::TROUBLE,
    };
    let hint = error.hint().map(str::to_owned);
    CliError { message: error.to_string(), hint, code }
}
