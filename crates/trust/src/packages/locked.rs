//! Packages in the lock file: the exact version and the digest that a registry told, held against what would run.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use switchboard_config::{Environment, ServerConfig, Transport};
use switchboard_vetting::{FetchedPackage, command_packages};

use crate::packages::confirmed::ConfirmedPackages;
use crate::packages::npx_cache::{CachedPackage, cache_folder, cached_versions};
use crate::packages::python_cache::{caches, unpacked_digests};

/// A package that a server's command fetches and runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageSpec {
    /// As databases of packages call it: `npm` or `PyPI`.
    pub ecosystem: &'static str,
    pub name: String,
    /// The exact version that the command names, if it does.
    pub version: Option<String>,
}

/// A package as it was when the lock was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockedPackage {
    /// As databases of packages call it: `npm` or `PyPI`.
    pub ecosystem: String,
    pub name: String,
    pub version: String,
    /// The digest of what is fetched, as the registry writes it.
    pub integrity: String,
}

/// What is known here of a locked package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// It was fetched before, and is the one that was locked.
    Same,
    /// It was fetched before, and is another one.
    Other,
    /// Nothing; the registry has to be asked.
    None,
}

/// The packages that a server's command fetches, of the kinds whose registries tell digests.
#[must_use]
pub fn fetched_packages(server: &ServerConfig) -> Vec<PackageSpec> {
    let Transport::Stdio { command, args, .. } = &server.transport else { return Vec::new() };
    let words: Vec<&str> =
        std::iter::once(command.as_str()).chain(args.iter().map(String::as_str)).collect();
    let spec = |package: FetchedPackage| {
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
    /// What the caches of this machine say about it, as the server's command would use them.
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
        // Who names no version may get any that was fetched.
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
            // Other versions were fetched for other commands.
            Evidence::None
        }
    }

    /// The digests of what runners of Python have unpacked of it.
    #[must_use]
    pub fn unpacked_digests(
        &self,
        server: &ServerConfig,
        environment: &Environment,
    ) -> Vec<String> {
        if self.ecosystem != "PyPI" {
            return Vec::new();
        }
        unpacked_digests(
            &caches(environment, |name| variable(server, name)),
            &self.name,
            &self.version,
        )
    }

    /// Its name and version, to be shown.
    #[must_use]
    pub fn display_name(&self) -> String {
        format!("{}@{}", self.name, self.version)
    }
}

/// A folder that a server's own variables name: ours do not reach it.
fn variable(server: &ServerConfig, name: &str) -> Option<PathBuf> {
    let Transport::Stdio { env, .. } = &server.transport else { return None };
    env.get(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}
