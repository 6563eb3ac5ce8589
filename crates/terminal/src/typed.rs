//! Lines that a person types while other work runs, unless another component uses the terminal.

#[cfg(unix)]
use std::sync::Arc;

use tokio::sync::mpsc;

#[cfg(unix)]
use watching::ReadGate;

/// Reads typed lines in the background.
#[derive(Debug)]
pub struct TypedLines {
    lines: Option<mpsc::Receiver<String>>,
    #[cfg(unix)]
    gate: Arc<ReadGate>,
}

impl TypedLines {
    /// Watches the terminal until dropped. Without a terminal, there are no lines.
    pub fn watch() -> Self {
        #[cfg(unix)]
        {
            use std::io::IsTerminal as _;
            let input = rustix::stdio::stdin();
            if input.is_terminal() { Self::watch_on(input) } else { Self::nobody() }
        }
        #[cfg(not(unix))]
        Self { lines: None }
    }

    /// Returns the next line; `None` once, when the input ends. Later calls never complete.
    pub async fn line(&mut self) -> Option<String> {
        let Some(lines) = &mut self.lines else { return std::future::pending().await };
        let line = lines.recv().await;
        if line.is_none() {
            self.lines = None;
        }
        line
    }

    /// Returns a line that was already typed.
    pub fn typed_ahead(&mut self) -> Option<String> {
        self.lines.as_mut()?.try_recv().ok()
    }

    /// Pauses reading; when this returns, no more input is consumed.
    pub fn pause(&self) {
        #[cfg(unix)]
        self.gate.pause();
    }

    /// Resumes reading typed lines.
    pub fn resume(&self) {
        #[cfg(unix)]
        self.gate.resume();
    }
}

#[cfg(unix)]
impl TypedLines {
    fn nobody() -> Self {
        Self { lines: None, gate: Arc::default() }
    }

    fn watch_on(input: impl std::os::fd::AsFd + Send + 'static) -> Self {
        // One chunk of input holds at most as many lines.
        let (sender, lines) = mpsc::channel(4_096);
        let gate = Arc::new(ReadGate::default());
        let theirs = Arc::clone(&gate);
        let thread = std::thread::Builder::new().name("typed".to_owned());
        match thread.spawn(move || watching::run(&input, &theirs, &sender)) {
            Ok(_) => Self { lines: Some(lines), gate },
            // Without the thread, typed lines are ignored; everything else works.
            Err(_) => Self::nobody(),
        }
    }
}

#[cfg(unix)]
impl Drop for TypedLines {
    fn drop(&mut self) {
        self.gate.close();
    }
}

#[cfg(unix)]
mod watching {
    use std::os::fd::AsFd;
    use std::time::Duration;

    use parking_lot::{Condvar, Mutex, MutexGuard};
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::io::Errno;
    use tokio::sync::mpsc;

    const POLL_INTERVAL: Duration = Duration::from_millis(100);

    /// Maximum length of a line; a longer one is discarded.
    const MAX_LINE_BYTES: usize = 1 << 20;

    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    enum GateState {
        #[default]
        Watching,
        Paused,
        Closed,
    }

    /// Controls whether the thread may read; it holds the lock while it reads.
    #[derive(Debug, Default)]
    pub(super) struct ReadGate {
        state: Mutex<GateState>,
        changed: Condvar,
    }

    impl ReadGate {
        pub(super) fn pause(&self) {
            self.change(GateState::Paused);
        }

        pub(super) fn resume(&self) {
            self.change(GateState::Watching);
        }

        pub(super) fn close(&self) {
            self.change(GateState::Closed);
        }

        fn change(&self, to: GateState) {
            *self.lock() = to;
            self.changed.notify_all();
        }

        fn lock(&self) -> MutexGuard<'_, GateState> {
            self.state.lock()
        }

