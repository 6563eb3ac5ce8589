//! Ctrl-C and a polite request to end: what they mean depends on who listens.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::exit_code;

/// Listens to Ctrl-C and to requests to end.
#[derive(Clone, Debug)]
pub(crate) struct Interrupts {
    token: CancellationToken,
    taken: Arc<AtomicBool>,
    presses: watch::Receiver<u32>,
}

/// Every Ctrl-C from here on.
pub(crate) struct Presses {
    taken: Arc<AtomicBool>,
    presses: watch::Receiver<u32>,
}

enum Signal {
    Interrupt,
    Terminate,
}

impl Interrupts {
    /// The first signal gives up what runs, the second leaves at once; unless somebody takes over.
    pub(crate) fn watch() -> Self {
        let (count, presses) = watch::channel(0);
        let interrupts = Self { token: CancellationToken::new(), taken: Arc::default(), presses };
        let (token, taken) = (interrupts.token.clone(), Arc::clone(&interrupts.taken));
        tokio::spawn(async move {
            loop {
                let signal = next().await;
                if matches!(signal, Signal::Interrupt) && taken.load(Ordering::Acquire) {
                    count.send_modify(|count| *count += 1);
                } else if token.is_cancelled() {
                    leave();
                } else {
                    token.cancel();
                }
            }
        });
        interrupts
    }

    /// Is cancelled by the first signal.
    pub(crate) const fn token(&self) -> &CancellationToken {
        &self.token
    }

    /// From here on Ctrl-C is only counted, until this is dropped.
    pub(crate) fn take_over(&self) -> Presses {
        self.taken.store(true, Ordering::Release);
        let mut presses = self.presses.clone();
        presses.mark_unchanged();
        Presses { taken: Arc::clone(&self.taken), presses }
    }
}

impl Presses {
    /// Waits for the next one.
    pub(crate) async fn next(&mut self) {
        if self.presses.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for Presses {
    fn drop(&mut self) {
        self.taken.store(false, Ordering::Release);
    }
}

#[expect(clippy::exit, reason = "the person has asked twice; servers are ended by their keepers")]
fn leave() {
    crate::ui::terminal::give_back();
    std::process::exit(i32::from(exit_code::INTERRUPTED));
}

#[cfg(unix)]
async fn next() -> Signal {
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
        _ = tokio::signal::ctrl_c() => Signal::Interrupt,
        () = terminated => Signal::Terminate,
    }
}

#[cfg(not(unix))]
async fn next() -> Signal {
    tokio::signal::ctrl_c().await.ok();
    Signal::Interrupt
}
