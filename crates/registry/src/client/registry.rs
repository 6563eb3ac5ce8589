//! One registry: search, the versions of a server, and the details of one version.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use reqwest::Url;
use serde_json::Value;

use crate::client::address::RegistryAddress;
use crate::client::cache::{AnswerCache, CachedAnswer};
use crate::client::fetch::{FetchLimits, FetchOutcome, Redirects, RegistryFetcher};
use crate::error::RegistryError;
use crate::server_json::{ListedServer, ListingPage, is_registry_name};

/// Maximum number of servers per request.
const PAGE_SIZE: usize = 100;

/// A client for one registry.
#[derive(Debug, Clone)]
pub struct Registry {
    address: RegistryAddress,
    fetcher: RegistryFetcher,
    cache: Option<AnswerCache>,
    limits: FetchLimits,
}

/// A result, and its age if it came from the cache.
#[derive(Debug, Clone, PartialEq)]
pub struct WithAge<T> {
    pub value: T,
    /// The age of a cached result; `None` if the registry answered.
    pub age: Option<Duration>,
    /// Number of entries that could not be parsed.
    pub unreadable: usize,
}

impl Registry {
    /// Creates a client that caches responses below the `state` folder.
    pub fn new(
        address: RegistryAddress,
        state: Option<&Path>,
        limits: FetchLimits,
    ) -> Result<Self, RegistryError> {
        let fetcher = RegistryFetcher::new(limits, Redirects::SameOrigin).map_err(|cause| {
            RegistryError::Unreachable { registry: address.text().to_owned(), cause }
        })?;
        Ok(Self { address, fetcher, cache: state.map(AnswerCache::new), limits })
    }

    /// Returns the address of the registry.
    #[must_use]
    pub const fn address(&self) -> &RegistryAddress {
        &self.address
    }

    /// Searches the latest versions for those whose name, title or description has all words.
    pub async fn search(
        &self,
        words: &[String],
        limit: usize,
    ) -> Result<WithAge<Vec<ListedServer>>, RegistryError> {
        let words: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
        // A registry searches for one substring; the longest word is the most selective.
        let asked = words.iter().max_by_key(|word| word.chars().count()).cloned();
        let wanted = |one: &ListedServer| {
            let server = &one.server;
            let text = [
                Some(server.name.as_str()),
                server.title.as_deref(),
                server.description.as_deref(),
            ];
            let text = text.into_iter().flatten().collect::<Vec<_>>().join("\n").to_lowercase();
            words.iter().all(|word| text.contains(word))
        };
        let mut found = WithAge { value: Vec::new(), age: None, unreadable: 0 };
        let mut names = BTreeSet::new();
        let mut cursors = BTreeSet::new();
        let mut cursor: Option<String> = None;
        for _ in 0..self.limits.pages {
            // At least 30, since this side filters out entries that lack the other words.
            let size = limit.clamp(30, PAGE_SIZE).to_string();
            let mut query = vec![("version", "latest"), ("limit", size.as_str())];
            query.extend(asked.as_deref().map(|asked| ("search", asked)));
            query.extend(cursor.as_deref().map(|cursor| ("cursor", cursor)));
            let page = self.page(self.address.endpoint(&["servers"], &query)).await?;
            found.age = found.age.max(page.age);
            found.unreadable += page.value.unreadable;
            // A registry that does not support `version=latest` lists every version.
            let new = page.value.servers.into_iter().filter(|one| wanted(one));
            found.value.extend(new.filter(|one| names.insert(one.server.name.clone())));
            // A cursor that repeats would otherwise fetch the same pages until the limit.
            cursor = page.value.next.filter(|next| cursors.insert(next.clone()));
            if cursor.is_none() || found.value.len() >= limit {
                break;
            }
        }
        found.value.truncate(limit);
        Ok(found)
    }

    /// Returns all versions of a server, in the order of the registry.
    pub async fn versions(&self, name: &str) -> Result<WithAge<Vec<ListedServer>>, RegistryError> {
        check_name(name)?;
        let page = self.page(self.address.endpoint(&["servers", name, "versions"], &[])).await;
        let page = page.map_err(|error| not_found_error(error, name, None))?;
        let of_name = |one: &ListedServer| one.server.name == name;
        let value = page.value.servers.into_iter().filter(of_name).collect();
        Ok(WithAge { value, age: page.age, unreadable: page.value.unreadable })
    }

