//! While a person thinks about what a server asked, the calls on that connection do not run out.

use std::time::Duration;

use switchboard_wire::{Peer, RpcError};
use tokio::time::sleep;

use crate::answers::AnswerFuture;

/// How often is looked whether anybody still waits.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Waits for an answer as long as the connection is there and a call on it waits too.
///
/// A call's limit without progress does not count meanwhile; its limit in all does.
pub(crate) async fn hold_deadlines(
    peer: &Peer,
    mut answering: AnswerFuture<'_>,
) -> Result<String, RpcError> {
    let mut has_waited = false;
    loop {
        has_waited |= peer.renew_waits() > 0;
        tokio::select! {
            biased;
            answer = &mut answering => return answer,
            _ = peer.wait_until_closed() => return Err(withdrawn_error("the connection is over")),
            () = sleep(POLL_INTERVAL) => {}
        }
        if has_waited && peer.in_flight() == 0 {
            return Err(withdrawn_error("the call that needed it has ended"));
        }
    }
}

fn withdrawn_error(why: &str) -> RpcError {
    RpcError::new(RpcError::INTERNAL_ERROR, why)
}
