//! Authentication with named tokens. Changes of the token file apply without a restart.

use std::collections::HashMap;
use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use parking_lot::Mutex;
use switchboard_text::hex_digest;

use crate::access::Access;
use crate::authenticator::{AuthRefusal, AuthenticateFuture, Authenticator};
use crate::error::KeyError;
use crate::token::{NamedToken, token_digest};
use crate::token_file::{TokenFile, TokenTable};

/// How long the contents of the file are used without checking whether it changed.
const RECHECK_INTERVAL: Duration = Duration::from_millis(200);

/// Prefix of the identities of callers with a named token.
pub(crate) const TOKEN_IDENTITY: &str = "token:";

/// Accepts the named tokens of a file, including later changes of the file.
pub struct TokenAuthenticator {
    file: TokenFile,
    cache: Mutex<TokenCache>,
}

#[derive(Default)]
struct TokenCache {
    checked_at: Option<Instant>,
    stamp: Option<TokenFileStamp>,
    index: Arc<TokenIndex>,
}

/// Identifies a version of the file.
#[derive(Clone, Copy, PartialEq, Eq)]
struct TokenFileStamp {
    changed: SystemTime,
    length: u64,
    number: u64,
}

/// Tokens by digest. The time of a look-up may depend on the prefix shared with a known digest, but
/// an attacker cannot choose the digest of a guess.
#[derive(Default)]
struct TokenIndex {
    by_digest: HashMap<String, (Access, NamedToken)>,
}

impl TokenAuthenticator {
    /// Opens the token file.
    ///
    /// # Errors
    /// When the file exists and cannot be read.
    pub fn open(file: TokenFile) -> Result<Self, KeyError> {
        let known = Arc::new(TokenIndex::from_table(file.read()?));
        let stamp = read_stamp(&file);
        let read = TokenCache { checked_at: Some(Instant::now()), stamp, index: known };
        Ok(Self { file, cache: Mutex::new(read) })
    }

    /// Returns the number of tokens that have not expired.
    #[must_use]
    pub fn count(&self) -> usize {
        self.current_index().by_digest.values().filter(|(_, token)| !token.is_expired()).count()
    }

    /// Returns the caller of a valid token.
    fn find(&self, text: &str) -> Option<Access> {
        let known = self.current_index();
        let (access, token) = known.by_digest.get(&token_digest(text))?;
        (!token.is_expired()).then(|| access.clone())
    }

    fn current_index(&self) -> Arc<TokenIndex> {
        let mut read = self.cache.lock();
        if read.checked_at.is_none_or(|looked| looked.elapsed() >= RECHECK_INTERVAL) {
            // Reading the metadata takes microseconds; the file is read only if it has changed.
            let found = read_stamp(&self.file);
            if found.is_none() || found != read.stamp {
                // A file that cannot be read admits no caller.
                read.index = self
                    .file
                    .read()
                    .map(|table| Arc::new(TokenIndex::from_table(table)))
                    .unwrap_or_default();
                read.stamp = found;
            }
            read.checked_at = Some(Instant::now());
        }
        Arc::clone(&read.index)
    }
}

impl TokenIndex {
    fn from_table(table: TokenTable) -> Self {
        let by_digest = table.into_iter().map(|(name, token)| {
            let digest = token.digest().to_owned();
            // A new token of the same name, or another view, gives another identity.
            let sees = hex_digest(token.sees.iter().map(String::as_bytes));
            let access = Access {
                identity: format!("{TOKEN_IDENTITY}{name}:{sees}:{digest}").into(),
                name: name.into(),
                view: Arc::new(token.view()),
            };
            (digest, (access, token))
        });
        Self { by_digest: by_digest.collect() }
    }
}

