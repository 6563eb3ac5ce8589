//! Entries of servers: those that somebody wants to add, and the one that a file has.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use switchboard_text::digest;
use switchboard_vetting::EntryFinding;

use crate::console::Console;
use crate::entry::{TypedEntry, without_secrets};
use crate::other_products::{
    DiscoveredServer, DiscoveredServers, DiscoveryError, ImportEffect, UnreadFile,
};
use crate::reply::ApiError;

/// What would be added.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Proposal {
    /// The servers.
    pub(crate) servers: Vec<ProposedServer>,
    /// What could not be taken over at all.
    pub(crate) left_out: Vec<String>,
    /// Files that cannot be read.
    pub(crate) unreadable: Vec<UnreadFile>,
}

/// A server that somebody wants to add.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ProposedServer {
    /// Its name here.
    pub(crate) name: Option<String>,
    /// Its entry as our own file would have it.
    pub(crate) entry: Value,
    /// What it runs or where it is, in a line.
    pub(crate) how: String,
    /// What to know before it runs.
    pub(crate) findings: Vec<EntryFinding>,
    /// Why it cannot be added as it is.
    pub(crate) problem: Option<String>,
    /// What to do about that.
    pub(crate) hint: Option<String>,
    /// Whether there is a server of that name.
    pub(crate) exists: bool,
    /// Why there is no need to add it.
    pub(crate) needless: Option<String>,
    /// What is different here from where it comes from, and what it needs.
    pub(crate) notes: Vec<String>,
    /// Values that are secrets and stand in a file for everybody to read.
    pub(crate) plain_secrets: Vec<String>,
    /// Where it comes from, if another product has it.
    pub(crate) source: Option<SourceShown>,
}

/// Where a server comes from.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SourceShown {
    /// What the product is called.
    pub(crate) product: &'static str,
    /// The file that has it.
    pub(crate) place: String,
    /// Whose file it is: `user`, `project`, `folder` or `link`.
    pub(crate) scope: &'static str,
    /// Its name there.
    pub(crate) name: String,
    /// What taking it has to quote, if its values stay in the file that has it.
    pub(crate) digest: Option<String>,
}

/// The entry of a server in its file.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct EntryShown {
    /// The server.
    pub(crate) server: String,
    /// The file that has it.
    pub(crate) file: String,
    /// Its entry; `[kept]` stands for values that may be secret.
    pub(crate) entry: Value,
}

/// What would be added by what somebody typed or pasted, each server by itself.
pub(crate) async fn propose_typed(
    console: &Console,
    typed: TypedEntry,
) -> Result<Proposal, ApiError> {
    let product = Some(typed.product.trim().to_owned()).filter(|word| !word.is_empty());
    let elsewhere = Arc::clone(&console.elsewhere);
    let text = typed.text.clone();
    let reading = tokio::task::spawn_blocking(move || match text.trim() {
        "" => Ok(None),
        text => elsewhere.parse_pasted(text, product.as_deref()),
    });
    let read = reading.await.map_err(|error| ApiError::internal(error.to_string()))?;
    if let Some(found) = read.map_err(|error| discovery_error(&error))? {
        return Ok(proposal(console, found, &ValueVisibility::Sent));
    }
    Ok(Proposal { servers: own_entries(console, &typed)?, ..Proposal::default() })
}

/// What other products have on this machine. Values that may be secret stay in their files.
pub(crate) async fn propose_installed(console: &Console) -> Result<Proposal, ApiError> {
    Ok(proposal(console, discover_installed(console).await?, &ValueVisibility::Stay))
}

/// What other products have, with everything in it.
pub(crate) async fn discover_installed(console: &Console) -> Result<DiscoveredServers, ApiError> {
    let elsewhere = Arc::clone(&console.elsewhere);
    let reading = tokio::task::spawn_blocking(move || elsewhere.installed_servers());
    let read = reading.await.map_err(|error| ApiError::internal(error.to_string()))?;
    read.map_err(|error| discovery_error(&error))
}

/// What stands for an entry, exactly as it was found.
pub(crate) fn entry_digest(found: &DiscoveredServer) -> String {
    digest::fingerprint([found.entry.to_string().as_bytes()])
}

fn discovery_error(error: &DiscoveryError) -> ApiError {
    let problem = ApiError::unprocessable(error.to_string());
    match &error.hint {
        Some(hint) => problem.with_hint(hint),
        None => problem,
    }
}

