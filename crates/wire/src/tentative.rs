//! A peer that is closed when it is dropped, unless it is kept.

use crate::peer::Peer;

/// A peer that is closed when it is dropped, unless it is kept: for those who may be interrupted.
#[derive(Debug)]
pub struct TentativePeer(Option<Peer>);

impl TentativePeer {
    /// Holds a peer until it is clear whether it is wanted.
    #[must_use]
    pub const fn new(peer: Peer) -> Self {
        Self(Some(peer))
    }

    /// The peer is wanted.
    pub fn keep(mut self) {
        self.0 = None;
    }
}

impl Drop for TentativePeer {
    fn drop(&mut self) {
        if let Some(peer) = &self.0 {
            peer.close("the connection was not wanted");
        }
    }
}
