//! Edits the configuration: adds, removes, enables, disables and approves servers.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};
use switchboard_config::{ConfigLayer, Replace, ServerConfig, Transport};
use switchboard_terminal::{CliError, exit_code};
use switchboard_text::{escape_line, redact_text};
use switchboard_trust::{Approvals, PinKind, Pins, pending_definitions};

use crate::commands::consent::{PriorConsent, launch_text};
use crate::commands::servers::show::changes;
use crate::commands::{consent, first_use};
use crate::context::CommandContext;

#[derive(Debug, Args)]
pub(crate) struct AddServerArgs {
    /// Name for the new server
    pub(crate) name: String,
    /// URL of the server, or command to start it
    #[arg(required = true, trailing_var_arg = true, value_name = "URL | COMMAND")]
    pub(crate) target: Vec<String>,
    /// Environment variable for the command
    #[arg(long, short, value_name = "NAME=VALUE")]
    pub(crate) env: Vec<String>,
    /// HTTP header for the URL, as "Name: value"
    #[arg(long, short = 'H', value_name = "NAME: VALUE")]
    pub(crate) header: Vec<String>,
    /// Transport of the server (default: detected)
    #[arg(long, short, value_enum)]
    pub(crate) transport: Option<TransportName>,
    /// Working folder of the command
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Maximum seconds that a call may take
    #[arg(long, value_name = "SECONDS")]
    pub(crate) timeout: Option<u64>,
    /// Replace an existing server of that name
    #[arg(long)]
    pub(crate) force: bool,
    /// Approve dangerous findings without asking
    #[arg(long, short)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) place: Place,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum TransportName {
    /// Standard input and output of a command
    Stdio,
    /// Streamable HTTP, the current transport
    Http,
    /// HTTP with SSE, the older transport
    Sse,
}

#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Place {
    /// Configuration file to change
    #[arg(long, short, value_enum, default_value_t = Scope::User)]
    pub(crate) scope: Scope,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scope {
    /// The user's configuration file
    User,
    /// The project's file, `switchboard.json`
    Project,
}

pub(crate) async fn add(context: &CommandContext, add: &AddServerArgs) -> Result<u8, CliError> {
    let file = scope_file(context, add.place.scope)?;
    let replace = if add.force { Replace::Allow } else { Replace::Refuse };
    let mut entry = entry(add)?;
    let findings =
        switchboard_config::entry_findings(&file, &add.name, &Value::Object(entry.clone()))?;
    if !findings.is_empty() {
        let words: Vec<String> =
            add.target.iter().map(|word| escape_line(&redact_text(word)).into_owned()).collect();
        context.printer.say(&format!("`{}` runs: {}", escape_line(&add.name), words.join(" ")));
        consent::tell(context, &findings);
        consent::agree(&add.name, &findings, PriorConsent::from(add.yes)).await?;
        let agreed = findings.iter().filter(|finding| finding.is_danger());
        let agreed: Vec<&str> = agreed.map(|finding| finding.word.as_str()).collect();
        if let (Scope::User, false) = (add.place.scope, agreed.is_empty()) {
            entry.insert("dangerous".to_owned(), json!(agreed));
        }
    }
    let entry = Value::Object(entry);
    let _claim = if add.yes { None } else { first_use::claim(context, &add.name)? };
    switchboard_config::add_server(&file, &add.name, &entry, replace).map_err(|error| {
        let exists = error.message.contains("already");
        let error = CliError::from(error);
        if exists { error.with_hint("`--force` replaces it") } else { error }
    })?;
    if add.place.scope == Scope::Project {
        // The user wrote the entry, so it needs no separate approval.
        approve_now(context, &add.name)?;
    }
    context.printer.say(&format!("added `{}` to {}", escape_line(&add.name), file.display()));
    let hint = format!("hint: `switchboard doctor {}` checks it", escape_line(&add.name));
    context.printer.say(&hint);
    if !add.yes {
        first_use::preview_server(context, &add.name).await?;
    }
    Ok(exit_code::OK)
}

