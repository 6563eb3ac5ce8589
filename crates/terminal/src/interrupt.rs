//! Ctrl-C and a polite request to end: what they mean depends on who listens.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::exit_code;

/// Listens to Ctrl-C and to requests to end.
#[derive(Clone, Debug)]
pub struct Interrupts {
    token: CancellationToken,
    taken: Arc<AtomicBool>,
    presses: watch::Receiver<u32>,
    /// What may wait for another face when the terminal has gone.
    waiting: Arc<OnceLock<NeededCheck>>,
}

/// Tells whether something waits here for a person.
struct NeededCheck(Box<dyn Fn() -> bool + Send + Sync>);

/// Every Ctrl-C from here on.
pub struct Presses {
    taken: Arc<AtomicBool>,
    presses: watch::Receiver<u32>,
}

enum Signal {
    Interrupt,
    Terminate,
    /// The terminal was closed.
    #[cfg_attr(windows, expect(dead_code, reason = "what ends there cannot be outlived"))]
    HangUp,
}

impl Interrupts {
    /// The first signal gives up what runs, the second leaves at once; unless somebody takes over.
    pub fn watch() -> Self {
        let (count, presses) = watch::channel(0);
        let interrupts = Self {
            token: CancellationToken::new(),
            taken: Arc::default(),
            presses,
            waiting: Arc::default(),
        };
        let token = interrupts.token.clone();
        let taken = Arc::clone(&interrupts.taken);
        let waiting = Arc::clone(&interrupts.waiting);
        let mut signals = ProcessSignals::listen();
        tokio::spawn(async move {
            loop {
                let signal = signals.next().await;
                if matches!(signal, Signal::Interrupt) && taken.load(Ordering::Acquire) {
                    count.send_modify(|count| *count += 1);
                } else if matches!(signal, Signal::HangUp)
                    && waiting.get().is_some_and(|NeededCheck(is_needed)| is_needed())
                {
                    // What waits outlives the terminal: it can be answered from another one.
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
    pub const fn token(&self) -> &CancellationToken {
        &self.token
    }

    /// From here on a closed terminal ends nothing while something waits there.
    pub fn ignore_hang_up_while(&self, is_needed: impl Fn() -> bool + Send + Sync + 'static) {
        // A process runs one host or follows one call, so no other check has been set before.
        _ = self.waiting.set(NeededCheck(Box::new(is_needed)));
    }

    /// From here on Ctrl-C is only counted, until this is dropped.
    pub fn take_over(&self) -> Presses {
        self.taken.store(true, Ordering::Release);
        let mut presses = self.presses.clone();
        presses.mark_unchanged();
        Presses { taken: Arc::clone(&self.taken), presses }
    }
}

impl std::fmt::Debug for NeededCheck {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Needed").field(&(self.0)()).finish()
    }
}

impl Presses {
    /// Waits for the next one.
    pub async fn next(&mut self) {
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
    crate::tty::restore_mode();
    std::process::exit(i32::from(exit_code::INTERRUPTED));
}

/// What the system tells us, from the moment on at which it is made.
#[cfg(unix)]
struct ProcessSignals {
    terminate: Option<tokio::signal::unix::Signal>,
    hang_up: Option<tokio::signal::unix::Signal>,
}

#[cfg(unix)]
impl ProcessSignals {
    fn listen() -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        // Whoever started us so that we outlive the terminal is right.
        let hang_up = (!ignores_hang_up()).then(|| signal(SignalKind::hangup()).ok()).flatten();
        Self { terminate: signal(SignalKind::terminate()).ok(), hang_up }
    }

    async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = tokio::signal::ctrl_c() => Signal::Interrupt,
            () = wait_for_signal(self.terminate.as_mut()) => Signal::Terminate,
            () = wait_for_signal(self.hang_up.as_mut()) => Signal::HangUp,
        }
    }
}

#[cfg(unix)]
async fn wait_for_signal(signal: Option<&mut tokio::signal::unix::Signal>) {
    match signal {
        Some(signal) => {
            signal.recv().await;
        }
        None => std::future::pending().await,
    }
}

/// Whether we were started with hang-ups ignored, as `nohup` does; known only on Linux.
#[cfg(unix)]
fn ignores_hang_up() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // The first bit is that of the first signal, which is this one.
    ignored.is_some_and(|mask| mask & 1 == 1)
}

#[cfg(windows)]
struct ProcessSignals {
    close: Option<tokio::signal::windows::CtrlClose>,
    log_off: Option<tokio::signal::windows::CtrlLogoff>,
    shut_down: Option<tokio::signal::windows::CtrlShutdown>,
    break_off: Option<tokio::signal::windows::CtrlBreak>,
}

#[cfg(windows)]
impl ProcessSignals {
    fn listen() -> Self {
        use tokio::signal::windows::{ctrl_break, ctrl_close, ctrl_logoff, ctrl_shutdown};
        Self {
            close: ctrl_close().ok(),
            log_off: ctrl_logoff().ok(),
            shut_down: ctrl_shutdown().ok(),
            break_off: ctrl_break().ok(),
        }
    }

    /// A window that is closed takes us with it a few seconds later, whatever waits, so that is no
    /// hang-up that could be outlived.
    async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = tokio::signal::ctrl_c() => Signal::Interrupt,
            Some(()) = async { self.break_off.as_mut()?.recv().await } => Signal::Terminate,
            Some(()) = async { self.close.as_mut()?.recv().await } => Signal::Terminate,
            Some(()) = async { self.log_off.as_mut()?.recv().await } => Signal::Terminate,
            Some(()) = async { self.shut_down.as_mut()?.recv().await } => Signal::Terminate,
        }
    }
}
