//! A host in a separate process, to be killed or counted; the process runs this test binary.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use switchboard_catalog::ServerStatus;
use switchboard_fleet::SupervisorCommand as Order;
use switchboard_host::Host;

use crate::processes::{files_of, zombies_of};
use crate::stage::{SERVER, Stage, eventually, id, options};

const HOME: &str = "FAULT_HOST_HOME";
const RESTARTS: &str = "FAULT_HOST_RESTARTS";

/// A running host; killed when the value is dropped.
pub(crate) struct AnotherProcess {
    child: Child,
    said: BufReader<std::process::ChildStdout>,
}

impl AnotherProcess {
    /// Starts a host with the servers of `stage`, and restarts [`SERVER`] this many times.
    pub(crate) fn start(stage: &Stage, restarts: usize) -> Self {
        stage.write_config();
        let name = concat!(module_path!(), "::the_other_process");
        let name = name.split_once("::").unwrap().1;
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", name, "--ignored", "--nocapture"])
            .env(HOME, stage.home.path())
            .env(RESTARTS, restarts.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let said = BufReader::new(child.stdout.take().unwrap());
        Self { child, said }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns the next line that is addressed to the test.
    pub(crate) fn hear(&mut self) -> String {
        for line in self.said.by_ref().lines() {
            let line = line.unwrap();
            if let Some(said) = line.strip_prefix('>') {
                return said.to_owned();
            }
        }
        panic!("the other process ended without a word");
    }
}

impl Drop for AnotherProcess {
    fn drop(&mut self) {
        // `kill` fails only if the process has already exited.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn tell(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "\n>{line}").unwrap();
    out.flush().unwrap();
}

#[tokio::test]
#[ignore = "started by the other tests here"]
async fn the_other_process() {
    let (Ok(home), Ok(restarts)) = (std::env::var(HOME), std::env::var(RESTARTS)) else { return };
    let config = Path::new(&home).join("config.json");
    let limit = Duration::from_secs(30);
    let host = Host::start(options(Path::new(&home), config, true, limit)).unwrap();
    host.wait_settled(None).await;
    tell("ready");
    let count: usize = restarts.parse().unwrap();
    if count > 0 {
        restart(&host, 5).await;
        let before = steady().await;
        let us = std::process::id();
        restart(&host, count).await;
        // Idle threads of the runtime may have ended in between.
        let same = async || {
            let (files, threads) = holdings();
            files <= before.0 && threads <= before.1 && zombies_of(us) == 0
        };
        eventually("files, threads and zombies are as before", limit, same).await;
        tell("as before");
    }
    // The parent holds the other end, so this lasts until the process is killed.
    let wait = || std::io::stdin().lock().read_line(&mut String::new());
    let _ended = tokio::task::spawn_blocking(wait).await;
    host.stop().await;
}

async fn restart(host: &Host, times: usize) {
    let mut changes = host.fleet().changes();
    for _ in 0..times {
        host.command(Order::Restart(id(SERVER))).await;
        for wanted in [ServerStatus::Starting, ServerStatus::Ready] {
            while changes.load().servers[&id(SERVER)].status != wanted {
                tokio::time::timeout(Duration::from_secs(20), changes.changed()).await.unwrap();
            }
        }
    }
}

/// Returns the counts of open files and threads of this process, once they are stable.
async fn steady() -> (usize, usize) {
    let mut last = (holdings(), 0);
    for _ in 0..300 {
        tokio::time::sleep(Duration::from_millis(50)).await;
        let now = holdings();
        last = if now == last.0 { (now, last.1 + 1) } else { (now, 0) };
        if last.1 == 20 {
            break;
        }
    }
    last.0
}

/// Returns the counts of open files and threads of this process.
fn holdings() -> (usize, usize) {
    let threads = std::fs::read_dir("/proc/self/task").unwrap().count();
    (files_of(std::process::id()), threads)
}
