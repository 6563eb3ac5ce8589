//! Signal handling: Ctrl-C, termination requests and hang-ups.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::exit_code;

/// A listener for Ctrl-C and termination requests.
#[derive(Clone, Debug)]
pub struct Interrupts {
    token: CancellationToken,
    taken: Arc<AtomicBool>,
    presses: watch::Receiver<u32>,
    /// Whether questions remain that another face can answer after a hang-up.
    waiting: Arc<OnceLock<NeededCheck>>,
}

/// Returns whether a question waits for a person.
struct NeededCheck(Box<dyn Fn() -> bool + Send + Sync>);

/// Counts every Ctrl-C while it exists.
pub struct Presses {
    taken: Arc<AtomicBool>,
    presses: watch::Receiver<u32>,
}

enum Signal {
    Interrupt,
    Terminate,
    /// The terminal was closed.
    #[cfg_attr(windows, expect(dead_code, reason = "Windows ends the process anyway"))]
    HangUp,
}

impl Interrupts {
    /// Starts listening; the first signal cancels the token, the second one exits at once.
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
                    // Pending questions outlive the terminal, because another one can answer them.
                } else if token.is_cancelled() {
                    leave();
                } else {
                    token.cancel();
                }
            }
        });
        interrupts
    }

    /// Returns the token that the first signal cancels.
    pub const fn token(&self) -> &CancellationToken {
        &self.token
    }

    /// Ignores hang-ups while `is_needed` returns true.
    pub fn ignore_hang_up_while(&self, is_needed: impl Fn() -> bool + Send + Sync + 'static) {
        // A process runs one host or follows one call, so the check is set only once.
        _ = self.waiting.set(NeededCheck(Box::new(is_needed)));
    }

    /// Makes Ctrl-C only be counted, until the returned value is dropped.
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
    /// Waits for the next Ctrl-C.
    pub async fn next(&mut self) {
        if self.presses.changed().await.is_err() {
            // The sender lives as long as the listener task, so this only happens during shutdown.
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

#[cfg(unix)]
struct ProcessSignals {
    terminate: Option<tokio::signal::unix::Signal>,
    hang_up: Option<tokio::signal::unix::Signal>,
}

#[cfg(unix)]
impl ProcessSignals {
    fn listen() -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        // A process that was started with hang-ups ignored must continue to ignore them.
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

/// Returns whether this process was started with `SIGHUP` ignored, as by `nohup`; Linux only.
#[cfg(unix)]
fn ignores_hang_up() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // `SIGHUP` is signal 1, the lowest bit of the mask.
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

    async fn next(&mut self) -> Signal {
        // Windows ends the process a few seconds after its window, so closing is not a hang-up.
        tokio::select! {
            _ = tokio::signal::ctrl_c() => Signal::Interrupt,
            Some(()) = async { self.break_off.as_mut()?.recv().await } => Signal::Terminate,
            Some(()) = async { self.close.as_mut()?.recv().await } => Signal::Terminate,
            Some(()) = async { self.log_off.as_mut()?.recv().await } => Signal::Terminate,
            Some(()) = async { self.shut_down.as_mut()?.recv().await } => Signal::Terminate,
        }
    }
}
