//! Serves clients over HTTP until told to end, then lets calls finish.

use std::io;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::Door;
use super::post::router;
use crate::gateway::Gateway;

/// How long calls may go on after we were asked to end.
const DRAIN: Duration = Duration::from_secs(30);

/// Serves whoever connects, until `stop`; then takes no more and waits for what runs.
///
/// # Errors
/// When connections can no longer be taken.
pub async fn serve(
    gateway: Gateway,
    door: Door,
    listener: TcpListener,
    stop: CancellationToken,
) -> io::Result<()> {
    let ending = {
        let (stop, gateway) = (stop.clone(), gateway.clone());
        async move {
            stop.cancelled().await;
            gateway.end_streams();
        }
    };
    let serving =
        axum::serve(listener, router(gateway, door)).with_graceful_shutdown(ending).into_future();
    tokio::pin!(serving);
    tokio::select! {
        served = &mut serving => served,
        () = stop.cancelled() => tokio::time::timeout(DRAIN, serving).await.unwrap_or(Ok(())),
    }
}
