//! Finds the key that seals stored logins: supplied by the user, or stored in the keyring.

use std::path::PathBuf;

use parking_lot::Mutex;
use switchboard_config::{Environment, Settings};

use crate::error::LoginError;
use crate::keyring::Keyring;
use crate::random;
use crate::secret::Secret;
use crate::vault::{KeyKind, SealingKey};

const KEY_VARIABLE: &str = "SWITCHBOARD_TOKEN_KEY";

pub(crate) struct KeyProvider {
    supplied: Option<Secret>,
    file: Option<PathBuf>,
    keyring: Keyring,
    /// The last derived key, because the derivation is slow.
    cached: Mutex<Option<SealingKey>>,
}

impl KeyProvider {
    pub(crate) fn new(environment: &Environment, settings: &Settings) -> Self {
        let supplied = environment.variable(KEY_VARIABLE).filter(|key| !key.trim().is_empty());
        Self {
            supplied: supplied.map(Secret::new),
            file: settings.token_key_file.clone(),
            keyring: Keyring { variables: environment.variables.clone() },
            cached: Mutex::default(),
        }
    }

    pub(crate) async fn key_for_new_store(&self) -> Result<SealingKey, LoginError> {
        // Cloned first, so that no lock is held across the awaits below.
        let cached = self.cached.lock().clone();
        if let Some(key) = cached {
            return Ok(key);
        }
        let salt = SealingKey::new_salt()?;
        if let Some(secret) = self.supplied_key()? {
            return self.derive(secret, KeyKind::Supplied, salt).await;
        }
        let no_key = |why: String| LoginError::NoKey {
            why: format!("neither `{KEY_VARIABLE}` nor `settings.tokenKeyFile` is set, and {why}"),
        };
        let secret = match self.keyring.look_up().await.map_err(no_key)? {
            Some(secret) => secret,
            None => {
                let secret = Secret::new(random::token()?);
                self.keyring.store(&secret).await.map_err(no_key)?;
                secret
            }
        };
        self.derive(secret, KeyKind::Keyring, salt).await
    }

    pub(crate) async fn key_for_store(
        &self,
        kind: KeyKind,
        salt: &str,
    ) -> Result<SealingKey, LoginError> {
        let cached = self.cached.lock().clone();
        if let Some(key) = cached.filter(|key| key.kind == kind && key.salt == salt) {
            return Ok(key);
        }
        let missing = |why: String| LoginError::NoKey { why };
        // Only the source that sealed the store is tried: another key cannot open it.
        let secret = match kind {
            KeyKind::Supplied => self.supplied_key()?.ok_or_else(|| {
                missing(format!("neither `{KEY_VARIABLE}` nor `settings.tokenKeyFile` is set"))
            })?,
            KeyKind::Keyring => self
                .keyring
                .look_up()
                .await
                .map_err(missing)?
                .ok_or_else(|| missing("the system's keyring has no key".to_owned()))?,
        };
        self.derive(secret, kind, salt.to_owned()).await
    }

    fn supplied_key(&self) -> Result<Option<Secret>, LoginError> {
        if let Some(key) = &self.supplied {
            return Ok(Some(key.clone()));
        }
        let Some(file) = &self.file else { return Ok(None) };
        let no_key = |why: String| LoginError::NoKey {
            why: format!("the key file `{}` {why}", file.display()),
        };
        let text = std::fs::read_to_string(file)
            .map_err(|error| no_key(format!("cannot be read: {error}")))?;
        match text.trim() {
            "" => Err(no_key("is empty".to_owned())),
            key => Ok(Some(Secret::new(key))),
        }
    }

    async fn derive(
        &self,
        secret: Secret,
        kind: KeyKind,
        salt: String,
    ) -> Result<SealingKey, LoginError> {
        // 600,000 rounds take a noticeable part of a second, too long for an async worker.
        let making = tokio::task::spawn_blocking(move || SealingKey::derive(&secret, kind, &salt));
        let key = making.await.map_err(|error| LoginError::NoKey { why: error.to_string() })?;
        *self.cached.lock() = Some(key.clone());
        Ok(key)
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;

    use super::*;

    /// Creates an environment with a fake keyring that runs `script`, or without one.
    fn environment(folder: &Path, script: Option<&str>) -> Environment {
        if let Some(script) = script {
            let program = folder.join("secret-tool");
            std::fs::write(&program, format!("#!/bin/sh\ncd {}\n{script}\n", folder.display()))
                .unwrap();
            std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).unwrap();
        }
        let path = format!("{}:/usr/bin:/bin", folder.display());
        let variables = [("PATH".to_owned(), path)].into();
        Environment { variables, home: None, current_dir: folder.to_owned() }
    }

    const WORKING: &str =
        r#"case "$1" in store) cat > kept;; lookup) test -f kept && cat kept;; esac"#;

    #[tokio::test]
    async fn a_keyring_is_given_a_key_once_and_gives_it_back() {
        let folder = tempfile::tempdir().unwrap();
        let environment = environment(folder.path(), Some(WORKING));
        let keys = || KeyProvider::new(&environment, &Settings::default());
        let key = keys().key_for_new_store().await.unwrap();
        assert_eq!(key.kind, KeyKind::Keyring);
        let sealed = key.seal("hunter2").unwrap();
        let again = keys().key_for_store(KeyKind::Keyring, &sealed.salt).await.unwrap();
        assert_eq!(again.open(&sealed).as_deref(), Some("hunter2"));
        let held = std::fs::read_to_string(folder.path().join("kept")).unwrap();
        assert_eq!(held.len(), 43);
        keys().key_for_new_store().await.unwrap();
        assert_eq!(std::fs::read_to_string(folder.path().join("kept")).unwrap(), held);
    }

    #[tokio::test]
    async fn without_any_key_both_ways_to_one_are_named() {
        let folder = tempfile::tempdir().unwrap();
        for script in [None, Some("exit 1")] {
            let environment = environment(folder.path(), script);
            let keys = KeyProvider::new(&environment, &Settings::default());
            let error = keys.key_for_new_store().await.err().unwrap();
            let hint = error.hint().unwrap();
            assert!(hint.contains("SWITCHBOARD_TOKEN_KEY") && hint.contains("keyring"), "{hint}");
        }
    }

    #[tokio::test]
    async fn a_key_file_is_as_good_as_the_variable() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("key");
        std::fs::write(&file, "a key\n").unwrap();
        let settings = Settings { token_key_file: Some(file.clone()), ..Settings::default() };
        let mut environment = environment(folder.path(), None);
        let by_file = KeyProvider::new(&environment, &settings);
        let sealed = by_file.key_for_new_store().await.unwrap().seal("x").unwrap();
        environment.variables.insert(KEY_VARIABLE.to_owned(), "a key".to_owned());
        let by_variable = KeyProvider::new(&environment, &Settings::default());
        let key = by_variable.key_for_store(KeyKind::Supplied, &sealed.salt).await.unwrap();
        assert_eq!(key.open(&sealed).as_deref(), Some("x"));
        std::fs::write(&file, " \n").unwrap();
        environment.variables.remove(KEY_VARIABLE);
        assert!(KeyProvider::new(&environment, &settings).key_for_new_store().await.is_err());
    }
}
