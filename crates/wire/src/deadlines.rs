//! One task per peer that lets requests go whose time is over.
//!
//! A timer of its own for each request would cost more than the rest of its bookkeeping; nearly
//! all of them are answered long before.

use std::sync::Weak;

use tokio::time::sleep_until;

use crate::peer::PeerShared;

/// Watches the deadlines until the peer is gone.
pub(crate) async fn watch_deadlines(peer: Weak<PeerShared>) {
    let Some(earlier) = peer.upgrade().map(|shared| shared.in_flight.deadline_notify()) else {
        return;
    };
    loop {
        let next = match peer.upgrade() {
            Some(shared) => shared.in_flight.expire(),
            None => return,
        };
        match next {
            None => earlier.notified().await,
            Some(next) => tokio::select! {
                () = sleep_until(next) => {}
                () = earlier.notified() => {}
            },
        }
    }
}
