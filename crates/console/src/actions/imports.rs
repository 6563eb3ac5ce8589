//! Actions that preview and import servers from other products and from registries.

use std::collections::BTreeMap;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use switchboard_config::Replace;
use switchboard_oauth::{LoginError, Secret, SecretName, SecretStore};
use switchboard_store::AuditNote;

use super::body::{ApiResult, fragment_or_json, parse_body};
use super::entries::{EntryWrite, write};
use super::responses::ServerAdded;
use crate::console::{Console, ConsoleState};
use crate::other_products::{Proposal, ProposedServer};
use crate::reply::ApiError;
use crate::views::registry::{self, Chosen, FilledIn, RegistryFound};
use crate::{entry, pages, reply, views};

/// Previews the servers in a typed or pasted text. Changes nothing.
pub(crate) async fn preview(
    State(console): ConsoleState,
    headers: HeaderMap,
    body: Bytes,
) -> ApiResult {
    let typed: entry::TypedEntry = parse_body(&body)?;
    Ok(answer(&headers, &views::propose_typed(&console, typed).await?))
}

/// Previews the servers that other products have on this machine. Changes nothing.
pub(crate) async fn discover(State(console): ConsoleState, headers: HeaderMap) -> ApiResult {
    Ok(answer(&headers, &views::propose_installed(&console).await?))
}

fn answer(headers: &HeaderMap, proposal: &Proposal) -> Response {
    fragment_or_json(headers, || pages::proposal(proposal), proposal)
}

/// A server to import from another product.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Taken {
    /// File that contains the entry.
    place: String,
    /// Name of the server in that file.
    name: String,
    /// `digest` of the entry that was shown.
    digest: String,
    /// Name under which it is added.
    under: String,
    /// Ids of the security findings that the user accepted.
    #[serde(default)]
    agreed: Vec<String>,
}

/// Imports a server from the file of another product, exactly as it was shown.
pub(crate) async fn import(State(console): ConsoleState, body: Bytes) -> ApiResult {
    let Taken { place, name, digest, under, agreed } = parse_body(&body)?;
    let found = views::discover_installed(&console).await?;
    // The digest covers values that the page never saw, such as secrets of `env`.
    let is_it = |one: &ProposedServer| {
        let source = one.source.as_ref();
        source.is_some_and(|source| source.place == place && source.name == name)
            && views::entry_digest(one) == digest
    };
    let found = found.servers.into_iter().find(is_it).ok_or_else(|| {
        let why = format!("`{name}` has changed since it was shown");
        ApiError::new(StatusCode::CONFLICT, why).with_hint("review it again")
    })?;
    let file = console.own_file()?;
    let under = under.trim().to_owned();
    let entry = entry::parse_object(found.entry)?;
    let change = EntryWrite { file, name: under.clone(), entry, agreed, replace: Replace::Refuse };
    write(&console, change).await?;
    console.wait_for_fleet(|servers| servers.contains_key(under.as_str())).await;
    Ok(reply::json(&ServerAdded { added: under }))
}

/// A registry search request.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct RegistryWords {
    /// Search words; all servers if empty.
    #[serde(default)]
    words: String,
}

pub(crate) async fn search_registry(
    State(console): ConsoleState,
    headers: HeaderMap,
    body: Bytes,
) -> ApiResult {
    let RegistryWords { words } = parse_body(&body)?;
    let found = RegistryFound { servers: registry::search(&console, &words).await? };
    Ok(fragment_or_json(&headers, || pages::registry_rows(&found.servers), &found))
}

/// A server in a registry.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct WhichInRegistry {
    /// Name of the server in the registry.
    name: String,
    /// Version of the server; the newest if empty.
    #[serde(default)]
    version: String,
}

pub(crate) async fn show_registry(
    State(console): ConsoleState,
    headers: HeaderMap,
    body: Bytes,
) -> ApiResult {
    let WhichInRegistry { name, version } = parse_body(&body)?;
    let shown = registry::show(&console, &name, &version).await?;
    Ok(fragment_or_json(&headers, || pages::registry_server(&shown), &shown))
}