impl Authenticator for TokenAuthenticator {
    fn authenticate<'a>(&'a self, bearer: Option<&'a str>) -> AuthenticateFuture<'a> {
        let found = bearer.and_then(|text| self.find(text));
        Box::pin(async move {
            found.ok_or_else(|| AuthRefusal {
                status: 401,
                message: match bearer {
                    Some(_) => "this token is not known here".to_owned(),
                    None => "a token is needed: `Authorization: Bearer sb_…`".to_owned(),
                },
                challenge: Some(match bearer {
                    Some(_) => r#"Bearer error="invalid_token""#.to_owned(),
                    None => r#"Bearer realm="switchboard""#.to_owned(),
                }),
            })
        })
    }

    fn is_current(&self, identity: &str) -> bool {
        self.is_still_valid(identity)
    }

    fn is_still_valid(&self, identity: &str) -> bool {
        let known = self.current_index();
        let digest = identity.rsplit(':').next().unwrap_or_default();
        known
            .by_digest
            .get(digest)
            .is_some_and(|(access, token)| *access.identity == *identity && !token.is_expired())
    }
}

fn read_stamp(file: &TokenFile) -> Option<TokenFileStamp> {
    let found = fs::metadata(file.path()).ok()?;
    let changed = found.modified().ok()?;
    Some(TokenFileStamp { changed, length: found.len(), number: file_number(&found) })
}

/// Returns the inode number, which differs after the file was replaced.
#[cfg(unix)]
fn file_number(file: &fs::Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    file.ino()
}

#[cfg(not(unix))]
fn file_number(_file: &fs::Metadata) -> u64 {
    0
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::TokenAuthenticator;
    use crate::authenticator::Authenticator as _;
    use crate::token_file::{NewToken, TokenFile};

    fn becomes(expected: bool, mut is: impl FnMut() -> bool) -> bool {
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(5) {
            if is() == expected {
                return true;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        false
    }

    #[test]
    fn tokens_come_and_go_while_somebody_serves() {
        let folder = tempfile::tempdir().unwrap();
        let file = TokenFile::in_state_folder(folder.path());
        let tokens = TokenAuthenticator::open(file.clone()).unwrap();
        let new = NewToken { name: "a".to_owned(), ..NewToken::default() };
        let (_, first) = file.add(&new).unwrap();
        assert!(becomes(true, || tokens.find(&first).is_some()));
        let identity = tokens.find(&first).unwrap().identity;
        assert!(tokens.is_still_valid(&identity) && !tokens.is_still_valid("token:a:x"));
        file.revoke("a").unwrap();
        let (_, second) = file.add(&new).unwrap();
        assert!(becomes(true, || tokens.find(&second).is_some()));
        assert!(tokens.find(&first).is_none() && !tokens.is_still_valid(&identity));
        std::fs::write(file.path(), "damaged").unwrap();
        assert!(becomes(false, || tokens.find(&second).is_some()));
    }

    #[test]
    fn whoever_sees_something_else_from_here_on_is_somebody_else() {
        let folder = tempfile::tempdir().unwrap();
        let file = TokenFile::in_state_folder(folder.path());
        let sees = vec!["one/*".to_owned()];
        let (_, text) = file.add(&NewToken { name: "a".to_owned(), lifetime: None, sees }).unwrap();
        let tokens = TokenAuthenticator::open(file.clone()).unwrap();
        let identity = tokens.find(&text).unwrap().identity;
        assert!(tokens.is_still_valid(&identity));
        let edited = std::fs::read_to_string(file.path()).unwrap().replace("one/*", "second/*");
        std::fs::write(file.path(), edited).unwrap();
        assert!(becomes(false, || tokens.is_still_valid(&identity)));
        assert!(tokens.find(&text).is_some());
    }

    #[test]
    fn an_expired_token_lets_nobody_in() {
        let folder = tempfile::tempdir().unwrap();
        let file = TokenFile::in_state_folder(folder.path());
        let lasts = Some(Duration::ZERO);
        let (_, text) = file
            .add(&NewToken { name: "a".to_owned(), lifetime: lasts, sees: Vec::new() })
            .unwrap();
        let tokens = TokenAuthenticator::open(file).unwrap();
        assert_eq!((tokens.count(), tokens.find(&text).is_some()), (0, false));
    }
}
