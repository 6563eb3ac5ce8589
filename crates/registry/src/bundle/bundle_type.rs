//! A bundle in memory, so that the same bytes are shown, checked and unpacked.

use std::io::Read as _;
use std::path::Path;
use std::time::Duration;

use sha2::{Digest as _, Sha256};

use crate::bundle::archive::{ArchiveLimits, PackedFile};
use crate::bundle::error::BundleError;
use crate::bundle::manifest::Manifest;
use crate::bundle::{archive, manifest};
use crate::client::{FetchLimits, FetchOutcome, Redirects, RegistryFetcher, RegistryReach};

/// A bundle whose archive and manifest have been checked.
#[derive(Debug, Clone)]
pub struct Bundle {
    pub manifest: Manifest,
    /// The SHA-256 digest, in lowercase hexadecimal.
    pub sha256: String,
    pub(super) bytes: Vec<u8>,
    pub(super) files: Vec<PackedFile>,
}

impl Bundle {
    /// Reads a bundle from a file.
    pub fn open(
        file: &Path,
        limits: &ArchiveLimits,
        expected: Option<&str>,
    ) -> Result<Self, BundleError> {
        let failed = |error: std::io::Error| BundleError::NotRead(error.to_string());
        let opened = std::fs::File::open(file).map_err(failed)?;
        let mut bytes = Vec::new();
        // One byte more than the limit shows that a file is too large, without reading all of it.
        opened
            .take(limits.packed_bytes.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(failed)?;
        Self::read(bytes, limits, expected)
    }

    /// Reads the bytes of a bundle. The digest is checked before the content is parsed.
    pub fn read(
        bytes: Vec<u8>,
        limits: &ArchiveLimits,
        expected: Option<&str>,
    ) -> Result<Self, BundleError> {
        let sha256 = digest(&bytes);
        if let Some(expected) = expected {
            let expected = expected.trim().trim_start_matches("sha256:").to_ascii_lowercase();
            if expected != sha256 {
                return Err(BundleError::OtherDigest { expected, found: sha256 });
            }
        }
        let files = archive::files(&bytes, limits)?;
        let entry = files.iter().find(|file| file.name == "manifest.json");
        let entry = entry.ok_or_else(|| BundleError::NoManifest("it is missing".to_owned()))?;
        if entry.bytes > manifest::MAX_MANIFEST_BYTES {
            return Err(BundleError::NoManifest("it is too large".to_owned()));
        }
        let manifest = Manifest::read(&archive::read(&mut archive::open(&bytes)?, entry)?)?;
        Ok(Self { manifest, sha256, bytes, files })
    }

    /// Returns the number of files and their total size in bytes.
    #[must_use]
    pub fn size(&self) -> (usize, u64) {
        (self.files.len(), self.files.iter().map(|file| file.bytes).sum())
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.files.iter().any(|file| file.name == name)
    }
}

pub(super) fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// How long a download may take; a bundle may have 256 MiB.
const FETCH_TIMEOUT: Duration = Duration::from_secs(300);

/// Fetches a bundle and verifies its digest.
pub async fn fetch_bundle(
    url: &str,
    sha256: &str,
    reach: RegistryReach,
) -> Result<Bundle, BundleError> {
    let limits = ArchiveLimits::default();
    let failed = |why: String| BundleError::NotRead(why);
    reach.check(url).map_err(failed)?;
    let answer_bytes = usize::try_from(limits.packed_bytes).unwrap_or(usize::MAX);
    let wanted = FetchLimits { answer: FETCH_TIMEOUT, answer_bytes, pages: 1 };
    let fetcher = RegistryFetcher::new(wanted, Redirects::Within(reach)).map_err(failed)?;
    let address = url.parse().map_err(|_| failed("it is not a URL".to_owned()))?;
    match fetcher.get(address, None).await {
        FetchOutcome::Answer { bytes, .. } => Bundle::read(bytes, &limits, Some(sha256)),
        FetchOutcome::Unchanged => Err(failed("unexpected status 304".to_owned())),
        FetchOutcome::Status(status) => Err(failed(format!("HTTP status {status}"))),
        FetchOutcome::Elsewhere => {
            Err(failed("it redirects to an address that is not allowed".to_owned()))
        }
        FetchOutcome::TooLong => {
            Err(BundleError::TooLarge(format!("more than {answer_bytes} bytes")))
        }
        FetchOutcome::Failed(cause) => Err(failed(cause)),
    }
}

#[cfg(test)]
#[path = "bundle_tests.rs"]
mod tests;