/// Whether the values of an entry are sent to the page.
enum ValueVisibility {
    Sent,
    Stay,
}

fn proposal(console: &Console, found: DiscoveredServers, values: &ValueVisibility) -> Proposal {
    let known = console.host.config().load();
    let exists = |name: &str| known.servers.contains_key(name) || known.broken.contains_key(name);
    let servers = found.servers.into_iter().map(|one| {
        let digest = matches!(values, ValueVisibility::Stay).then(|| entry_digest(&one));
        let (name, problem, needless) = match &one.becomes {
            ImportEffect::New(name) => (name.clone(), None, None),
            ImportEffect::There(name) => {
                (one.name.clone(), None, Some(format!("it is there already, as `{name}`")))
            }
            ImportEffect::Ourselves => {
                (one.name.clone(), None, Some("it leads to Switchboard itself".to_owned()))
            }
            ImportEffect::Refused(why) => (one.name.clone(), Some(why.clone()), None),
        };
        let is_new = needless.is_none() && problem.is_none();
        ProposedServer {
            exists: is_new && exists(&name),
            name: Some(name),
            entry: if digest.is_some() { without_secrets(one.entry) } else { one.entry },
            how: one.how,
            findings: one.findings,
            problem,
            hint: None,
            needless,
            notes: one.notes,
            plain_secrets: one.plain_secrets,
            source: Some(SourceShown {
                product: one.product,
                place: one.place,
                scope: one.scope,
                name: one.name,
                digest,
            }),
        }
    });
    Proposal { servers: servers.collect(), left_out: found.left_out, unreadable: found.unreadable }
}

/// What is written as our own files have it.
fn own_entries(console: &Console, typed: &TypedEntry) -> Result<Vec<ProposedServer>, ApiError> {
    let file = console.own_file()?;
    let known = console.host.config().load();
    let entries = typed.entries()?.into_iter();
    let all = entries.map(|pasted| {
        let name = pasted.name.as_deref().unwrap_or("new");
        let checked = switchboard_config::entry_findings(&file, name, &pasted.entry);
        let (findings, problem) = match checked {
            Ok(findings) => (findings, None),
            Err(problem) => (Vec::new(), Some(problem)),
        };
        ProposedServer {
            exists: pasted.name.as_deref().is_some_and(|name| {
                known.servers.contains_key(name) || known.broken.contains_key(name)
            }),
            how: launch_text(&pasted.entry),
            name: pasted.name,
            entry: pasted.entry,
            findings,
            hint: problem.as_ref().and_then(|problem| problem.hint.as_deref().map(str::to_owned)),
            problem: problem.map(|problem| problem_text(&problem)),
            needless: None,
            notes: Vec::new(),
            plain_secrets: Vec::new(),
            source: None,
        }
    });
    Ok(all.collect())
}

/// What is wrong, without the file that the entry is not in yet.
fn problem_text(problem: &switchboard_document::ConfigError) -> String {
    match &problem.key {
        Some(key) => format!("`{key}`: {}", problem.message),
        None => problem.message.to_string(),
    }
}

/// What an entry runs or where it is reached.
pub(crate) fn launch_text(entry: &Value) -> String {
    let text = |key: &str| entry[key].as_str();
    if let Some(url) = text("url").or_else(|| text("httpUrl")).or_else(|| text("serverUrl")) {
        return url.to_owned();
    }
    let command = text("command").unwrap_or_default();
    let arguments = entry["args"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let words = std::iter::once(command).chain(arguments).map(|word| {
        let is_plain = !word.is_empty() && !word.contains(char::is_whitespace);
        if is_plain { word.to_owned() } else { format!("'{word}'") }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The entry of a server as its file has it, but for what may be secret.
pub(crate) async fn entry(console: &Console, name: &str) -> Result<EntryShown, ApiError> {
    let file = console.server_file(name)?;
    let from = file.clone();
    let which = name.to_owned();
    let reading =
        tokio::task::spawn_blocking(move || switchboard_config::read_entry(&from, &which));
    let read = reading.await.map_err(|error| ApiError::internal(error.to_string()))?;
    let read = read.map_err(|error| ApiError::unprocessable(error.to_string()))?;
    let entry = read.ok_or_else(|| ApiError::not_found(format!("`{name}` is not in its file")))?;
    Ok(EntryShown {
        server: name.to_owned(),
        file: file.display().to_string(),
        entry: without_secrets(entry),
    })
}