/// Previews the exact entry that would be added. Changes nothing.
pub(crate) async fn preview_registry(
    State(console): ConsoleState,
    headers: HeaderMap,
    body: Bytes,
) -> ApiResult {
    let chosen: Chosen = parse_body(&body)?;
    let filled = registry::fill_in(&console, &chosen).await?;
    Ok(fragment_or_json(&headers, || pages::registry_filled(&chosen, &filled), &filled))
}

/// A registry server to add.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct AddedFromRegistry {
    #[serde(flatten)]
    chosen: Chosen,
    /// `digest` of the entry that was shown.
    digest: String,
    /// Name under which it is added.
    under: String,
    /// Whether to replace a server of the same name.
    #[serde(default)]
    replace: bool,
    /// Ids of the security findings that the user accepted.
    #[serde(default)]
    agreed: Vec<String>,
}

/// Adds a server of a registry, exactly as it was shown.
pub(crate) async fn add_from_registry(State(console): ConsoleState, body: Bytes) -> ApiResult {
    let AddedFromRegistry { chosen, digest, under, replace, agreed } = parse_body(&body)?;
    let filled = registry::fill_in(&console, &chosen).await?;
    if filled.digest != digest {
        let why = format!("`{}` would no longer run what was shown", chosen.name);
        return Err(ApiError::new(StatusCode::CONFLICT, why).with_hint("review it again"));
    }
    let file = console.own_file()?;
    let under = under.trim().to_owned();
    let known = console.host.config().load();
    let exists = known.servers.contains_key(under.as_str());
    if exists && !replace {
        return Err(ApiError::unprocessable(format!("a server named `{under}` already exists")));
    }
    let FilledIn { entry, secrets, source, .. } = filled;
    let note = AuditNote::server_added(&under, &chosen.name, source, &json!(entry).to_string());
    // Before the entry, because the server starts as soon as the entry is written.
    let kept = StoredSecrets::store(&console, &under, secrets).await;
    let kept = kept.map_err(ApiError::unprocessable)?;
    let replace = if replace { Replace::Allow } else { Replace::Refuse };
    let written = write(&console, EntryWrite { file, name: under.clone(), entry, agreed, replace });
    if let Err(problem) = written.await {
        return Err(match kept.undo().await {
            Ok(()) => problem,
            Err(error) => problem.with_hint(format!("its secrets are still stored: {error}")),
        });
    }
    // After the write, so that the audit log has only servers that were really added.
    let audit = console.host.audit().clone();
    let noted = tokio::task::spawn_blocking(move || audit.add(&[note])).await;
    noted.map_err(ApiError::internal)?.map_err(ApiError::internal)?;
    console.wait_for_fleet(|servers| servers.contains_key(under.as_str())).await;
    Ok(reply::json(&ServerAdded { added: under }))
}

/// Secrets that were stored for a server, and the values that they replaced.
struct StoredSecrets {
    store: SecretStore,
    before: Vec<(SecretName, Option<Secret>)>,
}

impl StoredSecrets {
    async fn store(
        console: &Console,
        server: &str,
        secrets: BTreeMap<String, String>,
    ) -> Result<Self, LoginError> {
        let config = console.host.config().load();
        let store = SecretStore::new(&console.places.state, &console.environment, &config.settings);
        let mut kept = Self { store, before: Vec::new() };
        for (name, value) in secrets {
            let which = SecretName { server: server.to_owned(), name };
            match kept.store.replace(&which, Secret::new(value)).await {
                Ok(before) => kept.before.push((which, before)),
                // Without its entry, a stored secret would never be deleted again.
                Err(error) => {
                    kept.undo().await?;
                    return Err(error);
                }
            }
        }
        Ok(kept)
    }

    /// Restores the previous values, because no entry uses the new ones.
    async fn undo(self) -> Result<(), LoginError> {
        for (which, before) in self.before {
            match before {
                Some(value) => self.store.set(&which, value).await?,
                None => drop(self.store.remove(&which).await?),
            }
        }
        Ok(())
    }
}
