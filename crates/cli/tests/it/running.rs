//! A process that a test started: its output as it comes, signals, a bounded end.

use std::io::{Read, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

/// Generous, because other tests start servers at the same time.
pub(crate) const TEST_TIMEOUT: Duration = Duration::from_secs(60);

/// How a process ended and what it wrote.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// The one JSON document that standard output holds.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|cause| panic!("not one JSON document ({cause}): {self:?}"))
    }

    /// The same, when it ended with this code.
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:?}");
        self
    }
}

/// What one pipe has carried so far, and whether it has ended.
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

    /// Waits until what was heard is enough; `false` when it was not in time.
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

/// A process; it is killed when the value is dropped.
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

    /// Types something.
    pub(crate) fn say(&mut self, text: &str) {
        let input = self.child.stdin.as_mut().expect("the input is still open");
        // A program that has ended is noticed by what it printed.
        _ = input.write_all(text.as_bytes()).and_then(|()| input.flush());
    }

    pub(crate) fn close_input(&mut self) {
        self.child.stdin.take();
    }

    /// Waits until standard output holds this text.
    pub(crate) fn wait_for(&self, text: &str) {
        let found = self.stdout.wait(TEST_TIMEOUT, |so_far, _| so_far.contains(text));
        assert!(found, "`{text}` did not come: {:?} {:?}", self.stdout.text(), self.stderr.text());
    }

    /// Waits until standard error holds something; nothing when the program ends without it.
    pub(crate) fn wait_for_error<T>(&self, find: impl Fn(&str) -> Option<T>) -> Option<T> {
        self.wait_for_error_within(TEST_TIMEOUT, find)
    }

    /// The same, with another limit.
    pub(crate) fn wait_for_error_within<T>(
        &self,
        limit: Duration,
        find: impl Fn(&str) -> Option<T>,
    ) -> Option<T> {
        let found = self.stderr.wait(limit, |so_far, ended| ended || find(so_far).is_some());
        assert!(found, "it did not come: {:?}", self.stderr.text());
        find(&self.stderr.text())
    }

    /// Waits until standard error holds this text.
    pub(crate) fn wait_for_note(&self, text: &str) {
        let found = self.stderr.wait(TEST_TIMEOUT, |so_far, _| so_far.contains(text));
        assert!(found, "`{text}` did not come: {:?} {:?}", self.stdout.text(), self.stderr.text());
    }

    /// What standard output holds so far.
    pub(crate) fn printed_text(&self) -> String {
        self.stdout.text()
    }

    /// Waits until a whole line of standard output is what is wanted, and gives it.
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

    /// Waits until there is something in standard output, and gives it.
    pub(crate) fn wait_for_some<T>(&self, find: impl Fn(&str) -> Option<T>) -> T {
        self.stdout.wait(TEST_TIMEOUT, |so_far, _| find(so_far).is_some());
        let told = self.stdout.text();
        let warned = self.stderr.text();
        find(&told).unwrap_or_else(|| panic!("it did not come: {told:?} {warned:?}"))
    }

    /// Waits until standard output holds the one text, and the other one after it.
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

    /// Everything on standard output so far.
    pub(crate) fn output_text(&self) -> String {
        self.stdout.text()
    }

    /// Presses Ctrl-C, so to speak.
    pub(crate) fn interrupt(&self) {
        self.signal("INT");
    }

    pub(crate) fn signal(&self, name: &str) {
        let signal = format!("-{name}");
        let pid = self.pid().to_string();
        let sent = Command::new("kill").args([&signal, &pid]).status().expect("`kill` can be run");
        assert!(sent.success(), "process {pid} could not be sent {name}");
    }

    /// Ends it at once, as `kill -9` does.
    pub(crate) fn kill(&mut self) {
        // Failing to kill means that it has already ended.
        _ = self.child.kill();
        _ = self.child.wait();
    }

    /// Waits for the end, but not longer than `limit`; the input stays as it is.
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

/// Asks again and again until there is an answer; nothing when there is none in time.
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

/// Waits until a file holds this text, and gives all of it.
pub(crate) fn wait_for_text(file: &Path, text: &str) -> String {
    let read = || std::fs::read_to_string(file).ok().filter(|found| found.contains(text));
    poll(TEST_TIMEOUT, read)
        .unwrap_or_else(|| panic!("`{text}` did not appear in {}", file.display()))
}

/// The processes that wrote their start into this trace, in order.
pub(crate) fn started_pids(trace: &Path) -> Vec<u32> {
    let text = std::fs::read_to_string(trace).unwrap_or_default();
    let events = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let starts = events.filter(|event| event["event"] == "start");
    starts.filter_map(|event| u32::try_from(event["pid"].as_u64()?).ok()).collect()
}

/// Whether a process runs; one that has ended and only waits to be reaped does not.
pub(crate) fn is_alive(pid: u32) -> bool {
    if !Path::new("/proc/self/stat").exists() {
        let mut asked = Command::new("kill");
        asked.args(["-0", &pid.to_string()]).stderr(Stdio::null());
        return asked.status().expect("`kill` can be run").success();
    }
    let line = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name in brackets may hold anything; what follows the last one is plain.
    let state = line.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    state.is_some_and(|state| state != 'Z' && state != 'X')
}

/// Fails unless the process is gone within this time.
pub(crate) fn assert_gone(pid: u32, limit: Duration) {
    let gone = poll(limit, || (!is_alive(pid)).then_some(()));
    assert!(gone.is_some(), "process {pid} is still there after {limit:?}");
}
