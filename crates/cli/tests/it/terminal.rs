//! The program in a pseudo-terminal: its screen output in order, and the keys typed.

use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::running::poll;
use crate::switchboard::Switchboard;

/// Ctrl-C, Ctrl-D, Escape and the Up arrow, which recalls earlier lines.
pub(crate) const CTRL_C: &str = "\u{3}";
pub(crate) const CTRL_D: &str = "\u{4}";
pub(crate) const ESCAPE: &str = "\u{1b}";
pub(crate) const UP: &str = "\u{1b}[A";

/// Timeout of a wait; generous, because other tests start servers at the same time.
const TEST_TIMEOUT: Duration = Duration::from_secs(30);

/// A terminal that runs the program; both are ended when the value is dropped.
pub(crate) struct Terminal {
    child: Child,
    output: Receiver<Vec<u8>>,
    raw: Vec<u8>,
    /// The output so far without colours and cursor movements.
    plain: String,
    /// Length of the part that has been waited for.
    done: usize,
    pid_file: PathBuf,
}

impl Terminal {
    pub(crate) fn open(switchboard: &Switchboard, words: &[&str]) -> Self {
        Self::open_with(switchboard, words, &[])
    }

    /// Opens a terminal with additional environment variables.
    pub(crate) fn open_with(
        switchboard: &Switchboard,
        words: &[&str],
        variables: &[(&str, &str)],
    ) -> Self {
        switchboard.trust_new_servers();
        Self::open_wary(switchboard, words, variables)
    }

    /// Opens a terminal in which new servers are asked about, unless the configuration says
    /// otherwise.
    pub(crate) fn open_wary(
        switchboard: &Switchboard,
        words: &[&str],
        variables: &[(&str, &str)],
    ) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let pid_file = switchboard.path(&format!(".pid-{number}"));
        let program = switchboard.command(words);
        let mut typed = vec![program.get_program().to_str().unwrap()];
        typed.extend(program.get_args().map(|word| word.to_str().unwrap()));
        let typed: Vec<String> =
            typed.iter().map(|word| format!("'{}'", word.replace('\'', r"'\''"))).collect();
        // The terminal is wide, so no line wraps; `exec` replaces the shell with the program.
        let shell = format!(
            "stty cols 200 rows 50; echo $$ > '{}'; exec {}",
            pid_file.display(),
            typed.join(" ")
        );
        let mut command = Command::new("script");
        command.args(["-qec", &shell, "/dev/null"]);
        for (name, value) in program.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command
            .current_dir(program.get_current_dir().unwrap())
            .env("SHELL", "/bin/sh")
            .env("TERM", "xterm")
            .env_remove("VISUAL")
            .env_remove("EDITOR")
            .env_remove("SWITCHBOARD_MODEL")
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut out = child.stdout.take().unwrap();
        let (sender, output) = channel();
        std::thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(length @ 1..) = out.read(&mut chunk) {
                if sender.send(chunk[..length].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self { child, output, raw: Vec::new(), plain: String::new(), done: 0, pid_file }
    }

    /// Types a text.
    pub(crate) fn say(&mut self, text: &str) {
        let input = self.child.stdin.as_mut().unwrap();
        // The caller notices an exited program by its output.
        _ = input.write_all(text.as_bytes()).and_then(|()| input.flush());
    }

    /// Waits for this text after everything waited for before; returns the text in between.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, text: &str) -> String {
        let deadline = Instant::now() + TEST_TIMEOUT;
        loop {
            if let Some((before, _)) = self.new_text().split_once(text) {
                let before = before.to_owned();
                self.done += before.len() + text.len();
                return before;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.output.recv_timeout(left) {
                Ok(chunk) => self.take(&chunk),
                Err(_) => panic!("`{text}` did not come after {:?}", shorten(&self.plain)),
            }
        }
    }

    /// Presses a key until this text appears: keys pressed before the program reads single keys may
    /// be lost.
    #[track_caller]
    pub(crate) fn press(&mut self, key: &str, text: &str) -> String {
        for _ in 0..10 {
            self.say(key);
            let until = Instant::now() + Duration::from_secs(1);
            while !self.new_text().contains(text) {
                let left = until.saturating_duration_since(Instant::now());
                match self.output.recv_timeout(left) {
                    Ok(chunk) => self.take(&chunk),
                    Err(_) => break,
                }
            }
            if self.new_text().contains(text) {
                break;
            }
        }
        self.wait_for(text)
    }

    /// Waits for the prompt, at which lines can be typed.
    #[track_caller]
    pub(crate) fn prompt(&mut self) -> String {
        self.wait_for("> ")
    }

    /// Types a line at the prompt.
    pub(crate) fn line(&mut self, text: &str) {
        self.prompt();
        self.say(&format!("{text}\r"));
    }

    /// Returns the whole output so far, byte for byte.
    pub(crate) fn raw(&self) -> String {
        String::from_utf8_lossy(&self.raw).into_owned()
    }

    /// Returns the pid of the program.
    pub(crate) fn pid(&self) -> u32 {
        let read = || std::fs::read_to_string(&self.pid_file).ok()?.trim().parse().ok();
        poll(TEST_TIMEOUT, read).expect("the shell wrote its process id")
    }

    /// Kills the program at once, as `kill -9` does, and waits until it is gone.
    pub(crate) fn kill(mut self) {
        signal(self.pid(), "KILL");
        _ = self.child.wait();
    }

    /// Closes the terminal, as closing a window does; returns the pid of its program.
    pub(crate) fn hang_up(mut self) -> u32 {
        let pid = self.pid();
        self.child.kill().expect("the terminal is still there");
        self.child.wait().expect("the terminal was ours");
        pid
    }

    /// Waits for the program to exit; returns the exit code and the output since the last wait.
    #[track_caller]
    pub(crate) fn finish(mut self) -> (i32, String) {
        let deadline = Instant::now() + TEST_TIMEOUT;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.output.recv_timeout(left) {
                Ok(chunk) => self.take(&chunk),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("it does not end: {:?}", self.plain),
            }
        }
        let status = self.child.wait().unwrap();
        (status.code().unwrap_or(-1), self.new_text().to_owned())
    }

