//! Finds servers in registries, and adds one of them.

use std::collections::BTreeMap;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use switchboard_config::Replace;
use switchboard_oauth::{LoginError, Secret, SecretName, Secrets};
use switchboard_store::AuditNote;

use super::body::{Answer, read, wants_piece};
use super::done::ServerAdded;
use super::entries::{Change, write};
use crate::console::{Console, Shared};
use crate::reply::Problem;
use crate::shown::registry;
use crate::shown::registry::{Chosen, FilledIn, RegistryFound};
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
    State(console): State<Shared>,
    headers: HeaderMap,
    body: Bytes,
) -> Answer {
    let RegistryWords { words } = read(&body)?;
    let rows = registry::search(&console, &words).await?;
    Ok(if wants_piece(&headers) {
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
    State(console): State<Shared>,
    headers: HeaderMap,
    body: Bytes,
) -> Answer {
    let WhichInRegistry { name, version } = read(&body)?;
    let shown = registry::show(&console, &name, &version).await?;
    Ok(if wants_piece(&headers) {
        reply::html(pages::registry_server(&shown))
    } else {
        reply::json(&shown)
    })
}

/// What would be added, to the letter; nothing is changed.
pub(crate) async fn look_at_registry(
    State(console): State<Shared>,
    headers: HeaderMap,
    body: Bytes,
) -> Answer {
    let chosen: Chosen = read(&body)?;
    let filled = registry::filled_in(&console, &chosen).await?;
    Ok(if wants_piece(&headers) {
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
pub(crate) async fn add_from_registry(State(console): State<Shared>, body: Bytes) -> Answer {
    let AddedFromRegistry { chosen, digest, under, replace, agreed } = read(&body)?;
    let filled = registry::filled_in(&console, &chosen).await?;
    if filled.digest != digest {
        let why = format!("`{}` would not run what was shown any more", chosen.name);
        return Err(Problem::new(StatusCode::CONFLICT, why).with_hint("look at it again"));
    }
    let (file, under) = (console.own_file()?, under.trim().to_owned());
    let known = console.host.config().load();
    let exists = known.servers.contains_key(under.as_str());
    if exists && !replace {
        return Err(Problem::unusable(format!("there is a server `{under}` already")));
    }
    let FilledIn { entry, secrets, source, .. } = filled;
    let note = AuditNote::added(&under, &chosen.name, source, &json!(entry).to_string());
    // Before the entry: the server is started as soon as that is written.
    let kept = Kept::keep(&console, &under, secrets).await;
    let kept = kept.map_err(|error| Problem::unusable(error.to_string()))?;
    let replace = if replace { Replace::Allow } else { Replace::Refuse };
    let written = write(&console, Change { file, name: under.clone(), entry, agreed, replace });
    if let Err(problem) = written.await {
        return Err(match kept.undo().await {
            Ok(()) => problem,
            Err(error) => problem.with_hint(format!("its secrets are still kept: {error}")),
        });
    }
    let audit = console.host.audit().clone();
    let noted = tokio::task::spawn_blocking(move || audit.add(&[note])).await;
    let noted = noted.map_err(|error| Problem::trouble(error.to_string()))?;
    noted.map_err(|error| Problem::trouble(error.to_string()))?;
    console.settled(|servers| servers.contains_key(under.as_str())).await;
    Ok(reply::json(&ServerAdded { added: under }))
}

/// Secrets that were kept for a server of the user's own file, and what was there before.
struct Kept {
    store: Secrets,
    before: Vec<(SecretName, Option<Secret>)>,
}

impl Kept {
    async fn keep(
        console: &Console,
        server: &str,
        secrets: BTreeMap<String, String>,
    ) -> Result<Self, LoginError> {
        let config = console.host.config().load();
        let store = Secrets::new(&console.places.state, &console.environment, &config.settings);
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
