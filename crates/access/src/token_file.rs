//! The file of named tokens: private, changed under a lock, replaced atomically.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

use serde::{Deserialize, Serialize};
use switchboard_files::{FileAccess, Lock, create_private_folder, parent_folder, replace_synced};

use crate::error::KeyError;
use crate::token::{NamedToken, unix_now};

/// How long to wait for another process that is changing the file.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_NAME_LENGTH: usize = 64;

pub(crate) type TokenTable = BTreeMap<String, NamedToken>;

#[derive(Default, Serialize, Deserialize)]
struct TokenFileContents {
    tokens: TokenTable,
}

/// Options of a new token.
#[derive(Clone, Debug, Default)]
pub struct NewToken {
    pub name: String,
    /// The patterns that the caller sees; an empty list covers everything.
    pub sees: Vec<String>,
    /// `None` for a token that is valid until it is revoked.
    pub lifetime: Option<Duration>,
}

/// The file that stores named tokens.
#[derive(Clone, Debug)]
pub struct TokenFile {
    path: PathBuf,
}

impl TokenFile {
    /// Returns the token file of a state folder.
    #[must_use]
    pub fn in_state_folder(folder: &Path) -> Self {
        Self { path: folder.join("tokens.json") }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads all tokens by name. A missing file has no tokens.
    pub fn read(&self) -> Result<BTreeMap<String, NamedToken>, KeyError> {
        match fs::read_to_string(&self.path) {
            Ok(text) => serde_json::from_str::<TokenFileContents>(&text)
                .map(|contents| contents.tokens)
                .map_err(|cause| self.damaged_error(cause)),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(TokenTable::new()),
            Err(cause) => Err(self.io_error(cause)),
        }
    }

    /// Adds a token and returns its text, which is not stored. Blocks for up to ten seconds while
    /// another process changes the file.
    pub fn add(&self, new: &NewToken) -> Result<(NamedToken, String), KeyError> {
        // Names appear in identities, where `:` separates the parts, and in tables and logs.
        let plain = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
        let length = 1..=MAX_NAME_LENGTH;
        if !length.contains(&new.name.len()) || !new.name.chars().all(plain) {
            return Err(KeyError::BadName(new.name.clone()));
        }
        let expires_at = new.lifetime.map(|lasts| unix_now().saturating_add(lasts.as_secs()));
        let (token, text) =
            NamedToken::generate(new.sees.clone(), expires_at).ok_or(KeyError::NoRandomness)?;
        self.change(|table| match table.get(&new.name) {
            Some(known) if !known.is_expired() => Err(KeyError::Exists(new.name.clone())),
            _ => {
                table.insert(new.name.clone(), token.clone());
                Ok(())
            }
        })?;
        Ok((token, text))
    }

    /// Removes a token. Blocks for up to ten seconds while another process changes the file.
    pub fn revoke(&self, name: &str) -> Result<(), KeyError> {
        self.change(|table| match table.remove(name) {
            Some(_) => Ok(()),
            None => Err(KeyError::Unknown(name.to_owned())),
        })
    }

    fn change(
        &self,
        edit: impl FnOnce(&mut TokenTable) -> Result<(), KeyError>,
    ) -> Result<(), KeyError> {
        create_private_folder(parent_folder(&self.path)).map_err(|cause| self.io_error(cause))?;
        // A separate lock file, because replacing the token file gives it a new inode.
        let _lock = Lock::acquire(&self.path.with_extension("json.lock"), LOCK_TIMEOUT)
            .map_err(|error| self.io_error(error.into_io("locked by another process")))?;
        // A damaged file ends the change here: overwriting it would lose every other token.
        let mut tokens = self.read()?;
        edit(&mut tokens)?;
        let mut text = serde_json::to_string_pretty(&TokenFileContents { tokens })
            .map_err(|cause| self.damaged_error(cause))?;
        text.push('\n');
        replace_synced(&self.path, text.as_bytes(), FileAccess::Owner)
            .map_err(|cause| self.io_error(cause))
    }

    fn io_error(&self, cause: io::Error) -> KeyError {
        KeyError::File { path: self.path.clone(), cause }
    }

    fn damaged_error(&self, cause: serde_json::Error) -> KeyError {
        KeyError::Damaged { path: self.path.clone(), cause }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use super::{NewToken, TokenFile};

    fn token_named(name: &str) -> NewToken {
        NewToken { name: name.to_owned(), ..NewToken::default() }
    }

    #[test]
    fn a_token_is_told_once_and_kept_as_its_digest_in_a_private_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = TokenFile::in_state_folder(&folder.path().join("state"));
        let new = NewToken { sees: vec!["files/*".to_owned()], ..token_named("laptop") };
        let (token, text) = file.add(&new).unwrap();
        assert!(text.starts_with("sb_") && text.len() == 46, "{text}");
        assert_eq!(
            file.read().unwrap().into_iter().collect::<Vec<_>>(),
            [("laptop".to_owned(), token)]
        );
        let kept = std::fs::read_to_string(file.path()).unwrap();
        assert!(!kept.contains(text.strip_prefix("sb_").unwrap()), "{kept}");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode(file.path()), 0o600);
            // Other users must not even see whether there are tokens.
            assert_eq!(mode(file.path().parent().unwrap()), 0o700);
        }
    }

    #[test]
    fn names_are_plain_and_used_once_and_an_expired_one_is_free_again() {
        let folder = tempfile::tempdir().unwrap();
        let file = TokenFile::in_state_folder(folder.path());
        for name in ["", "a b", "a/b", "ä", "a\n", &"x".repeat(65)] {
            let error = file.add(&token_named(name)).unwrap_err().to_string();
            assert_eq!(error, format!("invalid token name `{name}`"));
        }
        let short = NewToken { lifetime: Some(Duration::ZERO), ..token_named("a") };
        file.add(&short).unwrap();
        file.add(&token_named("a")).unwrap();
        assert_eq!(
            file.add(&token_named("a")).unwrap_err().to_string(),
            "a token named `a` already exists"
        );
        file.revoke("a").unwrap();
        assert_eq!(file.revoke("a").unwrap_err().to_string(), "no token named `a`");
    }

    #[test]
    fn a_damaged_file_is_an_error_and_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let file = TokenFile::in_state_folder(folder.path());
        std::fs::write(file.path(), "{").unwrap();
        assert!(file.read().is_err() && file.add(&token_named("a")).is_err());
        assert_eq!(std::fs::read_to_string(file.path()).unwrap(), "{");
    }

    #[test]
    fn several_writers_lose_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = TokenFile::in_state_folder(folder.path());
        std::thread::scope(|scope| {
            for number in 0..8 {
                let file = file.clone();
                scope.spawn(move || file.add(&token_named(&format!("t{number}"))).unwrap());
            }
        });
        assert_eq!(file.read().unwrap().len(), 8);
    }
}
