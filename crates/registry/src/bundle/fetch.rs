//! Fetches a bundle that a registry names, and checks that it is the one it means.

use std::time::Duration;

use crate::bundle::archive::ArchiveLimits;
use crate::bundle::bundle_type::Bundle;
use crate::bundle::error::BundleError;
use crate::client::{FetchLimits, FetchOutcome, Redirects, RegistryFetcher, RegistryReach};

/// How long a bundle may take.
const FETCH_TIMEOUT: Duration = Duration::from_secs(300);

/// Fetches a bundle.
///
/// # Errors
/// When it cannot be fetched, or is another one than its digest says.
pub async fn fetch(url: &str, sha256: &str, reach: RegistryReach) -> Result<Bundle, BundleError> {
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
