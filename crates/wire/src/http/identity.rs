//! Who answers at an address: another certificate or machine may be another server.

use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::reply::Reply;

/// A name with several addresses would otherwise be another server at every turn.
const SELDOM: Duration = Duration::from_secs(60);

/// Who answered last.
#[derive(Debug, Default)]
pub(super) struct Identity(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    face: Option<Face>,
    noticed: Option<Instant>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Face {
    address: Option<IpAddr>,
    certificate: Option<Vec<u8>>,
}

impl Identity {
    /// Whether somebody else answers than before. What is not told for being too early is told by
    /// a later answer.
    pub(super) fn is_another(&self, response: &Reply) -> bool {
        let (address, certificate) = response.answerer();
        self.note(address, certificate, Instant::now())
    }

    fn note(&self, address: Option<IpAddr>, certificate: Option<&[u8]>, now: Instant) -> bool {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let same =
            |face: &Face| face.address == address && face.certificate.as_deref() == certificate;
        let is_first = known.face.is_none();
        let is_early = known.noticed.is_some_and(|last| now.duration_since(last) < SELDOM);
        if known.face.as_ref().is_some_and(same) || is_early {
            return false;
        }
        known.face = Some(Face { address, certificate: certificate.map(<[u8]>::to_vec) });
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
        let (one, two) = ("192.0.2.1".parse().ok(), "192.0.2.2".parse().ok());
        let (identity, start) = (Identity::default(), Instant::now());
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
            let told = identity.note(address, Some(certificate), at(moment));
            assert_eq!(told, noticed, "after {moment} s");
        }
    }
}
