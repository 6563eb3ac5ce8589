//! View models of server entries: proposed ones, and those in a configuration file.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use switchboard_text::hex_digest;

use crate::console::Console;
use crate::entry::{TypedEntry, without_secrets};
use crate::other_products::{DiscoveryError, Proposal, ProposedServer};
use crate::reply::ApiError;

/// The configuration entry of a server.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct EntryShown {
    /// Name of the server.
    pub(crate) server: String,
    /// File that contains the entry.
    pub(crate) file: String,
    /// Entry, with `[kept]` for values that may be secrets.
    pub(crate) entry: Value,
}

/// Returns the servers in a typed or pasted text. Each entry is checked separately.
pub(crate) async fn propose_typed(
    console: &Console,
    typed: TypedEntry,
) -> Result<Proposal, ApiError> {
    let product = Some(typed.product.trim().to_owned()).filter(|word| !word.is_empty());
    // Blocks: a reader may look up where other products keep their files.
    let elsewhere = Arc::clone(&console.elsewhere);
    let text = typed.text.clone();
    let reading = tokio::task::spawn_blocking(move || match text.trim() {
        "" => Ok(None),
        text => elsewhere.parse_pasted(text, product.as_deref()),
    });
    let read = reading.await.map_err(ApiError::internal)?;
    if let Some(mut found) = read.map_err(|error| discovery_error(&error))? {
        mark_existing(console, &mut found);
        return Ok(found);
    }
    Ok(Proposal { servers: own_entries(console, &typed)?, ..Proposal::default() })
}

/// Returns the servers of other products. Values that may be secrets stay in their files.
pub(crate) async fn propose_installed(console: &Console) -> Result<Proposal, ApiError> {
    let mut found = discover_installed(console).await?;
    mark_existing(console, &mut found);
    for one in &mut found.servers {
        // Before the secrets go: an import compares it with the entry that has them.
        let digest = entry_digest(one);
        one.entry = without_secrets(std::mem::take(&mut one.entry));
        if let Some(source) = &mut one.source {
            source.digest = Some(digest);
        }
    }
    Ok(found)
}

/// Returns the servers of other products, including their secrets.
pub(crate) async fn discover_installed(console: &Console) -> Result<Proposal, ApiError> {
    let elsewhere = Arc::clone(&console.elsewhere);
    let reading = tokio::task::spawn_blocking(move || elsewhere.installed_servers());
    reading.await.map_err(ApiError::internal)?.map_err(|error| discovery_error(&error))
}

pub(crate) fn entry_digest(found: &ProposedServer) -> String {
    hex_digest([found.entry.to_string().as_bytes()])
}

fn discovery_error(error: &DiscoveryError) -> ApiError {
    ApiError::unprocessable(error).maybe_hint(error.hint.as_deref())
}

fn mark_existing(console: &Console, found: &mut Proposal) {
    let known = console.host.config().load();
    for one in &mut found.servers {
        // A server that cannot or need not be added does not collide.
        let is_new = one.needless.is_none() && one.problem.is_none();
        // A broken entry keeps its name: adding another would overwrite it.
        let is_taken = |name: &String| {
            known.servers.contains_key(&**name) || known.broken.contains_key(&**name)
        };
        one.exists = is_new && one.name.as_ref().is_some_and(is_taken);
    }
}

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

/// Returns the error message without a file name, because the entry is not in a file yet.
fn problem_text(problem: &switchboard_document::ConfigError) -> String {
    match &problem.key {
        Some(key) => format!("`{key}`: {}", problem.message),
        None => problem.message.to_string(),
    }
}

/// Returns the command line or the URL of an entry.
pub(crate) fn launch_text(entry: &Value) -> String {
    let text = |key: &str| entry[key].as_str();
    // The keys of the URL differ between products.
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

/// Returns the entry of a server from its file, without values that may be secrets.
pub(crate) async fn entry(console: &Console, name: &str) -> Result<EntryShown, ApiError> {
    let file = console.server_file(name)?;
    let from = file.clone();
    let which = name.to_owned();
    let reading =
        tokio::task::spawn_blocking(move || switchboard_config::read_entry(&from, &which));
    let read = reading.await.map_err(ApiError::internal)?.map_err(ApiError::unprocessable)?;
    let missing = || ApiError::not_found(format!("server `{name}` is no longer in its file"));
    let entry = without_secrets(read.ok_or_else(missing)?);
    Ok(EntryShown { server: name.to_owned(), file: file.display().to_string(), entry })
}
