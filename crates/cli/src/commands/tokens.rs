//! `switchboard tokens`: creates, lists and revokes the tokens of clients of `serve`.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use switchboard_access::{KeyError, NamedToken, NewToken, TokenFile};
use switchboard_rules::Pattern;
use switchboard_terminal::{CliError, exit_code};

use crate::context::CommandContext;

#[derive(Debug, Args)]
pub(crate) struct TokensArgs {
    #[command(subcommand)]
    pub(crate) command: Option<TokensCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TokensCommand {
    /// Create a token, which is shown only once
    Add(AddTokenArgs),
    /// List tokens without their secrets
    #[command(visible_alias = "ls")]
    List,
    /// Revoke a token; a running `serve` notices within a second
    #[command(visible_alias = "rm")]
    Revoke {
        /// Name of the token
        name: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct AddTokenArgs {
    /// Name of the token's user, recorded as the caller
    pub(crate) name: String,
    /// Server that the caller can see, with everything it offers (can be repeated)
    #[arg(long, short, value_name = "SERVER")]
    pub(crate) server: Vec<String>,
    /// Tools that the caller can see, as SERVER/TOOL with `*` for any text (can be repeated)
    #[arg(long, short, value_name = "SERVER/TOOL", value_parser = parse_tool_pattern)]
    pub(crate) tool: Vec<String>,
    /// Lifetime such as 90s, 45m, 12h or 30d (default: unlimited)
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) expires: Option<Duration>,
}

fn parse_tool_pattern(text: &str) -> Result<String, String> {
    // Server names may contain slashes, so only check that neither part is empty.
    if text.contains('/') && !text.starts_with('/') && !text.ends_with('/') {
        let read = Pattern::parse(text).map(|_| text.to_owned());
        return read.map_err(|bad| format!("it {bad}; {}", bad.hint));
    }
    Err("write it as SERVER/TOOL, for example `files/read_*` or `*/search`".to_owned())
}

fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || "write it as 90s, 45m, 12h or 30d".to_owned();
    let unit = text.chars().last().ok_or_else(wrong)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 60 * 60,
        'd' => 24 * 60 * 60,
        _ => return Err(wrong()),
    };
    let number: u64 = text.strip_suffix(unit).unwrap_or_default().parse().map_err(|_| wrong())?;
    // Zero would create a token that is expired from the start.
    let seconds = number.checked_mul(seconds).filter(|seconds| *seconds > 0);
    seconds.map(Duration::from_secs).ok_or_else(wrong)
}

pub(crate) fn run(context: &CommandContext, args: TokensArgs) -> Result<u8, CliError> {
    let file = TokenFile::in_state_folder(&context.places.state);
    match args.command.unwrap_or(TokensCommand::List) {
        TokensCommand::Add(add) => make(context, &file, add)?,
        TokensCommand::List => list(context, &file)?,
        TokensCommand::Revoke { name } => {
            file.revoke(&name).map_err(key_error)?;
            context.printer.say(&format!("revoked `{name}`"));
        }
    }
    Ok(exit_code::OK)
}

fn make(context: &CommandContext, file: &TokenFile, add: AddTokenArgs) -> Result<(), CliError> {
    let config = context.config()?;
    for name in &add.server {
        // A misspelt server would make a token that sees nothing, without any error at the client.
        context.server_id(&config, name)?;
    }
    let servers = add.server.iter().map(|name| Pattern::server_text(name));
    let sees = servers.chain(add.tool).collect();
    let new = NewToken { name: add.name, sees, lifetime: add.expires };
    let (token, text) = file.add(&new).map_err(key_error)?;
    if context.printer.json {
        let mut shown = as_row(&new.name, &token);
        if let Some(members) = shown.as_object_mut() {
            members.insert("token".to_owned(), text.into());
        }
        return context.printer.json(&shown);
    }
    context.printer.data(&text)?;
    context.printer.say("this token is shown only once; clients send it as a bearer token");
    Ok(())
}

fn list(context: &CommandContext, file: &TokenFile) -> Result<(), CliError> {
    let tokens = file.read().map_err(key_error)?;
    if context.printer.json {
        let rows: Vec<Value> = tokens.iter().map(|(name, token)| as_row(name, token)).collect();
        return context.printer.json(&rows);
    }
    if tokens.is_empty() {
        context.printer.say("no tokens yet; `switchboard tokens add NAME` creates one");
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
    context.printer.table(["name", "sees", "created", "expires"], &rows)
}

fn as_row(name: &str, token: &NamedToken) -> Value {
    json!({
        "name": name,
        "sees": token.sees,
        "createdAt": token.created_at,
        "expiresAt": token.expires_at,
        "expired": token.is_expired(),
    })
}

fn span(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    }
}

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

#[cfg(test)]
mod tests {
    use super::duration;

    #[test]
    fn durations_have_a_unit() {
        for (text, expected) in [
            ("90s", Some(90)),
            ("45m", Some(2_700)),
            ("12h", Some(43_200)),
            ("30d", Some(2_592_000)),
            ("0s", None),
            ("", None),
            ("5", None),
            ("d", None),
            ("-1d", None),
            ("1dd", None),
            ("99999999999999999999d", None),
        ] {
            let seconds = duration(text).ok().map(|duration| duration.as_secs());
            assert_eq!(seconds, expected, "{text}");
        }
    }
}
