//! The sealed store: one file, read again when it changes and replaced as a whole.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use std::{fs, io};

use jiff::Timestamp;
use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use switchboard_files::{FileAccess, Lock, create_private_folder, replace_synced};
use switchboard_text::Digest;

use crate::client::RegisteredClient;
use crate::error::LoginError;
use crate::keys::KeyProvider;
use crate::secret::Secret;
use crate::vault::{SealedText, SealingKey};

/// How long to wait while another process changes the store.
const LOCK_TIMEOUT: Duration = Duration::from_secs(20);
/// How long to wait while another process renews a login, which takes at least one request.
const RENEWAL_TIMEOUT: Duration = Duration::from_secs(60);

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct StoreContents {
    #[serde(default)]
    pub logins: Vec<LoginRecord>,
    /// Client registrations, by issuer.
    #[serde(default)]
    pub clients: BTreeMap<String, RegisteredClient>,
    /// Secrets that entries refer to, by server and name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub secrets: BTreeMap<String, BTreeMap<String, Secret>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LoginRecord {
    pub server: String,
    pub url: String,
    pub resource: String,
    pub issuer: String,
    pub(crate) token_endpoint: String,
    pub(crate) revocation_endpoint: Option<String>,
    pub client: RegisteredClient,
    pub access: Secret,
    pub(crate) refresh: Option<Secret>,
    /// Expiry of the access token, in Unix seconds.
    pub ends: Option<i64>,
    pub asked: Vec<String>,
    /// Granted scopes, if the response listed them.
    pub granted: Option<Vec<String>>,
    /// Whether the authorization server refused to renew it.
    #[serde(default)]
    pub over: bool,
}

/// The part of a login that may be shown: everything but its tokens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "LoginHeld")]
pub struct StoredLogin {
    /// Name of the server that requires the login.
    pub server: String,
    /// URL of the authorization server that issued the login.
    pub issuer: String,
    /// Scopes granted to the login.
    pub scopes: Vec<String>,
    /// Expiry of the current access token.
    #[serde(serialize_with = "as_text", deserialize_with = "from_text")]
    #[schemars(with = "Option<String>")]
    pub ends: Option<Timestamp>,
    /// Whether the login is renewed automatically when the token expires.
    pub renewable: bool,
}

impl LoginRecord {
    pub(crate) fn to_stored_login(&self) -> StoredLogin {
        StoredLogin {
            server: self.server.clone(),
            issuer: self.issuer.clone(),
            scopes: self.granted.clone().unwrap_or_else(|| self.asked.clone()),
            ends: self.ends.and_then(|ends| Timestamp::from_second(ends).ok()),
            renewable: self.refresh.is_some(),
        }
    }
}

/// Modification time, size and inode of the file; different contents have a different stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StoreStamp(Option<(SystemTime, u64, u64)>);

pub(crate) struct SealedStore {
    folder: PathBuf,
    keys: KeyProvider,
    read: Mutex<Option<(StoreStamp, Arc<StoreContents>)>>,
}

impl SealedStore {
    pub(crate) fn new(state: &Path, keys: KeyProvider) -> Self {
        Self::in_folder(state.join("logins"), keys)
    }

    pub(crate) fn in_folder(folder: PathBuf, keys: KeyProvider) -> Self {
        Self { folder, keys, read: Mutex::default() }
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.folder.join("tokens.json")
    }

    pub(crate) fn stamp(&self) -> StoreStamp {
        StoreStamp(
            fs::metadata(self.file())
                .ok()
                .and_then(|file| Some((file.modified().ok()?, file.len(), inode(&file)))),
        )
    }

    /// Returns the contents, cached until the file changes.
    pub(crate) async fn read(&self) -> Result<Arc<StoreContents>, LoginError> {
        let stamp = self.stamp();
        if let Some((read, contents)) = &*self.read.lock()
            && *read == stamp
        {
            return Ok(Arc::clone(contents));
        }
        let contents = match self.read_sealed()? {
            None => Arc::default(),
            Some(sealed) => {
                let key = self.keys.key_for_store(sealed.key, &sealed.salt).await?;
                Arc::new(self.open(&key, &sealed)?)
            }
        };
        // The stamp is older than the contents, so a write in between only causes another read.
        let mut read = self.read.lock();
        *read = Some((stamp, Arc::clone(&contents)));
        Ok(contents)
    }

