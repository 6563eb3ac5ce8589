//! Locked packages: version and digest from a registry, compared with the local caches.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use switchboard_config::{Environment, ServerConfig, Transport};
use switchboard_vetting::{FetchedPackage, command_packages};

use crate::packages::confirmed::ConfirmedPackages;
use crate::packages::npx_cache::{CachedPackage, cache_folder, cached_versions};
use crate::packages::python_cache::{caches, unpacked_digests};

/// A package that a server's command downloads and runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageSpec {
    /// The package ecosystem: `npm` or `PyPI`.
    pub ecosystem: &'static str,
    pub name: String,
    /// The exact version, if the command has one.
    pub version: Option<String>,
}

/// A package at the time of locking.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockedPackage {
    /// The package ecosystem: `npm` or `PyPI`.
    pub ecosystem: String,
    pub name: String,
    pub version: String,
    /// Digest of the download, in the registry's format.
    pub integrity: String,
}

/// The evidence on this machine about a locked package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    Same,
    Other,
    /// The registry must be asked.
    None,
}

/// Returns the packages that a server's command downloads, for ecosystems that publish digests.
#[must_use]
pub fn fetched_packages(server: &ServerConfig) -> Vec<PackageSpec> {
    let Transport::Stdio { command, args, .. } = &server.transport else { return Vec::new() };
    let words: Vec<&str> =
        std::iter::once(command.as_str()).chain(args.iter().map(String::as_str)).collect();
    let spec = |package: FetchedPackage| {
        // Packages from a URL or a repository have no entry in a registry.
        let is_plain = !package.name.contains("://") && !package.name.contains("git+");
        let is_known = matches!(package.ecosystem, "npm" | "PyPI");
        (is_plain && is_known).then(|| PackageSpec {
            ecosystem: package.ecosystem,
            name: package.name,
            version: package.version.filter(|_| package.is_pinned),
        })
    };
    command_packages(&words).into_iter().filter_map(spec).collect()
}

impl LockedPackage {
    /// Returns the evidence in this machine's caches, as the server's command would use them.
    #[must_use]
    pub fn evidence(
        &self,
        server: &ServerConfig,
        environment: &Environment,
        confirmed: &ConfirmedPackages,
    ) -> Evidence {
        if self.ecosystem != "npm" {
            let is_confirmed = confirmed.covers(self, &self.unpacked_digests(server, environment));
            return if is_confirmed { Evidence::Same } else { Evidence::None };
        }
        let cache = cache_folder(environment, |name| variable(server, name));
        let found = cache.map(|cache| cached_versions(&cache, &self.name)).unwrap_or_default();
        let is_same =
            |one: &CachedPackage| one.version == self.version && one.integrity == self.integrity;
        // Without an exact version in the command, any cached version may run.
        let is_exact = fetched_packages(server)
            .iter()
            .any(|spec| spec.name == self.name && spec.version.as_ref() == Some(&self.version));
        let counts = |one: &&CachedPackage| !is_exact || one.version == self.version;
        let counted: Vec<&CachedPackage> = found.iter().filter(counts).collect();
        if counted.is_empty() {
            Evidence::None
        } else if counted.iter().all(|one| is_same(one)) {
            Evidence::Same
        } else if counted.iter().any(|one| one.version == self.version && !is_same(one)) {
            Evidence::Other
        } else {
            // Other versions were cached for other commands.
            Evidence::None
        }
    }

    /// Returns the digests of the files that `uv` and `pipx` have unpacked for the package.
    #[must_use]
    pub fn unpacked_digests(
        &self,
        server: &ServerConfig,
        environment: &Environment,
    ) -> Vec<String> {
        if self.ecosystem != "PyPI" {
            return Vec::new();
        }
        let caches = caches(environment, |name| variable(server, name));
        unpacked_digests(&caches, &self.name, &self.version)
    }

    /// Returns the name and version for display.
    #[must_use]
    pub fn display_name(&self) -> String {
        format!("{}@{}", self.name, self.version)
    }
}

fn variable(server: &ServerConfig, name: &str) -> Option<PathBuf> {
    // Only the entry's own variables: the host's environment does not reach the server.
    let Transport::Stdio { env, .. } = &server.transport else { return None };
    env.get(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}
