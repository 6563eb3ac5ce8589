//! A process started by a test, with its output as it arrives, signals and a bounded wait for its
//! exit.

use std::io::{Read, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

/// Timeout of a wait; generous, because other tests start servers at the same time.
pub(crate) const TEST_TIMEOUT: Duration = Duration::from_secs(60);

/// Exit code and output of a process.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// Parses standard output as one JSON document.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|cause| panic!("not one JSON document ({cause}): {self:?}"))
    }

    /// Returns the value after checking the exit code.
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:?}");
        self
    }
}

/// The bytes read from a pipe so far, and whether it has ended.
#[derive(Default)]
struct PipeOutput {
    so_far: Mutex<(Vec<u8>, bool)>,
    more: Condvar,
}

impl PipeOutput {
    fn listen(mut pipe: impl Read + Send + 'static) -> Arc<Self> {
        let heard = Arc::new(Self::default());
        let told = Arc::clone(&heard);
        thread::spawn(move || {
            let mut chunk = [0; 4096];
            loop {
                let length = pipe.read(&mut chunk).unwrap_or(0);
                let mut so_far = told.so_far.lock().unwrap();
                so_far.0.extend_from_slice(&chunk[..length]);
                so_far.1 = length == 0;
                told.more.notify_all();
                if length == 0 {
                    return;
                }
            }
        });
        heard
    }

    /// Waits until the output satisfies `enough`; returns false after `limit`.
    fn wait(&self, limit: Duration, enough: impl Fn(&str, bool) -> bool) -> bool {
        let so_far = self.so_far.lock().unwrap();
        let not_yet = |heard: &mut (Vec<u8>, bool)| {
            !heard.1 && !enough(&String::from_utf8_lossy(&heard.0), heard.1)
        };
        let (so_far, _) = self.more.wait_timeout_while(so_far, limit, not_yet).unwrap();
        enough(&String::from_utf8_lossy(&so_far.0), so_far.1)
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.so_far.lock().unwrap().0).into_owned()
    }
}

/// A running process; killed when the value is dropped.
pub(crate) struct RunningProcess {
    child: Child,
    stdout: Arc<PipeOutput>,
    stderr: Arc<PipeOutput>,
}