    /// Returns the output since the last wait.
    fn new_text(&self) -> &str {
        self.plain.get(self.done..).unwrap_or_default()
    }

    fn take(&mut self, chunk: &[u8]) {
        self.raw.extend(chunk);
        self.plain = plain(&String::from_utf8_lossy(&self.raw));
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // `kill` fails only if the processes have already exited.
        if let Ok(text) = std::fs::read_to_string(&self.pid_file)
            && let Ok(pid) = text.trim().parse()
            && matches!(self.child.try_wait(), Ok(None))
        {
            signal(pid, "KILL");
        }
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// Sends a signal to a process that this test started.
pub(crate) fn signal(pid: u32, name: &str) {
    let mut kill = Command::new("kill");
    kill.args([&format!("-{name}"), &pid.to_string()]).stderr(Stdio::null());
    // An exited process cannot receive a signal.
    _ = kill.status();
}

/// Returns the text without escape sequences and carriage returns. An incomplete sequence is
/// omitted, together with all that follows.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\r' => {}
            '\u{1b}' => match rest.next() {
                Some('[') => {
                    rest.by_ref().find(|c| ('@'..='~').contains(c));
                }
                Some(']') => {
                    rest.by_ref().find(|c| *c == '\u{7}');
                }
                Some(_) | None => {}
            },
            c => out.push(c),
        }
    }
    out
}

/// Returns the end of the output, without the white space that a spinner leaves behind.
fn shorten(text: &str) -> String {
    let words: Vec<&str> = text.split("   ").filter(|part| !part.trim().is_empty()).collect();
    let text = words.join(" ");
    let from = text.floor_char_boundary(text.len().saturating_sub(1_500));
    text.split_at(from).1.to_owned()
}
