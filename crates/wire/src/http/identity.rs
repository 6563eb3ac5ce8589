//! Who answers at an address: another certificate or machine may be another server.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::reply::WireResponse;

/// A name with several addresses would otherwise be another server at every turn.
const MIN_NOTICE_INTERVAL: Duration = Duration::from_secs(60);

/// Who answered last.
#[derive(Debug, Default)]
pub(super) struct ServerIdentity(Mutex<IdentityState>);

#[derive(Debug, Default)]
struct IdentityState {
    fingerprint: Option<IdentityFingerprint>,
    noticed: Option<Instant>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct IdentityFingerprint {
    address: Option<IpAddr>,
    certificate: Option<Vec<u8>>,
}

impl ServerIdentity {
    /// Whether somebody else answers than before. What is not told for being too early is told by
    /// a later answer.
    pub(super) fn has_changed(&self, response: &WireResponse) -> bool {
        let (address, certificate) = response.remote_identity();
        self.record(address, certificate, Instant::now())
    }

    fn record(&self, address: Option<IpAddr>, certificate: Option<&[u8]>, now: Instant) -> bool {
        let mut known = self.0.lock();
        let same = |face: &IdentityFingerprint| {
            face.address == address && face.certificate.as_deref() == certificate
        };
        let is_first = known.fingerprint.is_none();
        let is_early =
            known.noticed.is_some_and(|last| now.duration_since(last) < MIN_NOTICE_INTERVAL);
        if known.fingerprint.as_ref().is_some_and(same) || is_early {
            return false;
        }
        known.fingerprint =
            Some(IdentityFingerprint { address, certificate: certificate.map(<[u8]>::to_vec) });
        if !is_first {
            known.noticed = Some(now);
        }
        !is_first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_certificate_or_address_is_noticed_once_and_not_at_every_turn() {
        let one = "192.0.2.1".parse().ok();
        let two = "192.0.2.2".parse().ok();
        let identity = ServerIdentity::default();
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        for (moment, address, certificate, noticed) in [
            (0, one, &b"a"[..], false),
            (1, one, b"a", false),
            (2, one, b"b", true),
            (3, one, b"b", false),
            (4, two, b"b", false),
            (5, one, b"b", false),
            (63, two, b"b", true),
            (64, one, b"c", false),
            (124, one, b"c", true),
        ] {
            let told = identity.record(address, Some(certificate), at(moment));
            assert_eq!(told, noticed, "after {moment} s");
        }
    }
}