        /// Waits until reading is allowed; `None` once the gate is closed.
        fn open(&self) -> Option<MutexGuard<'_, GateState>> {
            let mut state = self.lock();
            self.changed.wait_while(&mut state, |state| *state == GateState::Paused);
            (*state == GateState::Watching).then_some(state)
        }
    }

    /// Reads until the gate is closed, the input ends, or the receiver is dropped.
    pub(super) fn run(input: &impl AsFd, gate: &ReadGate, sender: &mpsc::Sender<String>) {
        let mut line = Vec::new();
        while !sender.is_closed() {
            let Some(open) = gate.open() else { return };
            send(&mut line, sender);
            drop(open);
            match poll_input(input, POLL_INTERVAL) {
                InputState::Nothing => continue,
                InputState::Something => {}
                InputState::Blind => return,
            }
            let Some(open) = gate.open() else { return };
            // Another reader may have consumed the input in the meantime, and reading would block.
            if !line.contains(&b'\n') && poll_input(input, Duration::ZERO) == InputState::Something
            {
                let mut chunk = [0; 4096];
                match rustix::io::read(input, &mut chunk) {
                    Ok(0) => return,
                    Ok(length) => line.extend(chunk.iter().take(length)),
                    Err(Errno::INTR | Errno::AGAIN) => {}
                    Err(_) => return,
                }
                // Before the gate may close: a line that was read must be in the channel when a
                // pause begins, or it would be lost.
                send(&mut line, sender);
                drop(open);
            } else {
                drop(open);
                std::thread::sleep(POLL_INTERVAL);
            }
        }
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum InputState {
        Nothing,
        Something,
        /// The input cannot be polled.
        Blind,
    }

    fn poll_input(input: &impl AsFd, limit: Duration) -> InputState {
        let limit = Timespec { tv_sec: 0, tv_nsec: limit.subsec_nanos().into() };
        let mut inputs = [PollFd::new(input, PollFlags::IN)];
        match poll(&mut inputs, Some(&limit)) {
            Ok(0) | Err(Errno::INTR | Errno::AGAIN) => InputState::Nothing,
            Ok(_) if inputs.iter().all(|input| input.revents().contains(PollFlags::NVAL)) => {
                InputState::Blind
            }
            Ok(_) => InputState::Something,
            Err(_) => InputState::Blind,
        }
    }

    fn send(text: &mut Vec<u8>, sender: &mpsc::Sender<String>) {
        while let Some(end) = text.iter().position(|byte| *byte == b'\n') {
            // Lines beyond the capacity come only from pasting; they wait for the next look.
            let Ok(permit) = sender.try_reserve() else { return };
            let line: Vec<u8> = text.drain(..=end).collect();
            let line = String::from_utf8_lossy(&line);
            permit.send(line.trim_end_matches(['\n', '\r']).to_owned());
        }
        if text.len() > MAX_LINE_BYTES {
            text.clear();
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::io::{Read as _, Write as _, pipe};
    use std::sync::{Arc, Weak};
    use std::time::{Duration, Instant};

    use super::{ReadGate, TypedLines};

    const TEST_TIMEOUT: Duration = Duration::from_secs(20);

    async fn next(typed: &mut TypedLines) -> Option<String> {
        tokio::time::timeout(TEST_TIMEOUT, typed.line()).await.expect("a line comes in time")
    }

    #[tokio::test]
    async fn whole_lines_come_and_the_end_is_told_once() {
        let (reader, mut writer) = pipe().unwrap();
        let mut typed = TypedLines::watch_on(reader);
        writer.write_all("stop\r\nhalf".as_bytes()).unwrap();
        assert_eq!(next(&mut typed).await.as_deref(), Some("stop"));
        writer.write_all(" größe\n".as_bytes()).unwrap();
        assert_eq!(next(&mut typed).await.as_deref(), Some("half größe"));
        drop(writer);
        assert_eq!(next(&mut typed).await, None);
        let again = tokio::time::timeout(Duration::from_millis(50), typed.line()).await;
        assert!(again.is_err(), "{again:?}");
    }

    /// Waits until the thread of a dropped value has ended.
    async fn wait_thread_end(gate: &Weak<ReadGate>) {
        let started = Instant::now();
        while gate.strong_count() > 0 {
            assert!(started.elapsed() < TEST_TIMEOUT, "the thread is still there");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    #[tokio::test]
    async fn what_is_typed_during_a_pause_or_afterwards_is_left_to_others() {
        let (reader, mut writer) = pipe().unwrap();
        let mut others = reader.try_clone().unwrap();
        let mut taken = |length: usize| {
            let mut bytes = vec![0; length];
            others.read_exact(&mut bytes).unwrap();
            String::from_utf8(bytes).unwrap()
        };
        let mut typed = TypedLines::watch_on(reader);
        writer.write_all(b"first\n").unwrap();
        assert_eq!(next(&mut typed).await.as_deref(), Some("first"));
        typed.pause();
        writer.write_all(b"for the menu\n").unwrap();
        let heard = tokio::time::timeout(Duration::from_millis(250), typed.line()).await;
        assert!(heard.is_err(), "{heard:?}");
        assert_eq!(taken(13), "for the menu\n");
        typed.resume();
        writer.write_all(b"for us\n").unwrap();
        assert_eq!(next(&mut typed).await.as_deref(), Some("for us"));
        let gate = Arc::downgrade(&typed.gate);
        drop(typed);
        writer.write_all(b"for the prompt\n").unwrap();
        wait_thread_end(&gate).await;
        assert_eq!(taken(15), "for the prompt\n");
    }

    #[tokio::test]
    async fn the_thread_ends_with_the_value_even_during_a_pause() {
        let (reader, _writer) = pipe().unwrap();
        let typed = TypedLines::watch_on(reader);
        typed.pause();
        let gate = Arc::downgrade(&typed.gate);
        drop(typed);
        wait_thread_end(&gate).await;
    }
}
