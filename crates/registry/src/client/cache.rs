//! Caches the responses of registries on disk, for use while they are unreachable.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use std::{fs, io};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use switchboard_files::{FileAccess, replace};

/// Maximum number of cached responses; the oldest are removed first.
const MAX_ANSWERS: usize = 400;

#[derive(Debug, Clone)]
pub(super) struct AnswerCache {
    folder: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CachedAnswer {
    url: String,
    at: u64,
    pub(super) etag: Option<String>,
    pub(super) body: String,
}

impl CachedAnswer {
    pub(super) fn new(url: &str, etag: Option<String>, body: String) -> Self {
        Self { url: url.to_owned(), at: now(), etag, body }
    }

    /// Returns the time since the response was last validated.
    pub(super) fn age(&self) -> Duration {
        Duration::from_secs(now().saturating_sub(self.at))
    }

    pub(super) fn into_revalidated(mut self) -> Self {
        self.at = now();
        self
    }
}

impl AnswerCache {
    pub(super) fn new(state: &Path) -> Self {
        Self { folder: state.join("registry-cache") }
    }

    /// Returns the cached response for a URL. An unreadable file counts as a miss.
    pub(super) fn get(&self, url: &str) -> Option<CachedAnswer> {
        let text = fs::read_to_string(self.file(url)).ok()?;
        let kept: CachedAnswer = serde_json::from_str(&text).ok()?;
        // A file that was copied or edited must not answer for another URL.
        (kept.url == url).then_some(kept)
    }

    pub(super) fn store(&self, kept: &CachedAnswer) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        replace(&self.file(&kept.url), &serde_json::to_vec(kept)?, FileAccess::Owner)?;
        self.prune()
    }

    fn prune(&self) -> io::Result<()> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            if let Ok(at) = entry.metadata().and_then(|it| it.modified()) {
                files.push((at, entry.path()));
            }
        }
        files.sort();
        let beyond = files.len().saturating_sub(MAX_ANSWERS);
        for (_, path) in files.iter().take(beyond) {
            // Another process may have removed it first.
            _ = fs::remove_file(path);
        }
        Ok(())
    }

    fn file(&self, url: &str) -> PathBuf {
        let digest = Sha256::digest(url.as_bytes());
        let name: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        self.folder.join(format!("{name}.json"))
    }
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map(|since| since.as_secs()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_kept_for_its_address_alone() {
        let home = tempfile::tempdir().unwrap();
        let cache = AnswerCache::new(home.path());
        assert_eq!(cache.get("https://a.example/1"), None);
        let kept =
            CachedAnswer::new("https://a.example/1", Some("\"x\"".to_owned()), "{}".to_owned());
        cache.store(&kept).unwrap();
        assert_eq!(cache.get("https://a.example/1"), Some(kept.clone()));
        assert_eq!(cache.get("https://a.example/2"), None);
        fs::write(cache.file("https://a.example/2"), serde_json::to_string(&kept).unwrap())
            .unwrap();
        assert_eq!(cache.get("https://a.example/2"), None);
        fs::write(cache.file("https://a.example/1"), "{").unwrap();
        assert_eq!(cache.get("https://a.example/1"), None);
    }

    #[test]
    fn the_age_is_the_time_since_it_was_true() {
        let mut kept = CachedAnswer::new("u", None, String::new());
        kept.at -= 3 * 3_600;
        assert!(kept.age() >= Duration::from_secs(3 * 3_600));
        assert!(kept.into_revalidated().age() < Duration::from_secs(60));
    }

    #[test]
    fn only_so_many_answers_are_kept() {
        let home = tempfile::tempdir().unwrap();
        let cache = AnswerCache::new(home.path());
        for number in 0..MAX_ANSWERS + 5 {
            cache.store(&CachedAnswer::new(&number.to_string(), None, String::new())).unwrap();
        }
        assert_eq!(fs::read_dir(&cache.folder).unwrap().count(), MAX_ANSWERS);
    }
}