    /// Returns one version of a server; the latest if `version` is `None`.
    pub async fn show(
        &self,
        name: &str,
        version: Option<&str>,
    ) -> Result<WithAge<ListedServer>, RegistryError> {
        check_name(name)?;
        let asked = version.unwrap_or("latest");
        // A dot segment would change the path of the URL.
        if asked.is_empty() || matches!(asked, "." | "..") {
            return Err(RegistryError::Unknown {
                name: name.to_owned(),
                version: Some(asked.to_owned()),
            });
        }
        let url = self.address.endpoint(&["servers", name, "versions", asked], &[]);
        let (body, age) =
            self.get(url).await.map_err(|error| not_found_error(error, name, version))?;
        let value: Value =
            serde_json::from_slice(&body).map_err(|error| self.unreadable(&error.to_string()))?;
        let listed = ListedServer::read(&value)
            .ok_or_else(|| self.unreadable("it is not a server entry"))?;
        // A registry must not substitute another server or version for the requested one.
        let is_it = listed.server.name == name
            && version.is_none_or(|version| listed.server.version() == Some(version));
        if !is_it {
            return Err(self.unreadable("it describes another server"));
        }
        Ok(WithAge { value: listed, age, unreadable: 0 })
    }

    async fn page(&self, url: Url) -> Result<WithAge<ListingPage>, RegistryError> {
        let (body, age) = self.get(url).await?;
        let page = ListingPage::read(&body).map_err(|why| self.unreadable(&why))?;
        Ok(WithAge { unreadable: page.unreadable, value: page, age })
    }

    /// Returns the response, or the cached one with its age if the registry is unreachable.
    async fn get(&self, url: Url) -> Result<(Vec<u8>, Option<Duration>), RegistryError> {
        let registry = || self.address.text().to_owned();
        let kept = self.cache.as_ref().and_then(|cache| cache.get(url.as_str()));
        let etag = kept.as_ref().and_then(|kept| kept.etag.as_deref());
        let failed = match self.fetcher.get(url.clone(), etag).await {
            FetchOutcome::Answer { bytes, etag } => {
                self.cache_answer(&url, &bytes, etag);
                return Ok((bytes, None));
            }
            FetchOutcome::Unchanged => match kept {
                Some(kept) => {
                    let kept = kept.into_revalidated();
                    self.store(&kept);
                    return Ok((kept.body.into_bytes(), None));
                }
                None => return Err(self.unreadable("unexpected status 304")),
            },
            FetchOutcome::Elsewhere => {
                return Err(RegistryError::LeadsElsewhere { registry: registry() });
            }
            FetchOutcome::TooLong => {
                return Err(RegistryError::TooLong {
                    registry: registry(),
                    limit_bytes: self.limits.answer_bytes,
                });
            }
            // Temporary statuses: an older response is better than none.
            FetchOutcome::Status(status @ (408 | 429 | 500..)) => {
                RegistryError::Refused { registry: registry(), status }
            }
            FetchOutcome::Status(status) => {
                return Err(RegistryError::Refused { registry: registry(), status });
            }
            FetchOutcome::Failed(cause) => {
                RegistryError::Unreachable { registry: registry(), cause }
            }
        };
        let kept = kept.ok_or(failed)?;
        let age = kept.age();
        Ok((kept.body.into_bytes(), Some(age)))
    }

    /// Caches a valid response. An invalid one must not replace a valid one in the cache.
    fn cache_answer(&self, url: &Url, bytes: &[u8], etag: Option<String>) {
        let is_json = serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok();
        if let Some(body) = String::from_utf8(bytes.to_vec()).ok().filter(|_| is_json) {
            self.store(&CachedAnswer::new(url.as_str(), etag, body));
        }
    }

    fn store(&self, kept: &CachedAnswer) {
        if let Some(cache) = &self.cache {
            // A cache that cannot be written is missed only while the registry is unreachable.
            _ = cache.store(kept);
        }
    }

    fn unreadable(&self, why: &str) -> RegistryError {
        RegistryError::Unreadable { registry: self.address.text().to_owned(), why: why.to_owned() }
    }
}

fn check_name(name: &str) -> Result<(), RegistryError> {
    if is_registry_name(name) { Ok(()) } else { Err(RegistryError::BadName(name.to_owned())) }
}

fn not_found_error(error: RegistryError, name: &str, version: Option<&str>) -> RegistryError {
    match error {
        // Registries reject a name or version that they do not know in different ways.
        RegistryError::Refused { status: 404 | 400 | 410 | 422, .. } => {
            RegistryError::Unknown { name: name.to_owned(), version: version.map(str::to_owned) }
        }
        error => error,
    }
}

#[cfg(test)]
#[path = "registry_tests.rs"]
mod tests;
