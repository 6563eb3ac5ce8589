//! Finds servers in registries, and adds one of them.

use std::collections::BTreeMap;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use switchboard_config::Replace;
use switchboard_oauth::{LoginError, Secret, SecretName, SecretStore};
use switchboard_store::AuditNote;

use super::body::{ApiResult, parse_body, wants_fragment};
use super::entries::{EntryWrite, write};
use super::responses::ServerAdded;
use crate::console::{Console, SharedConsole};
use crate::reply::ApiError;
use crate::views::registry;
use crate::views::registry::{Chosen, FilledIn, RegistryFound};
use crate::{pages, reply};

/// What is looked for in registries.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct RegistryWords {
    /// What to look for.
    #[serde(default)]
    words: String,
}

/// Searches the registries.
pub(crate) async fn search_registry(
    State(console): State<SharedConsole>,
    headers: HeaderMap,
    body: Bytes,
) -> ApiResult {
    let RegistryWords { words } = parse_body(&body)?;
    let rows = registry::search(&console, &words).await?;
    Ok(if wants_fragment(&headers) {
        reply::html(pages::registry_rows(&rows))
    } else {
        reply::json(&RegistryFound { servers: rows })
    })
}

/// Which server of a registry is wanted.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct WhichInRegistry {
    /// Its name in the registry.
    name: String,
    /// The newest unless told.
    #[serde(default)]
    version: String,
}

/// The ways in which a server of a registry can be added.
pub(crate) async fn show_registry(
    State(console): State<SharedConsole>,
    headers: HeaderMap,
    body: Bytes,
) -> ApiResult {
    let WhichInRegistry { name, version } = parse_body(&body)?;
    let shown = registry::show(&console, &name, &version).await?;
    Ok(if wants_fragment(&headers) {
        reply::html(pages::registry_server(&shown))
    } else {
        reply::json(&shown)
    })
}

/// What would be added, to the letter; nothing is changed.
pub(crate) async fn preview_registry(
    State(console): State<SharedConsole>,
    headers: HeaderMap,
    body: Bytes,
) -> ApiResult {
    let chosen: Chosen = parse_body(&body)?;
    let filled = registry::fill_in(&console, &chosen).await?;
    Ok(if wants_fragment(&headers) {
        reply::html(pages::registry_filled(&chosen, &filled))
    } else {
        reply::json(&filled)
    })
}

/// What is to be added out of a registry.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct AddedFromRegistry {
    #[serde(flatten)]
    chosen: Chosen,
    /// The `digest` of what was shown.
    digest: String,
    /// Its name here.
    under: String,
    /// Whether to replace a server of that name.
    #[serde(default)]
    replace: bool,
    /// The words of the dangers that were agreed to.
    #[serde(default)]
    agreed: Vec<String>,
}

/// Adds a server of a registry, exactly what was shown.
pub(crate) async fn add_from_registry(
    State(console): State<SharedConsole>,
    body: Bytes,
) -> ApiResult {
    let AddedFromRegistry { chosen, digest, under, replace, agreed } = parse_body(&body)?;
    let filled = registry::fill_in(&console, &chosen).await?;
    if filled.digest != digest {
        let why = format!("`{}` would not run what was shown any more", chosen.name);
        return Err(ApiError::new(StatusCode::CONFLICT, why).with_hint("look at it again"));
    }
    let file = console.own_file()?;
    let under = under.trim().to_owned();
    let known = console.host.config().load();
    let exists = known.servers.contains_key(under.as_str());
    if exists && !replace {
        return Err(ApiError::unprocessable(format!("there is a server `{under}` already")));
    }
    let FilledIn { entry, secrets, source, .. } = filled;
    let note = AuditNote::server_added(&under, &chosen.name, source, &json!(entry).to_string());
    // Before the entry: the server is started as soon as that is written.
    let kept = StoredSecrets::store(&console, &under, secrets).await;
    let kept = kept.map_err(|error| ApiError::unprocessable(error.to_string()))?;
    let replace = if replace { Replace::Allow } else { Replace::Refuse };
    let written = write(&console, EntryWrite { file, name: under.clone(), entry, agreed, replace });
    if let Err(problem) = written.await {
        return Err(match kept.undo().await {
            Ok(()) => problem,
            Err(error) => problem.with_hint(format!("its secrets are still kept: {error}")),
        });
    }
    let audit = console.host.audit().clone();
    let noted = tokio::task::spawn_blocking(move || audit.add(&[note])).await;
    let noted = noted.map_err(|error| ApiError::internal(error.to_string()))?;
    noted.map_err(|error| ApiError::internal(error.to_string()))?;
    console.wait_for_fleet(|servers| servers.contains_key(under.as_str())).await;
    Ok(reply::json(&ServerAdded { added: under }))
}

/// Secrets that were kept for a server of the user's own file, and what was there before.
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
                Err(error) => {
                    kept.undo().await?;
                    return Err(error);
                }
            }
        }
        Ok(kept)
    }

    /// Puts everything back as it was: no entry uses what was kept.
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