pub(crate) fn remove(context: &CommandContext, name: &str, scope: Scope) -> Result<u8, CliError> {
    let config = context.config()?;
    let file = match config.servers.get(name) {
        Some(server) if !server.source.file.as_os_str().is_empty() => server.source.file.clone(),
        _ => scope_file(context, scope)?,
    };
    // A broken entry can be removed too, so try before checking that the name is known.
    if let Err(error) = switchboard_config::remove_server(&file, name) {
        // For an unknown name, report similar ones.
        context.server_id(&config, name)?;
        return Err(error.into());
    }
    context.printer.say(&format!("removed `{}` from {}", escape_line(name), file.display()));
    Ok(exit_code::OK)
}

pub(crate) fn enable(context: &CommandContext, name: &str) -> Result<u8, CliError> {
    switchboard_config::enable_server(&source_file(context, name)?, name)?;
    context.printer.say(&format!("enabled `{}`", escape_line(name)));
    Ok(exit_code::OK)
}

pub(crate) fn disable(context: &CommandContext, name: &str) -> Result<u8, CliError> {
    switchboard_config::disable_server(&source_file(context, name)?, name)?;
    context.printer.say(&format!("disabled `{}`", escape_line(name)));
    Ok(exit_code::OK)
}

pub(crate) async fn approve(
    context: &CommandContext,
    name: &str,
    consent: PriorConsent,
) -> Result<u8, CliError> {
    let config = context.config()?;
    let id = context.server_id(&config, name)?;
    let Some(server) = config.servers.get(&id) else {
        return Err(unreadable(name));
    };
    if server.source.layer != ConfigLayer::Project && server.approved {
        let name = escape_line(name);
        context
            .printer
            .say(&format!("`{name}` is not from the project's file: no approval needed"));
        return Ok(exit_code::OK);
    }
    let launch = launch_text(Some(server));
    let verb = if matches!(server.transport, Transport::Http { .. }) { "is at" } else { "runs" };
    context.printer.say(&format!("`{}` {verb}: {}", escape_line(name), escape_line(&launch)));
    // The approval covers the whole entry, so show all of it.
    let is_told = |line: &&String| ["command", "args", "url"].iter().any(|it| line.starts_with(it));
    for line in server.lines().iter().filter(|line| !is_told(line)) {
        context.printer.say(&format!("  {}", escape_line(line)));
    }
    for line in changes(context, server) {
        context.printer.say(&format!("  {line}"));
    }
    report_offers(context, server);
    consent::tell(context, &server.findings);
    consent::agree(name, &server.findings, consent).await?;
    let _claim =
        if consent == PriorConsent::Wanted { first_use::claim(context, name)? } else { None };
    approve_now(context, name)?;
    context.printer.say("approved; any change to its entry needs a new approval");
    // `--yes` is for scripts, which cannot answer questions about the server's tools either.
    if consent == PriorConsent::Wanted {
        first_use::preview_server(context, name).await?;
    }
    Ok(exit_code::OK)
}

fn report_offers(context: &CommandContext, server: &ServerConfig) {
    let Ok(pins) = Pins::load(&context.places.state, &server.identity()) else { return };
    let tools = pins.approved.get(&PinKind::Tool);
    let names: Vec<&str> =
        tools.into_iter().flat_map(|tools| tools.keys().map(String::as_str)).collect();
    if names.is_empty() && first_use::is_asked_about(context) {
        context.printer.say("not started yet: you will be asked about its tools at first use");
    } else if names.is_empty() {
        context.printer.say("not started yet: its first definitions will count as approved");
    } else {
        context.printer.say(&format!("its tools: {}", escape_line(&names.join(", "))));
    }
    let held = pending_definitions(&pins).len();
    if held > 0 {
        let hint = format!("`switchboard pins diff {}` shows them", server.id);
        context.printer.warn(&format!("{held} of its definitions are quarantined"), Some(&hint));
    }
}

