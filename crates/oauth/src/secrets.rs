//! Secrets that entries refer to by name: sealed like logins, each for one server only.

use std::collections::BTreeMap;
use std::path::Path;

use switchboard_config::{
    ConfigLayer, Environment, ServerConfig, Settings, contains_reference, fill_references,
    secret_names,
};
use switchboard_text::add_secrets;

use crate::error::LoginError;
use crate::keys::KeyProvider;
use crate::secret::Secret;
use crate::store::{SealedStore, StoreChange};

/// The sealed store of all secrets.
pub struct SecretStore {
    store: SealedStore,
}

/// The server and the name that identify a secret.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct SecretName {
    /// The server that may read it, as returned by [`secret_scope`].
    pub server: String,
    pub name: String,
}

/// Returns the name under which a server's secrets are stored. It includes the file of a project's
/// server, so that a project cannot obtain secrets by reusing a server's name.
#[must_use]
pub fn secret_scope(server: &ServerConfig) -> String {
    match server.source.layer {
        ConfigLayer::User | ConfigLayer::Explicit => server.id.to_string(),
        ConfigLayer::Project => {
            let file = &server.source.file;
            // A symbolic link is the same file, and must not hide its secrets.
            let real = std::fs::canonicalize(file).unwrap_or_else(|_| file.clone());
            format!("{} of {}", server.id, real.display())
        }
    }
}

impl SecretStore {
    /// Opens the secrets below a state folder.
    #[must_use]
    pub fn new(state: &Path, environment: &Environment, settings: &Settings) -> Self {
        let keys = KeyProvider::new(environment, settings);
        Self { store: SealedStore::in_folder(state.join("secrets"), keys) }
    }

    /// Stores a secret, replacing one of the same name.
    pub async fn set(&self, which: &SecretName, value: Secret) -> Result<(), LoginError> {
        self.replace(which, value).await.map(drop)
    }

    /// Stores a secret and returns the previous one.
    pub async fn replace(
        &self,
        which: &SecretName,
        value: Secret,
    ) -> Result<Option<Secret>, LoginError> {
        let mut before = None;
        self.store
            .edit(|contents| {
                let of_server = contents.secrets.entry(which.server.clone()).or_default();
                before = of_server.insert(which.name.clone(), value);
                StoreChange::Yes
            })
            .await?;
        Ok(before)
    }

    /// Removes a secret; returns whether it existed.
    pub async fn remove(&self, which: &SecretName) -> Result<bool, LoginError> {
        let mut found = false;
        self.store
            .edit(|contents| {
                if let Some(of_server) = contents.secrets.get_mut(&which.server) {
                    found = of_server.remove(&which.name).is_some();
                }
                contents.secrets.retain(|_, names| !names.is_empty());
                if found { StoreChange::Yes } else { StoreChange::No }
            })
            .await?;
        Ok(found)
    }

    /// Returns the names of all secrets.
    pub async fn names(&self) -> Result<Vec<SecretName>, LoginError> {
        let contents = self.store.read().await?;
        let all = contents.secrets.iter().flat_map(|(server, names)| {
            let name = |name: &String| SecretName { server: server.clone(), name: name.clone() };
            names.keys().map(name)
        });
        Ok(all.collect())
    }

    /// Replaces references in values with the server's own secrets.
    pub async fn fill_references(
        &self,
        server: &ServerConfig,
        values: &BTreeMap<String, String>,
    ) -> Result<BTreeMap<String, String>, LoginError> {
        // Most entries have no references; they must not fail because the store cannot be read.
        if !values.values().any(|value| contains_reference(value)) {
            return Ok(values.clone());
        }
        let contents = self.store.read().await?;
        let scope = secret_scope(server);
        let held = |name: &str| contents.secrets.get(&scope).and_then(|names| names.get(name));
        let mut filled = BTreeMap::new();
        for (key, value) in values {
            if let Some(name) = secret_names(value).find(|name| held(name).is_none()) {
                let name = name.to_owned();
                return Err(LoginError::NoSecret { server: server.id.to_string(), name });
            }
            let secret = |name: &str| held(name).map(Secret::reveal).unwrap_or_default().to_owned();
            let value = fill_references(value, secret);
            // The whole value is redacted too: a server may encode or quote it as one piece.
            add_secrets([value.as_str()]);
            filled.insert(key.clone(), value);
        }
        Ok(filled)
    }
}

#[cfg(test)]
mod tests {
    use switchboard_config::{NoConsents, Places, load};

    use super::*;

    #[tokio::test]
    async fn a_secret_is_given_to_its_own_server_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.json");
        let entry = r#"{"command": "x", "env": {"T": "a-${keyring:TOKEN}"}}"#;
        std::fs::write(&file, format!(r#"{{"mcpServers": {{"a": {entry}, "b": {entry}}}}}"#))
            .unwrap();
        let environment = Environment {
            variables: [("SWITCHBOARD_TOKEN_KEY".to_owned(), "key".to_owned())].into(),
            home: None,
            current_dir: folder.path().to_owned(),
        };
        let state = folder.path().join("state");
        let of = |project: bool| {
            let places = Places {
                user: (!project).then(|| file.clone()),
                project: project.then(|| file.clone()),
                ..Places::without_files(state.clone())
            };
            load(&places, &environment, &NoConsents).servers
        };
        let secrets = SecretStore::new(&state, &environment, &Settings::default());
        let user = of(false);
        let project = of(true);
        let which = SecretName { server: secret_scope(&user["a"]), name: "TOKEN".to_owned() };
        secrets.set(&which, Secret::new("hunter2hunter2")).await.unwrap();
        let filled = |server: &ServerConfig| {
            let env = match &server.transport {
                switchboard_config::Transport::Stdio { env, .. } => env.clone(),
                _ => unreachable!(),
            };
            let server = server.clone();
            let secrets = &secrets;
            async move { secrets.fill_references(&server, &env).await }
        };
        assert_eq!(filled(&user["a"]).await.unwrap()["T"], "a-hunter2hunter2");
        for other in [&user["b"], &project["a"]] {
            assert!(matches!(filled(other).await, Err(LoginError::NoSecret { .. })));
        }
        let sealed = std::fs::read_to_string(state.join("secrets/tokens.json")).unwrap();
        assert!(!sealed.contains("hunter2"));
        assert!(secrets.remove(&which).await.unwrap());
        assert_eq!(secrets.names().await.unwrap(), []);
    }
}
