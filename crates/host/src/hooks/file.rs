//! Parses one `hooks.json` into hooks, strictly: an entry that is not understood is an error.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value};
use switchboard_document::ConfigError;
use switchboard_rules::PolicyLevel;

use crate::hooks::command::parse_command;
use crate::hooks::hook::{Hook, HookAction, HookEvent, HookRules};
use crate::hooks::matcher::Matcher;
use crate::hooks::web;

/// Timeout of a hook that does not set one.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum timeout that a hook may set.
const MAX_TIMEOUT_SECONDS: f64 = 600.0;

#[derive(Debug)]
pub(super) struct HookFileContents {
    pub(super) rules: HookRules,
    pub(super) hooks: Vec<Hook>,
    /// Warnings about entries that are ignored.
    pub(super) notes: Vec<String>,
}

/// The file, its level, and the folder in which its programs run.
#[derive(Clone, Copy, Debug)]
pub(super) struct HookFileOwner<'a> {
    pub(super) file: &'a Path,
    pub(super) level: PolicyLevel,
    pub(super) folder: &'a Path,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct HookEntry {
    command: Option<String>,
    args: Option<Vec<String>>,
    url: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    timeout: Option<f64>,
    fail_closed: Option<bool>,
    matcher: Option<String>,
}

pub(super) fn parse_contents(
    value: &Value,
    owner: HookFileOwner<'_>,
) -> Result<HookFileContents, HookError> {
    let wrong = |what: &str| HookError::wrong(owner.file, what);
    let top = value.as_object().ok_or_else(|| wrong("the file must be an object"))?;
    let rules = parse_rules(top.get("version")).map_err(|what| wrong(&what))?;
    let mut read = HookFileContents { rules, hooks: Vec::new(), notes: Vec::new() };
    let events = match top.get("hooks") {
        None => return Err(wrong("`hooks` is missing")),
        Some(events) => events.as_object().ok_or_else(|| wrong("`hooks` must be an object"))?,
    };
    for (event, entries) in events {
        let when =
            [HookEvent::Before, HookEvent::After].into_iter().find(|when| when.as_str() == event);
        let Some(when) = when else {
            // A misspelled event would be a guard that never runs.
            if is_mcp_event(event) {
                return Err(wrong(&format!(
                    "unknown event `{event}`; the events of MCP calls are `{}` and `{}`",
                    HookEvent::Before.as_str(),
                    HookEvent::After.as_str()
                )));
            }
            read.notes.push(format!("`{event}` is not an event of MCP calls and is not run here"));
            continue;
        };
        let entries = entries.as_array();
        let entries = entries.ok_or_else(|| wrong(&format!("`{event}` must be a list")))?;
        for (number, entry) in (1..).zip(entries) {
            let place = |what: String| wrong(&format!("`{event}`, hook {number}: {what}"));
            let unknown = unknown_keys(entry);
            read.notes.extend(
                unknown.map(|key| format!("`{event}`, hook {number}: unknown key `{key}`")),
            );
            read.hooks.push(parse_hook(entry, (when, rules), owner).map_err(place)?);
        }
    }
    Ok(read)
}

/// Returns whether an event is about MCP calls, in any spelling. No other event contains "mcp".
fn is_mcp_event(event: &str) -> bool {
    event.to_ascii_lowercase().contains("mcp")
}

fn parse_rules(version: Option<&Value>) -> Result<HookRules, String> {
    match version {
        None => Ok(HookRules::Current),
        Some(version) if version.as_u64() == Some(1) => Ok(HookRules::Current),
        Some(Value::String(text)) if text == HookRules::Cursor2341.as_str() => {
            Ok(HookRules::Cursor2341)
        }
        Some(other) => Err(format!("unknown `version` {other}; supported are 1 and \"2.3.41\"")),
    }
}

fn parse_hook(
    entry: &Value,
    what: (HookEvent, HookRules),
    owner: HookFileOwner<'_>,
) -> Result<Hook, String> {
    let (when, rules) = what;
    let entry: HookEntry = HookEntry::deserialize(entry).map_err(|error| error.to_string())?;
    let limit = match entry.timeout {
        None => DEFAULT_TIMEOUT,
        Some(seconds) if seconds > 0.0 && seconds <= MAX_TIMEOUT_SECONDS => {
            Duration::from_secs_f64(seconds)
        }
        Some(_) => {
            return Err(format!(
                "`timeout` must be above 0 and at most {MAX_TIMEOUT_SECONDS} seconds"
            ));
        }
    };
    let (name, run) = parse_action(&entry)?;
    Ok(Hook {
        name,
        level: owner.level,
        event: when,
        action: run,
        limit,
        // Stricter than Cursor, where a hook that crashes lets the call pass.
        fail_closed: entry.fail_closed.unwrap_or(true),
        rules,
        folder: owner.folder.to_owned(),
        matcher: Matcher::new(entry.matcher.as_deref().unwrap_or_default())?,
        seal: None,
    })
}

fn parse_action(entry: &HookEntry) -> Result<(String, HookAction), String> {
    match entry.kind.as_deref() {
        None | Some("command" | "http") => {}
        // The entry is meant as a guard, so it must not be ignored: it fails when it is run.
        Some(kind) => {
            let why = format!("hooks of type `{kind}` are not supported");
            return Ok((kind.to_owned(), HookAction::Unusable(why)));
        }
    }
    match (entry.command.as_deref(), entry.url.as_deref()) {
        (Some(text), None) if text.trim().is_empty() => Err("`command` is empty".to_owned()),
        (Some(text), None) if text.contains('\0') => {
            Err("`command` contains a NUL character".to_owned())
        }
        (Some(text), None) => Ok(match &entry.args {
            Some(args) => {
                let name = std::iter::once(text).chain(args.iter().map(String::as_str));
                let run = HookAction::Program { program: text.to_owned(), args: args.clone() };
                (name.collect::<Vec<_>>().join(" "), run)
            }
            None => (text.to_owned(), parse_command(text)),
        }),
        (None, Some(url)) => {
            web::check_url(url).map(|()| (url.to_owned(), HookAction::Web(url.to_owned())))
        }
        (None, None) => Err("has neither `command` nor `url`".to_owned()),
        (Some(_), Some(_)) => Err("has both `command` and `url`".to_owned()),
    }
}

fn unknown_keys(entry: &Value) -> impl Iterator<Item = &String> {
    const KEYS: [&str; 11] = [
        "command", "args", "url", "type", "timeout", "failClosed", "matcher", "prompt", "model",
        "loop_limit", "name",
    ];
    let keys = entry.as_object().map(Map::keys).into_iter().flatten();
    keys.filter(|key| !KEYS.contains(&key.as_str()))
}

/// An error in a hook file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HookError {
    #[error("{0}")]
    Unreadable(ConfigError),
    #[error("{what} ({})", file.display())]
    Wrong { file: PathBuf, what: String },
    /// A project's file differs from the approved one.
    #[error("the project's hooks have changed since they were approved ({})", file.display())]
    Changed { file: PathBuf },
}

impl HookError {
    pub(super) fn wrong(file: &Path, what: impl Into<String>) -> Self {
        Self::Wrong { file: file.to_owned(), what: what.into() }
    }

    /// Returns the next step for the user.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unreadable(error) => error.hint.as_deref().map(str::to_owned),
            Self::Wrong { .. } => Some("`switchboard hooks list` lists all hook files".into()),
            Self::Changed { .. } => Some(
                "review them, then `switchboard hooks approve`, or `switchboard hooks revoke` to \
                 disable them"
                    .into(),
            ),
        }
    }
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
