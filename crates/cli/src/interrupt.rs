//! Ctrl-C and a polite request to end: the first gives up what runs, the second leaves at once.

use tokio_util::sync::CancellationToken;

use crate::exit_code;

/// A token that is cancelled by the first interrupt.
pub(crate) fn watch() -> CancellationToken {
    let token = CancellationToken::new();
    let interrupted = token.clone();
    tokio::spawn(async move {
        next().await;
        interrupted.cancel();
        next().await;
        leave();
    });
    token
}

#[expect(clippy::exit, reason = "the person has asked twice; servers are ended by their keepers")]
fn leave() {
    std::process::exit(i32::from(exit_code::INTERRUPTED));
}

#[cfg(unix)]
async fn next() {
    use tokio::signal::unix::{SignalKind, signal};
    let terminated = async {
        match signal(SignalKind::terminate()) {
            Ok(mut terminate) => {
                terminate.recv().await;
            }
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        () = terminated => {}
    }
}

#[cfg(not(unix))]
async fn next() {
    tokio::signal::ctrl_c().await.ok();
}