pub(crate) fn approve_now(context: &CommandContext, name: &str) -> Result<(), CliError> {
    let mut approvals = Approvals::load(&context.places.state);
    let config = switchboard_config::load(&context.places, &context.environment, &approvals);
    if let Some(server) = config.servers.get(name)
        && (server.source.layer == ConfigLayer::Project || !server.approved)
    {
        approvals.approve_entry(server)?;
        approvals.save()?;
    }
    Ok(())
}

fn source_file(context: &CommandContext, name: &str) -> Result<PathBuf, CliError> {
    let config = context.config()?;
    let id = context.server_id(&config, name)?;
    let server = config.servers.get(&id).ok_or_else(|| unreadable(name))?;
    // The built-in server has no file; its settings belong to the user.
    if server.source.file.as_os_str().is_empty() {
        return scope_file(context, Scope::User);
    }
    Ok(server.source.file.clone())
}

pub(crate) fn unreadable(name: &str) -> CliError {
    CliError::new(exit_code::CONFIG, format!("the entry of `{name}` cannot be read"))
}

pub(crate) fn scope_file(context: &CommandContext, scope: Scope) -> Result<PathBuf, CliError> {
    // Of several `--config` files, the last one has precedence, so a change in it takes effect.
    if let Some(file) = context.shared.config.last() {
        return Ok(file.clone());
    }
    let places = &context.places;
    let file = match scope {
        Scope::User => places.user.clone(),
        Scope::Project => places.project.clone(),
    };
    file.ok_or_else(|| CliError::new(exit_code::CONFIG, "no configuration file for this scope"))
}

fn entry(add: &AddServerArgs) -> Result<Map<String, Value>, CliError> {
    let Some((first, rest)) = add.target.split_first() else {
        return Err(CliError::usage("neither a URL nor a command was given"));
    };
    // Commands do not contain `://`; the configuration checks which schemes are supported.
    let is_address = first.contains("://");
    let mut entry = Map::new();
    if is_address {
        if !rest.is_empty() {
            return Err(CliError::usage("a URL takes no further arguments"));
        }
        if !add.env.is_empty() || add.cwd.is_some() {
            return Err(CliError::usage("`--env` and `--cwd` need a command, not a URL"));
        }
        entry.insert("url".to_owned(), json!(first));
        let headers = pairs(&add.header, ':', "--header")?;
        if !headers.is_empty() {
            entry.insert("headers".to_owned(), Value::Object(headers));
        }
    } else {
        if !add.header.is_empty() {
            return Err(CliError::usage("`--header` needs a URL, not a command"));
        }
        entry.insert("command".to_owned(), json!(first));
        if !rest.is_empty() {
            entry.insert("args".to_owned(), json!(rest));
        }
        let env = pairs(&add.env, '=', "--env")?;
        if !env.is_empty() {
            entry.insert("env".to_owned(), Value::Object(env));
        }
        if let Some(cwd) = &add.cwd {
            entry.insert("cwd".to_owned(), json!(cwd));
        }
    }
    let kind = match (add.transport, is_address) {
        (None, _) => None,
        (Some(TransportName::Stdio), false) => Some("stdio"),
        (Some(TransportName::Http), true) => Some("http"),
        (Some(TransportName::Sse), true) => Some("sse"),
        (Some(_), true) => return Err(CliError::usage("a URL cannot use the stdio transport")),
        (Some(_), false) => {
            return Err(CliError::usage("a command can only use the stdio transport"));
        }
    };
    if let Some(kind) = kind {
        entry.insert("type".to_owned(), json!(kind));
    }
    if let Some(timeout) = add.timeout {
        entry.insert("timeout".to_owned(), json!(timeout));
    }
    Ok(entry)
}

fn pairs(words: &[String], between: char, flag: &str) -> Result<Map<String, Value>, CliError> {
    let mut map = Map::new();
    for word in words {
        let Some((name, value)) = word.split_once(between) else {
            return Err(CliError::usage(format!("`{flag} {word}` has no `{between}`")));
        };
        map.insert(name.trim().to_owned(), json!(value.trim_start()));
    }
    Ok(map)
}
