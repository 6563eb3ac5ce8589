//! Queries package registries for the version and digest of a package.

use std::time::Duration;

use serde::Deserialize;
use switchboard_text::hex_digest;
use tokio::time::timeout;

use crate::fetch::fetch;
use crate::packages::locked::{LockedPackage, PackageSpec};

/// Maximum size of a response, in bytes. File lists of old packages are long.
const MAX_ANSWER_BYTES: usize = 32 * 1024 * 1024;
/// How long one registry query may take.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(20);
/// Media type of the `PyPI` file list with digests.
const PYPI_FILES_TYPE: &str = "application/vnd.pypi.simple.v1+json";

/// URLs of the registries, as configured for the package managers of this machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PackageRegistries {
    pub npm: Option<String>,
    pub pypi: Option<String>,
}

impl PackageRegistries {
    /// Returns the exact version of a package and its digest, or the reason if it is unavailable.
    pub async fn look_up(&self, wanted: &PackageSpec) -> Result<LockedPackage, String> {
        let asking = async {
            match wanted.ecosystem {
                "npm" => self.npm(wanted).await,
                _ => self.pypi(wanted).await,
            }
        };
        let answer = timeout(REQUEST_TIMEOUT, asking).await;
        let (version, integrity) = answer.map_err(|_| "the request timed out".to_owned())??;
        let ecosystem = wanted.ecosystem.to_owned();
        let name = wanted.name.clone();
        Ok(LockedPackage { ecosystem, name, version, integrity })
    }

    async fn npm(&self, wanted: &PackageSpec) -> Result<(String, String), String> {
        #[derive(Deserialize)]
        struct NpmVersion {
            version: String,
            dist: NpmDist,
        }
        #[derive(Deserialize)]
        struct NpmDist {
            integrity: Option<String>,
            shasum: Option<String>,
        }
        let registry = self.npm.as_deref().ok_or("`npm config get registry` returns no URL")?;
        let version = wanted.version.as_deref().unwrap_or("latest");
        let name = wanted.name.replace('/', "%2f");
        let url = format!("{}/{name}/{version}", registry.trim_end_matches('/'));
        let found: NpmVersion =
            parse_json(&fetch(&url, "application/json", MAX_ANSWER_BYTES).await?)?;
        // Old versions have only a SHA-1.
        let digest = found.dist.integrity.or(found.dist.shasum.map(|sum| format!("sha1:{sum}")));
        Ok((found.version, digest.ok_or("the registry reports no digest")?))
    }

    /// Returns one digest over all files of a version, because the platform decides which is used.
    async fn pypi(&self, wanted: &PackageSpec) -> Result<(String, String), String> {
        #[derive(Deserialize)]
        struct PypiFiles {
            files: Vec<PypiFile>,
        }
        #[derive(Deserialize)]
        struct PypiFile {
            filename: String,
            hashes: PypiHashes,
        }
        #[derive(Deserialize)]
        struct PypiHashes {
            sha256: Option<String>,
        }
        let index = self.pypi.as_deref().ok_or("no package index: set `PIP_INDEX_URL`")?;
        let version = wanted.version.clone().ok_or("the command has no exact version")?;
        let name = wanted.name.to_lowercase().replace(['_', '.'], "-");
        let url = format!("{}/{name}/", index.trim_end_matches('/'));
        let listed: PypiFiles = parse_json(&fetch(&url, PYPI_FILES_TYPE, MAX_ANSWER_BYTES).await?)?;
        let mut sums = Vec::new();
        for file in listed.files.iter().filter(|file| has_version(&file.filename, &version)) {
            let sum = file.hashes.sha256.as_deref().ok_or("the index reports no digest")?;
            sums.push(format!("{} {sum}", file.filename));
        }
        if sums.is_empty() {
            return Err(format!("the index has no version {version}"));
        }
        // An index may list the files in any order.
        sums.sort();
        Ok((version, format!("files:{}", hex_digest(sums.iter().map(String::as_bytes)))))
    }
}

/// Returns whether a file belongs to a version: `name-1.2.3-….whl` or `name-1.2.3.tar.gz`.
fn has_version(filename: &str, version: &str) -> bool {
    let stem = [".tar.gz", ".zip", ".tar.bz2"].iter().find_map(|end| filename.strip_suffix(end));
    match (filename.strip_suffix(".whl"), stem) {
        (Some(wheel), _) => wheel.split('-').nth(1) == Some(version),
        (None, Some(stem)) => stem.rsplit_once('-').is_some_and(|(_, found)| found == version),
        (None, None) => false,
    }
}

fn parse_json<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, String> {
    serde_json::from_slice(bytes).map_err(|error| format!("invalid response: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_a_version_are_told_by_their_names() {
        for (file, expected) in [
            ("some_pkg-1.2.3-py3-none-any.whl", true),
            ("some_pkg-1.2.3.tar.gz", true),
            ("some-pkg-1.2.3.tar.gz", true),
            ("some_pkg-1.2.30-py3-none-any.whl", false),
            ("some_pkg-1.2.3.post1.tar.gz", false),
            ("some_pkg-1.2.3.egg", false),
        ] {
            assert_eq!(has_version(file, "1.2.3"), expected, "{file}");
        }
    }
}
