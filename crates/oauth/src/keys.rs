//! Finds the key that stored logins are sealed with: supplied by the person, or held by the keyring.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use switchboard_config::{Environment, Settings};

use crate::error::LoginError;
use crate::keyring::Keyring;
use crate::random;
use crate::secret::Secret;
use crate::vault::{Key, KeyKind};

/// The variable with the key.
const VARIABLE: &str = "SWITCHBOARD_TOKEN_KEY";

/// Finds the key.
pub(crate) struct Keys {
    supplied: Option<Secret>,
    file: Option<PathBuf>,
    keyring: Keyring,
    /// The one that was used last: to make it takes a while.
    made: Mutex<Option<Key>>,
}

impl Keys {
    pub(crate) fn new(environment: &Environment, settings: &Settings) -> Self {
        let supplied = environment.variable(VARIABLE).filter(|key| !key.trim().is_empty());
        Self {
            supplied: supplied.map(Secret::new),
            file: settings.token_key_file.clone(),
            keyring: Keyring { variables: environment.variables.clone() },
            made: Mutex::default(),
        }
    }

    /// The key for a new store.
    pub(crate) async fn fresh(&self) -> Result<Key, LoginError> {
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(key) = made {
            return Ok(key);
        }
        let salt = Key::new_salt()?;
        if let Some(secret) = self.supplied_key()? {
            return self.make(secret, KeyKind::Supplied, salt).await;
        }
        let no_key = |why: String| LoginError::NoKey {
            why: format!("`{VARIABLE}` is not set, `settings.tokenKeyFile` neither, and {why}"),
        };
        let secret = match self.keyring.look_up().await.map_err(no_key)? {
            Some(secret) => secret,
            None => {
                let secret = Secret::new(random::word()?);
                self.keyring.keep(&secret).await.map_err(no_key)?;
                secret
            }
        };
        self.make(secret, KeyKind::Keyring, salt).await
    }

    /// The key of a store that is there.
    pub(crate) async fn known(&self, kind: KeyKind, salt: &str) -> Result<Key, LoginError> {
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(key) = made.filter(|key| key.kind == kind && key.salt == salt) {
            return Ok(key);
        }
        let missing = |why: String| LoginError::NoKey { why };
        let secret = match kind {
            KeyKind::Supplied => self.supplied_key()?.ok_or_else(|| {
                missing(format!("`{VARIABLE}` and `settings.tokenKeyFile` are not set"))
            })?,
            KeyKind::Keyring => self
                .keyring
                .look_up()
                .await
                .map_err(missing)?
                .ok_or_else(|| missing("the system's keyring has none".to_owned()))?,
        };
        self.make(secret, kind, salt.to_owned()).await
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

    async fn make(&self, secret: Secret, kind: KeyKind, salt: String) -> Result<Key, LoginError> {
        let making = tokio::task::spawn_blocking(move || Key::derive(&secret, kind, &salt));
        let key = making.await.map_err(|error| LoginError::NoKey { why: error.to_string() })?;
        *self.made.lock().unwrap_or_else(PoisonError::into_inner) = Some(key.clone());
        Ok(key)
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;

    use super::*;

    /// A keyring that keeps its one secret in a file, or none at all.
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
        let keys = || Keys::new(&environment, &Settings::default());
        let key = keys().fresh().await.unwrap();
        assert_eq!(key.kind, KeyKind::Keyring);
        let sealed = key.seal("hunter2").unwrap();
        let again = keys().known(KeyKind::Keyring, &sealed.salt).await.unwrap();
        assert_eq!(again.open(&sealed).as_deref(), Some("hunter2"));
        let held = std::fs::read_to_string(folder.path().join("kept")).unwrap();
        assert_eq!(held.len(), 43);
        keys().fresh().await.unwrap();
        assert_eq!(std::fs::read_to_string(folder.path().join("kept")).unwrap(), held);
    }

    #[tokio::test]
    async fn without_any_key_both_ways_to_one_are_named() {
        let folder = tempfile::tempdir().unwrap();
        for script in [None, Some("exit 1")] {
            let environment = environment(folder.path(), script);
            let keys = Keys::new(&environment, &Settings::default());
            let error = keys.fresh().await.err().unwrap();
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
        let by_file = Keys::new(&environment, &settings);
        let sealed = by_file.fresh().await.unwrap().seal("x").unwrap();
        environment.variables.insert(VARIABLE.to_owned(), "a key".to_owned());
        let by_variable = Keys::new(&environment, &Settings::default());
        let key = by_variable.known(KeyKind::Supplied, &sealed.salt).await.unwrap();
        assert_eq!(key.open(&sealed).as_deref(), Some("x"));
        std::fs::write(&file, " \n").unwrap();
        environment.variables.remove(VARIABLE);
        assert!(Keys::new(&environment, &settings).fresh().await.is_err());
    }
}
