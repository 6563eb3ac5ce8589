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

/// A bundle.
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
    ///
    /// # Errors
    /// If the file is not a valid bundle, or has another digest than expected.
    pub fn open(
        file: &Path,
        limits: &ArchiveLimits,
        expected: Option<&str>,
    ) -> Result<Self, BundleError> {
        let failed = |error: std::io::Error| BundleError::NotRead(error.to_string());
        let opened = std::fs::File::open(file).map_err(failed)?;
        let mut bytes = Vec::new();
        opened
            .take(limits.packed_bytes.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(failed)?;
        Self::read(bytes, limits, expected)
    }

    /// Reads the bytes of a bundle. The digest is checked before the content is parsed.
    ///
    /// # Errors
    /// If the bytes are not a valid bundle, or have another digest than expected.
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
        let entry = entry.ok_or_else(|| BundleError::NoManifest("it is not there".to_owned()))?;
        if entry.bytes > manifest::MAX_MANIFEST_BYTES {
            return Err(BundleError::NoManifest("it is too long".to_owned()));
        }
        let manifest = Manifest::read(&archive::contents(&bytes, entry)?)?;
        Ok(Self { manifest, sha256, bytes, files })
    }

    /// Returns the number of files and their total size in bytes.
    #[must_use]
    pub fn size(&self) -> (usize, u64) {
        (self.files.len(), self.files.iter().map(|file| file.bytes).sum())
    }

    /// Returns whether the bundle contains a file.
    pub(super) fn has(&self, name: &str) -> bool {
        self.files.iter().any(|file| file.name == name)
    }
}

/// Returns the SHA-256 digest in lowercase hexadecimal.
pub(super) fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// How long a download may take.
const FETCH_TIMEOUT: Duration = Duration::from_secs(300);

/// Fetches a bundle.
///
/// # Errors
/// If the bundle cannot be fetched, is not valid, or has another digest.
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
    let address = url.parse().map_err(|_| failed("it is no web address".to_owned()))?;
    match fetcher.get(address, None).await {
        FetchOutcome::Answer { bytes, .. } => Bundle::read(bytes, &limits, Some(sha256)),
        FetchOutcome::Unchanged => Err(failed("the answer is empty".to_owned())),
        FetchOutcome::Status(status) => Err(failed(format!("the answer is {status}"))),
        FetchOutcome::Elsewhere => {
            Err(failed("it leads to a place that is not visited".to_owned()))
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