    /// Checks that the store can be opened and locked, before a person is asked to log in.
    pub(crate) async fn prepare(&self) -> Result<(), LoginError> {
        self.edit(|_| StoreChange::No).await
    }

    /// Changes the contents under the store's lock.
    pub(crate) async fn edit(
        &self,
        change: impl FnOnce(&mut StoreContents) -> StoreChange + Send,
    ) -> Result<(), LoginError> {
        create_private_folder(&self.folder).map_err(|error| self.not_stored(&error))?;
        let lock = self.folder.join("store.lock");
        let lock = Lock::acquire_private(&lock, LOCK_TIMEOUT).await;
        let _lock = lock.map_err(|error| self.not_stored(&error))?;
        // Read from the file rather than the cache, which may be older than the lock.
        let (key, mut contents) = match self.read_sealed()? {
            None => (self.keys.key_for_new_store().await?, StoreContents::default()),
            Some(sealed) => {
                let key = self.keys.key_for_store(sealed.key, &sealed.salt).await?;
                let contents = self.open(&key, &sealed)?;
                (key, contents)
            }
        };
        if change(&mut contents) == StoreChange::No {
            return Ok(());
        }
        self.write(&key, &contents)
    }

    /// Acquires the lock that lets one process at a time renew a login.
    pub(crate) async fn lock_renewal(&self, kept: &LoginRecord) -> Result<Lock, LoginError> {
        // Renewals wait for the network, so they must not hold the lock of the whole store.
        let name = Digest::new("renewal").with(&kept.server).with(&kept.url).hex();
        let lock = self.folder.join(format!("renew-{name}.lock"));
        let lock = Lock::acquire_private(&lock, RENEWAL_TIMEOUT).await;
        lock.map_err(|error| self.not_stored(&error))
    }

    /// Removes the file, readable or not.
    pub(crate) fn remove_file(&self) -> Result<(), LoginError> {
        match fs::remove_file(self.file()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(self.not_stored(&error)),
            _ => Ok(()),
        }
    }

    fn read_sealed(&self) -> Result<Option<SealedText>, LoginError> {
        let text = match fs::read(self.file()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            text => text.map_err(|error| self.unreadable(error.to_string()))?,
        };
        let sealed = serde_json::from_slice(&text);
        sealed.map(Some).map_err(|_| self.unreadable("the file is damaged".to_owned()))
    }

    fn open(&self, key: &SealingKey, sealed: &SealedText) -> Result<StoreContents, LoginError> {
        let wrong = "the key is wrong, or the file was modified";
        let text = key.open(sealed).ok_or_else(|| self.unreadable(wrong.to_owned()))?;
        serde_json::from_str(&text)
            .map_err(|_| self.unreadable("it was written by another version".to_owned()))
    }

    fn write(&self, key: &SealingKey, contents: &StoreContents) -> Result<(), LoginError> {
        let text = serde_json::to_string(contents).map_err(|error| self.not_stored(&error))?;
        let sealed = serde_json::to_vec_pretty(&key.seal(&text)?)
            .map_err(|error| self.not_stored(&error))?;
        replace_synced(&self.file(), &sealed, FileAccess::Owner)
            .map_err(|error| self.not_stored(&error))
    }

    fn unreadable(&self, why: String) -> LoginError {
        LoginError::Unreadable { file: self.file(), why }
    }

    fn not_stored(&self, error: &dyn Display) -> LoginError {
        LoginError::NotStored { file: self.file(), why: error.to_string() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StoreChange {
    Yes,
    No,
}

fn as_text<S: Serializer>(moment: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
    match moment {
        Some(moment) => serializer.collect_str(moment),
        None => serializer.serialize_none(),
    }
}

fn from_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Timestamp>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    text.map(|text| text.parse().map_err(D::Error::custom)).transpose()
}

#[cfg(unix)]
fn inode(file: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(file)
}

#[cfg(not(unix))]
fn inode(_file: &fs::Metadata) -> u64 {
    0
}
