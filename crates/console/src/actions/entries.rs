//! Actions that add, change, remove, approve, restart and switch servers.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use switchboard_catalog::{Server, ServerStatus};
use switchboard_config::{ConfigLayer, Replace};
use switchboard_core::ServerId;
use switchboard_fleet::SupervisorCommand;
use switchboard_trust::Approvals;
use switchboard_vetting::EntryFinding;
use tokio::time::{Instant, timeout_at};

use super::body::{ApiResult, blocking, no_server, parse_body};
use super::responses::{
    ServerAdded, ServerApproved, ServerChanged, ServerRemoved, ServerRestarting, ServerSwitched,
};
use crate::console::{Console, ConsoleState};
use crate::reply::ApiError;
use crate::{entry, reply};

/// How long to wait for the host to reload a changed file. Longer waits look like a hang.
const RELOAD_TIMEOUT: Duration = Duration::from_secs(5);

/// A server to add.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct NewEntry {
    /// Name of the server.
    name: String,
    /// Configuration entry: an object, or its JSON text.
    #[schemars(extend("type" = ["object", "string"]))]
    entry: Value,
    /// Whether to replace a server of the same name.
    #[serde(default)]
    replace: bool,
    /// Ids of the security findings that the user accepted.
    #[serde(default)]
    agreed: Vec<String>,
}

pub(crate) async fn add(State(console): ConsoleState, body: Bytes) -> ApiResult {
    let NewEntry { name, entry, replace, agreed } = parse_body(&body)?;
    let name = name.trim().to_owned();
    let entry = entry::parse_object(entry)?;
    let file = console.own_file()?;
    let replace = if replace { Replace::Allow } else { Replace::Refuse };
    let change = EntryWrite { file, name: name.clone(), entry, agreed, replace };
    write(&console, change).await?;
    console.wait_for_fleet(|servers| servers.contains_key(name.as_str())).await;
    Ok(reply::json(&ServerAdded { added: name }))
}

/// The new configuration entry of a server.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct ChangedEntry {
    /// New entry: an object, or its JSON text. `[kept]` keeps a value.
    #[schemars(extend("type" = ["object", "string"]))]
    entry: Value,
    /// Ids of the security findings that the user accepted.
    #[serde(default)]
    agreed: Vec<String>,
}

/// Changes the entry of a server in the file that has it.
pub(crate) async fn edit(
    State(console): ConsoleState,
    Path(name): Path<String>,
    body: Bytes,
) -> ApiResult {
    let ChangedEntry { entry, agreed } = parse_body(&body)?;
    let file = console.server_file(&name)?;
    let from = file.clone();
    let which = name.clone();
    let before = blocking(move || switchboard_config::read_entry(&from, &which)).await?;
    let before = before.ok_or_else(|| no_server(&name))?;
    let entry = entry::with_restored_secrets(entry::parse_object(entry)?, &before)?;
    let change = EntryWrite { file, name: name.clone(), entry, agreed, replace: Replace::Allow };
    write(&console, change).await?;
    Ok(reply::json(&ServerChanged { changed: name }))
}

pub(crate) async fn remove(State(console): ConsoleState, Path(name): Path<String>) -> ApiResult {
    let file = console.server_file(&name)?;
    let which = name.clone();
    blocking(move || switchboard_config::remove_server(&file, &which)).await?;
    console.wait_for_fleet(|servers| !servers.contains_key(name.as_str())).await;
    Ok(reply::json(&ServerRemoved { removed: name }))
}

/// The approval of a configuration entry.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct ApprovedEntry {
    /// `approval_digest` of the entry that was shown.
    digest: String,
}

/// Approves an entry exactly as it was shown.
pub(crate) async fn approve(
    State(console): ConsoleState,
    Path(name): Path<String>,
    body: Bytes,
) -> ApiResult {
    let ApprovedEntry { digest } = parse_body(&body)?;
    let config = console.host.config().load();
    let server = config.servers.get(name.as_str()).ok_or_else(|| no_server(&name))?.clone();
    if server.approval_digest != digest {
        let why = format!("the entry of `{name}` has changed since it was shown");
        return Err(ApiError::new(StatusCode::CONFLICT, why).with_hint("review it again"));
    }
    console.host.first_use().attend(&name);
    let state = console.places.state.clone();
    blocking(move || {
        let mut approvals = Approvals::load(&state);
        approvals.approve_entry(&server)?;
        approvals.save()
    })
    .await?;
    Ok(reply::json(&ServerApproved { approved: name }))
}

/// An entry to write to a configuration file.
pub(super) struct EntryWrite {
    pub(super) file: PathBuf,
    pub(super) name: String,
    pub(super) entry: Map<String, Value>,
    /// The words of the dangers that the person accepted.
    pub(super) agreed: Vec<String>,
    pub(super) replace: Replace,
}

