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

/// How long the cached tokens are used before the file is checked for changes. A revoked token
/// stays valid for at most this long.
const RECHECK_INTERVAL: Duration = Duration::from_millis(200);

/// Prefix of the identities of callers with a named token.
pub(crate) const TOKEN_IDENTITY: &str = "token:";

/// Accepts the named tokens of a file and follows its changes.
pub struct TokenAuthenticator {
    file: TokenFile,
    cache: Mutex<TokenCache>,
}

struct TokenCache {
    checked_at: Instant,
    stamp: Option<TokenFileStamp>,
    index: Arc<TokenIndex>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct TokenFileStamp {
    changed: SystemTime,
    length: u64,
    // Edits within the resolution of the modification time may keep the length; a replaced file has
    // another inode.
    inode: u64,
}

/// Tokens by digest. The time of a look-up may depend on the prefix shared with a known digest, but
/// an attacker cannot choose the digest of a guess.
type TokenIndex = HashMap<String, (Access, NamedToken)>;

impl TokenAuthenticator {
    /// Opens the token file. Fails if it exists and cannot be read.
    pub fn open(file: TokenFile) -> Result<Self, KeyError> {
        // The stamp is older than the contents, so a change in between causes another read.
        let stamp = read_stamp(&file);
        let index = Arc::new(index_tokens(file.read()?));
        let cache = TokenCache { checked_at: Instant::now(), stamp, index };
        Ok(Self { file, cache: Mutex::new(cache) })
    }

    /// Returns the number of tokens that have not expired.
    #[must_use]
    pub fn count(&self) -> usize {
        self.current_index().values().filter(|(_, token)| !token.is_expired()).count()
    }

    fn find(&self, text: &str) -> Option<Access> {
        let index = self.current_index();
        let (access, token) = index.get(&token_digest(text))?;
        (!token.is_expired()).then(|| access.clone())
    }

    fn current_index(&self) -> Arc<TokenIndex> {
        let mut cache = self.cache.lock();
        if cache.checked_at.elapsed() >= RECHECK_INTERVAL {
            // Reading the metadata takes microseconds; the file is read only if it has changed.
            let stamp = read_stamp(&self.file);
            if stamp.is_none() || stamp != cache.stamp {
                // Fail closed: a file that cannot be read admits no caller.
                let table = self.file.read().unwrap_or_default();
                cache.index = Arc::new(index_tokens(table));
                cache.stamp = stamp;
            }
            cache.checked_at = Instant::now();
        }
        Arc::clone(&cache.index)
    }
}

fn index_tokens(table: TokenTable) -> TokenIndex {
    let entry = |(name, token): (String, NamedToken)| {
        let digest = token.sha256.clone();
        // A recreated token or another view is another identity: it must not inherit the sessions
        // and approvals of the old one.
        let sees = hex_digest(token.sees.iter().map(String::as_bytes));
        let access = Access {
            identity: format!("{TOKEN_IDENTITY}{name}:{sees}:{digest}").into(),
            name: name.into(),
            view: Arc::new(token.view()),
        };
        (digest, (access, token))
    };
    table.into_iter().map(entry).collect()
}

impl Authenticator for TokenAuthenticator {
    fn authenticate<'a>(&'a self, bearer: Option<&'a str>) -> AuthenticateFuture<'a> {
        let found = bearer.and_then(|text| self.find(text));
        Box::pin(async move {
            // Expired and unknown tokens get the same answer, which confirms no guess.
            let (message, challenge) = match bearer {
                Some(_) => ("unknown or expired token", r#"Bearer error="invalid_token""#),
                None => (
                    "a token is required: `Authorization: Bearer sb_…`",
                    r#"Bearer realm="switchboard""#,
                ),
            };
            found.ok_or_else(|| AuthRefusal {
                status: 401,
                message: message.to_owned(),
                challenge: Some(challenge.to_owned()),
            })
        })
    }

    fn is_current(&self, identity: &str) -> bool {
        self.is_still_valid(identity)
    }

    fn is_still_valid(&self, identity: &str) -> bool {
        let index = self.current_index();
        let entry = identity.rsplit(':').next().and_then(|digest| index.get(digest));
        entry.is_some_and(|(access, token)| *access.identity == *identity && !token.is_expired())
    }
}

fn read_stamp(file: &TokenFile) -> Option<TokenFileStamp> {
    let metadata = fs::metadata(file.path()).ok()?;
    let changed = metadata.modified().ok()?;
    Some(TokenFileStamp { changed, length: metadata.len(), inode: inode(&metadata) })
}

#[cfg(unix)]
fn inode(file: &fs::Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    file.ino()
}

#[cfg(not(unix))]
fn inode(_file: &fs::Metadata) -> u64 {
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