impl RunningProcess {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|cause| panic!("{command:?}: {cause}"));
        let stdout = PipeOutput::listen(child.stdout.take().unwrap());
        let stderr = PipeOutput::listen(child.stderr.take().unwrap());
        Self { child, stdout, stderr }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Writes a text to standard input.
    pub(crate) fn say(&mut self, text: &str) {
        let input = self.child.stdin.as_mut().expect("the input is still open");
        // The caller notices an exited program by its output.
        _ = input.write_all(text.as_bytes()).and_then(|()| input.flush());
    }

    pub(crate) fn close_input(&mut self) {
        self.child.stdin.take();
    }

    /// Waits until standard output contains this text.
    pub(crate) fn wait_for(&self, text: &str) {
        let found = self.stdout.wait(TEST_TIMEOUT, |so_far, _| so_far.contains(text));
        assert!(found, "`{text}` did not come: {:?} {:?}", self.stdout.text(), self.stderr.text());
    }

    /// Waits until `find` succeeds on standard error; returns `None` if the program exits first.
    pub(crate) fn wait_for_error<T>(&self, find: impl Fn(&str) -> Option<T>) -> Option<T> {
        self.wait_for_error_within(TEST_TIMEOUT, find)
    }

    /// Like [`Self::wait_for_error`], with another limit.
    pub(crate) fn wait_for_error_within<T>(
        &self,
        limit: Duration,
        find: impl Fn(&str) -> Option<T>,
    ) -> Option<T> {
        let found = self.stderr.wait(limit, |so_far, ended| ended || find(so_far).is_some());
        assert!(found, "it did not come: {:?}", self.stderr.text());
        find(&self.stderr.text())
    }

    /// Waits until standard error contains this text.
    pub(crate) fn wait_for_note(&self, text: &str) {
        let found = self.stderr.wait(TEST_TIMEOUT, |so_far, _| so_far.contains(text));
        assert!(found, "`{text}` did not come: {:?} {:?}", self.stdout.text(), self.stderr.text());
    }

    /// Returns the standard output so far.
    pub(crate) fn printed_text(&self) -> String {
        self.stdout.text()
    }

    /// Waits for a whole line of standard output that satisfies `wanted`, and returns it.
    pub(crate) fn wait_for_line(&self, wanted: impl Fn(&str) -> bool) -> String {
        let find = |so_far: &str| {
            let whole = so_far.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
            whole.map(str::to_owned).find(|line| wanted(line))
        };
        self.stdout.wait(TEST_TIMEOUT, |so_far, _| find(so_far).is_some());
        let told = self.stdout.text();
        let warned = self.stderr.text();
        find(&told).unwrap_or_else(|| panic!("no such line in {told:?} {warned:?}"))
    }

    /// Waits until `find` succeeds on standard output, and returns the result.
    pub(crate) fn wait_for_some<T>(&self, find: impl Fn(&str) -> Option<T>) -> T {
        self.stdout.wait(TEST_TIMEOUT, |so_far, _| find(so_far).is_some());
        let told = self.stdout.text();
        let warned = self.stderr.text();
        find(&told).unwrap_or_else(|| panic!("it did not come: {told:?} {warned:?}"))
    }

    /// Waits until standard output contains the first text and, after it, the second one.
    #[cfg(target_os = "linux")]
    pub(crate) fn wait_for_after(&self, first: &str, then: &str) {
        let both = |so_far: &str| so_far.split_once(first).is_some_and(|(_, on)| on.contains(then));
        let found = self.stdout.wait(TEST_TIMEOUT, |so_far, _| both(so_far));
        let told = self.stdout.text();
        let warned = self.stderr.text();
        assert!(found, "`{then}` did not come after `{first}`: {told:?} {warned:?}");
    }

    /// Waits for the first line of standard output.
    pub(crate) fn first_line(&self) -> String {
        self.wait_for("\n");
        self.stdout.text().lines().next().unwrap_or_default().to_owned()
    }

    /// Returns all of standard output so far.
    pub(crate) fn output_text(&self) -> String {
        self.stdout.text()
    }

    /// Sends SIGINT, as Ctrl-C does.
    pub(crate) fn interrupt(&self) {
        self.signal("INT");
    }

    pub(crate) fn signal(&self, name: &str) {
        let signal = format!("-{name}");
        let pid = self.pid().to_string();
        let sent = Command::new("kill").args([&signal, &pid]).status().expect("`kill` can be run");
        assert!(sent.success(), "process {pid} could not be sent {name}");
    }

    /// Kills the process at once, as `kill -9` does.
    pub(crate) fn kill(&mut self) {
        // `kill` fails only if the process has already exited.
        _ = self.child.kill();
        _ = self.child.wait();
    }

    /// Waits up to `limit` for the process to exit; its input stays open or closed as it is.
    pub(crate) fn finish_within(mut self, limit: Duration) -> Ran {
        let deadline = Instant::now() + limit;
        for pipe in [&self.stdout, &self.stderr] {
            pipe.wait(deadline.saturating_duration_since(Instant::now()), |_, ended| ended);
        }
        let left = deadline.saturating_duration_since(Instant::now());
        let status = poll(left, || self.child.try_wait().unwrap());
        let stdout = self.stdout.text();
        let stderr = self.stderr.text();
        let Some(status) = status else {
            panic!("it did not end within {limit:?}; so far it wrote {stdout:?} and {stderr:?}");
        };
        Ran { code: status.code().unwrap_or(-1), stdout, stderr }
    }
}

impl Drop for RunningProcess {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Calls `ask` repeatedly until it returns a value; returns `None` after `limit`.
pub(crate) fn poll<T>(limit: Duration, mut ask: impl FnMut() -> Option<T>) -> Option<T> {
    let deadline = Instant::now() + limit;
    loop {
        if let Some(answer) = ask() {
            return Some(answer);
        }
        if Instant::now() >= deadline {
            return None;
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// Waits until a file contains this text, and returns the whole content.
pub(crate) fn wait_for_text(file: &Path, text: &str) -> String {
    let read = || std::fs::read_to_string(file).ok().filter(|found| found.contains(text));
    poll(TEST_TIMEOUT, read)
        .unwrap_or_else(|| panic!("`{text}` did not appear in {}", file.display()))
}

/// Returns the processes that wrote their start into this trace, in order.
pub(crate) fn started_pids(trace: &Path) -> Vec<u32> {
    let text = std::fs::read_to_string(trace).unwrap_or_default();
    let events = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let starts = events.filter(|event| event["event"] == "start");
    starts.filter_map(|event| u32::try_from(event["pid"].as_u64()?).ok()).collect()
}

/// Returns whether a process runs; a zombie does not.
pub(crate) fn is_alive(pid: u32) -> bool {
    if !Path::new("/proc/self/stat").exists() {
        let mut asked = Command::new("kill");
        asked.args(["-0", &pid.to_string()]).stderr(Stdio::null());
        return asked.status().expect("`kill` can be run").success();
    }
    let line = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name in parentheses may contain anything; the fields after the last one are plain.
    let state = line.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    state.is_some_and(|state| state != 'Z' && state != 'X')
}

/// Fails unless the process is gone within this time.
pub(crate) fn assert_gone(pid: u32, limit: Duration) {
    let gone = poll(limit, || (!is_alive(pid)).then_some(()));
    assert!(gone.is_some(), "process {pid} is still there after {limit:?}");
}