/// Writes an entry, unless it has a danger that the person did not accept.
pub(super) async fn write(console: &Console, change: EntryWrite) -> Result<(), ApiError> {
    let EntryWrite { file, name, mut entry, agreed, replace } = change;
    let at = file.clone();
    let which = name.clone();
    let value = Value::Object(entry.clone());
    // Checked again here: the page's checkboxes are not a security boundary.
    let findings =
        blocking(move || switchboard_config::entry_findings(&at, &which, &value)).await?;
    let dangers: Vec<EntryFinding> = findings.into_iter().filter(EntryFinding::is_danger).collect();
    if let Some(danger) = dangers.iter().find(|danger| !agreed.contains(&danger.word)) {
        // The page's script parses this message to show a checkbox for the danger.
        let why = format!("`{name}` is dangerous: {} ({})", danger.message, danger.word);
        return Err(ApiError::new(StatusCode::CONFLICT, why)
            .with_hint("review what it runs, then confirm it"));
    }
    // In a file of a project, the entry would accept the danger for every user of the project.
    let is_own = console.places.user.as_ref() == Some(&file);
    if !dangers.is_empty() && is_own {
        let words: Vec<&str> = dangers.iter().map(|danger| danger.word.as_str()).collect();
        entry.insert("dangerous".to_owned(), json!(words));
    }
    // The author is present, so the offers are reviewed instead of being pinned unseen.
    console.host.first_use().attend(&name);
    let places = console.places.clone();
    let environment = console.environment.clone();
    blocking(move || {
        switchboard_config::add_server(&file, &name, &Value::Object(entry), replace)?;
        // An entry of a project needs an approval, and its author has seen it.
        let mut approvals = Approvals::load(&places.state);
        let config = switchboard_config::load(&places, &environment, &approvals);
        if let Some(server) = config.servers.get(name.as_str())
            && server.source.layer == ConfigLayer::Project
        {
            approvals.approve_entry(server)?;
            approvals.save()?;
        }
        Ok(())
    })
    .await
}

impl Console {
    /// Waits until the host has applied a file change, so that the next page shows it.
    pub(super) async fn wait_for_fleet(
        &self,
        is_so: impl Fn(&BTreeMap<ServerId, Arc<Server>>) -> bool,
    ) {
        let mut changes = self.host.fleet().changes();
        let until = Instant::now() + RELOAD_TIMEOUT;
        while !is_so(&changes.load().servers) {
            if timeout_at(until, changes.changed()).await.is_err() {
                return;
            }
        }
    }

    /// Returns the file that new servers are added to.
    pub(crate) fn own_file(&self) -> Result<PathBuf, ApiError> {
        let named = self.places.explicit.last().or(self.places.user.as_ref());
        let missing = || ApiError::unprocessable("no configuration file to add servers to");
        named.cloned().ok_or_else(missing)
    }

    /// Returns the file that has a server, even if its entry is invalid.
    pub(crate) fn server_file(&self, name: &str) -> Result<PathBuf, ApiError> {
        let config = self.host.config().load();
        let right = config.servers.get(name).map(|server| server.source.file.clone());
        let wrong = || config.broken.get(name).map(|error| error.file.to_path_buf());
        let file = right.or_else(wrong).ok_or_else(|| no_server(name))?;
        if file.as_os_str().is_empty() {
            let why = format!("server `{name}` is not in a configuration file");
            return Err(ApiError::unprocessable(why).with_hint("it is built into Switchboard"));
        }
        Ok(file)
    }
}

pub(crate) async fn restart(State(console): ConsoleState, Path(name): Path<String>) -> ApiResult {
    let fleet = console.host.fleet().load();
    let server = fleet.servers.get(name.as_str()).ok_or_else(|| no_server(&name))?;
    match &server.status {
        ServerStatus::Disabled => {
            let why = format!("server `{name}` is disabled");
            Err(ApiError::unprocessable(why).with_hint("enable it first"))
        }
        ServerStatus::NeedsApproval => {
            let why = format!("server `{name}` is not approved");
            let hint = format!("run `switchboard servers approve {name}`");
            Err(ApiError::unprocessable(why).with_hint(hint))
        }
        ServerStatus::NotAllowed(failure) => {
            let why = format!("server `{name}` is not allowed: {}", failure.message);
            Err(ApiError::unprocessable(why).with_hint("run `switchboard policy show`"))
        }
        ServerStatus::Starting
        | ServerStatus::Ready
        | ServerStatus::NeedsLogin(_)
        | ServerStatus::Waiting { .. }
        | ServerStatus::Failed(_) => {
            console.host.command(SupervisorCommand::Restart(server.id.clone())).await;
            Ok(reply::json(&ServerRestarting { restarting: name }))
        }
    }
}

pub(crate) async fn enable(State(console): ConsoleState, Path(name): Path<String>) -> ApiResult {
    switch(&console, name, ServerSwitch::On).await
}

pub(crate) async fn disable(State(console): ConsoleState, Path(name): Path<String>) -> ApiResult {
    switch(&console, name, ServerSwitch::Off).await
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ServerSwitch {
    On,
    Off,
}

/// Changes the file that has the server. The host watches the file and reloads it.
async fn switch(console: &Console, name: String, to: ServerSwitch) -> ApiResult {
    let config = console.host.config().load();
    let server = config.servers.get(name.as_str()).ok_or_else(|| no_server(&name))?;
    let file = server.source.file.clone();
    if file.as_os_str().is_empty() {
        let why = format!("server `{name}` is not in a configuration file");
        return Err(ApiError::unprocessable(why).with_hint("disable it with the setting `builtin`"));
    }
    let id = server.id.clone();
    blocking(move || match to {
        ServerSwitch::On => switchboard_config::enable_server(&file, id.as_str()),
        ServerSwitch::Off => switchboard_config::disable_server(&file, id.as_str()),
    })
    .await?;
    Ok(reply::json(&ServerSwitched { server: name, enabled: to == ServerSwitch::On }))
}
