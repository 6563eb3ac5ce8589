//! Entries of servers: those that somebody wants to add, and the one that a file has.

use serde::Serialize;
use serde_json::Value;
use switchboard_host::config::{self, Finding};

use crate::console::Console;
use crate::entry::{Typed, without_secrets};
use crate::reply::Problem;

/// A server that somebody wants to add.
#[derive(Debug, Serialize)]
pub(crate) struct ProposedServer {
    pub(crate) name: Option<String>,
    pub(crate) entry: Value,
    /// What it runs or where it is, in a line.
    pub(crate) how: String,
    /// What to know before it runs.
    pub(crate) findings: Vec<Finding>,
    /// Why it cannot be added as it is.
    pub(crate) problem: Option<String>,
    pub(crate) hint: Option<String>,
    /// Whether there is a server of that name.
    pub(crate) exists: bool,
}

/// The entry of a server in its file.
#[derive(Debug, Serialize)]
pub(crate) struct EntryShown {
    pub(crate) server: String,
    pub(crate) file: String,
    pub(crate) entry: Value,
}

/// What would be added, each server by itself.
pub(crate) fn proposed(console: &Console, typed: &Typed) -> Result<Vec<ProposedServer>, Problem> {
    let file = console.own_file()?;
    let known = console.host.config().load();
    let entries = typed.entries()?.into_iter();
    let all = entries.map(|pasted| {
        let name = pasted.name.as_deref().unwrap_or("new");
        let checked = config::findings_of(&file, name, &pasted.entry);
        let (findings, problem) = match checked {
            Ok(findings) => (findings, None),
            Err(problem) => (Vec::new(), Some(problem)),
        };
        ProposedServer {
            exists: pasted.name.as_deref().is_some_and(|name| {
                known.servers.contains_key(name) || known.broken.contains_key(name)
            }),
            how: how(&pasted.entry),
            name: pasted.name,
            entry: pasted.entry,
            findings,
            hint: problem.as_ref().and_then(|problem| problem.hint.as_deref().map(str::to_owned)),
            problem: problem.map(|problem| said(&problem)),
        }
    });
    Ok(all.collect())
}

/// What is wrong, without the file that the entry is not in yet.
fn said(problem: &config::ConfigError) -> String {
    match &problem.key {
        Some(key) => format!("`{key}`: {}", problem.message),
        None => problem.message.to_string(),
    }
}

/// What an entry runs or where it is reached.
fn how(entry: &Value) -> String {
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
pub(crate) async fn entry(console: &Console, name: &str) -> Result<EntryShown, Problem> {
    let file = console.file_of(name)?;
    let (from, which) = (file.clone(), name.to_owned());
    let reading = tokio::task::spawn_blocking(move || config::entry_of(&from, &which));
    let read = reading.await.map_err(|error| Problem::trouble(error.to_string()))?;
    let read = read.map_err(|error| Problem::unusable(error.to_string()))?;
    let entry = read.ok_or_else(|| Problem::missing(format!("`{name}` is not in its file")))?;
    Ok(EntryShown {
        server: name.to_owned(),
        file: file.display().to_string(),
        entry: without_secrets(entry),
    })
}
