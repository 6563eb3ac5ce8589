//! Answers that nobody waits for: so many at a time, whatever the other side asks.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::error::RpcError;
use crate::peer::{Inbound, Peer, PeerShared};
use switchboard_json::Json;

/// So many of them may be on their way. Who asks for more and does not read gets no answer.
pub(crate) const MAX_PENDING_REFUSALS: usize = 64;

impl Peer {
    /// Turns a request of the other side down, without waiting for it to leave.
    pub fn refuse(&self, id: Json, why: RpcError) {
        self.shared.spawn_reply(id, Err(why));
    }
}

impl PeerShared {
    /// Somebody else answers at the server's address than before.
    pub(crate) fn notify_identity_change(&self) {
        self.enqueue_inbound(Inbound::IdentityChanged);
    }

    /// Answers beside whoever reads, who must not stand still for it.
    pub(crate) fn spawn_reply(self: &Arc<Self>, id: Json, answer: Result<&'static str, RpcError>) {
        let Ok(turn) = Arc::clone(&self.refusals).try_acquire_owned() else {
            self.counts.dropped.fetch_add(1, Ordering::Relaxed);
            return;
        };
        let peer = Peer { shared: Arc::clone(self) };
        tokio::spawn(async move {
            // If the connection has ended, so has the request.
            _ = peer.reply(&id, answer).await;
            drop(turn);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WireLimits;
    use tokio::io::{AsyncReadExt as _, duplex, split};

    /// The other side reads nothing, so that every answer waits for room.
    #[tokio::test]
    async fn refusals_that_nobody_reads_are_bounded() {
        let (ours, mut theirs) = duplex(1_024);
        let (reader, writer) = split(ours);
        let limits = WireLimits { queued_bytes: 1_024, ..WireLimits::default() };
        let (peer, _inbound) = crate::stream::start(reader, writer, limits);
        for id in 0..1_000 {
            peer.refuse(Json::from_trusted(id.to_string()), RpcError::new(-32_603, "busy"));
        }
        let dropped = peer.stats().dropped;
        assert_eq!(dropped, 1_000 - u64::try_from(MAX_PENDING_REFUSALS).unwrap());
        // Once somebody reads, there is room again.
        let mut read = Vec::new();
        while read.iter().filter(|byte| **byte == b'\n').count() < MAX_PENDING_REFUSALS {
            let mut bytes = [0; 512];
            let count = theirs.read(&mut bytes).await.unwrap();
            read.extend_from_slice(&bytes[..count]);
        }
        while peer.shared.refusals.available_permits() < MAX_PENDING_REFUSALS {
            tokio::task::yield_now().await;
        }
        peer.refuse(Json::from_trusted("1000".to_owned()), RpcError::new(-32_603, "busy"));
        assert_eq!(peer.stats().dropped, dropped);
    }
}
