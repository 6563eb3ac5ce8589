//! Packages in the lock file: a version whose digest changed is not started.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::switchboard::Switchboard;

/// A registry on this machine with the answers that a test sets, by path.
#[derive(Clone)]
struct Registry {
    address: String,
    answers: Arc<Mutex<BTreeMap<String, Value>>>,
}

impl Registry {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let answers: Arc<Mutex<BTreeMap<String, Value>>> = Arc::default();
        let theirs = Arc::clone(&answers);
        // Ends with the test's process.
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
                let first = lines.next().unwrap().unwrap();
                while lines.next().is_some_and(|line| !line.unwrap().is_empty()) {}
                let path = first.split(' ').nth(1).unwrap().to_owned();
                let found = theirs.lock().unwrap().get(&path).map(Value::to_string);
                let (status, body) = match found {
                    Some(body) => ("200 OK", body),
                    None => ("404 Not Found", "{}".to_owned()),
                };
                let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n", body.len());
                write!(stream, "{head}Connection: close\r\n\r\n{body}").unwrap();
            }
        });
        Self { address, answers }
    }

    fn say(&self, path: &str, answer: Value) {
        self.answers.lock().unwrap().insert(path.to_owned(), answer);
    }

    fn npm(&self, version: &str, integrity: &str) {
        let answer = json!({"version": version, "dist": {"integrity": integrity}});
        self.say(&format!("/@some%2fserver/{version}"), answer.clone());
        self.say("/@some%2fserver/latest", answer);
    }

    fn pypi(&self, sum: &str) {
        let file = |name: &str, sum: &str| json!({"filename": name, "hashes": {"sha256": sum}});
        let files = [
            file("some_server-1.2.3-py3-none-any.whl", sum),
            file("some_server-1.2.4-py3-none-any.whl", "other"),
        ];
        self.say("/simple/some-server/", json!({ "files": files }));
    }
}

/// Returns a home in which a package runner starts the fixture server, regardless of the package.
fn home(registry: &Registry, runner: &str, spec: &[&str]) -> Switchboard {
    let mut switchboard = Switchboard::new();
    let journal = switchboard.text_path("started");
    let server = switchboard_testkit::binary();
    switchboard.script(
        &format!("bin/{runner}"),
        &format!("echo started >> '{journal}'\nexec '{}' echo\n", server.display()),
    );
    let path = std::env::var("PATH").unwrap();
    let programs = switchboard.folder().join("bin");
    switchboard.set("PATH", &format!("{}:{path}", programs.display()));
    switchboard.set("npm_config_registry", &registry.address);
    switchboard.set("PIP_INDEX_URL", &format!("{}/simple", registry.address));
    switchboard.configure(&json!({"srv": {"command": runner, "args": spec}}));
    switchboard
}

fn starts(switchboard: &Switchboard) -> usize {
    std::fs::read_to_string(switchboard.path("started")).unwrap_or_default().lines().count()
}

fn write_lock(switchboard: &Switchboard) -> Value {
    let text = std::fs::read_to_string(switchboard.path("switchboard.lock")).unwrap();
    let lock: Value = serde_json::from_str(&text).unwrap();
    lock["servers"]["srv"]["packages"].clone()
}

const CALL: [&str; 5] = ["call", "srv", "echo", "text=a", "--locked"];

/// Fails unless the server is refused with these words and was not started.
#[track_caller]
fn assert_refused(switchboard: &Switchboard, words: &str) {
    let before = starts(switchboard);
    let ran = switchboard.run(&CALL);
    assert_ne!(ran.code, 0, "{ran:?}");
    assert!(ran.stderr.contains(words), "no `{words}` in {ran:?}");
    assert_eq!(starts(switchboard), before, "it was started");
}

#[test]
fn sc_02_a_version_whose_digest_changed_is_refused() {
    let registry = Registry::start();
    registry.npm("1.2.3", "sha512-AAAA");
    let switchboard = home(&registry, "npx", &["-y", "@some/server@1.2.3"]);
    switchboard.run(&["lock"]).expect(0);
    let package = json!({
        "ecosystem": "npm", "name": "@some/server", "version": "1.2.3", "integrity": "sha512-AAAA",
    });
    assert_eq!(write_lock(&switchboard), json!([package]));
    switchboard.run(&CALL).expect(0);
    switchboard.run(&["lock", "--check"]).expect(0);
    registry.npm("1.2.3", "sha512-BBBB");
    assert_refused(
        &switchboard,
        "package `@some/server@1.2.3` does not match the lock file: it now has a different digest",
    );
    let checked = switchboard.run(&["lock", "--check"]).expect(5);
    assert_eq!(checked.stdout, "~ srv: package @some/server@1.2.3 has a different digest\n");
    switchboard.run(&["call", "srv", "echo", "text=a"]).expect(0);
}

#[test]
fn sc_02_a_package_without_a_version_is_locked_to_the_one_of_the_day() {
    let registry = Registry::start();
    registry.npm("1.2.3", "sha512-AAAA");
    let switchboard = home(&registry, "npx", &["-y", "@some/server"]);
    switchboard.run(&["lock"]).expect(0);
    assert_eq!(write_lock(&switchboard)[0]["version"], "1.2.3");
    switchboard.run(&CALL).expect(0);
    registry.npm("1.3.0", "sha512-CCCC");
    assert_refused(&switchboard, "it is now 1.3.0");
}

#[test]
fn sc_02_files_of_an_index_are_held_against_the_lock_as_well() {
    let registry = Registry::start();
    registry.pypi("aaaa");
    let switchboard = home(&registry, "uvx", &["some-server==1.2.3"]);
    switchboard.run(&["lock"]).expect(0);
    assert_eq!(write_lock(&switchboard)[0]["ecosystem"], "PyPI");
    switchboard.run(&CALL).expect(0);
    registry.pypi("bbbb");
    assert_refused(&switchboard, "it now has a different digest");
}

#[test]
fn sc_02_what_was_unpacked_when_the_index_confirmed_it_needs_no_index() {
    let registry = Registry::start();
    registry.pypi("aaaa");
    let switchboard = home(&registry, "uvx", &["some-server==1.2.3"]);
    switchboard.run(&["lock"]).expect(0);
    let unpack = |list: &str| {
        let name = ".cache/uv/archive-v0/1a2b/some_server-1.2.3.dist-info";
        let folder = switchboard.folder().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("RECORD"), list).unwrap();
    };
    unpack("some_server/main.py,sha256=AAAA,10");
    switchboard.run(&CALL).expect(0);
    // The index is unavailable: the confirmed version still runs.
    registry.answers.lock().unwrap().clear();
    switchboard.run(&CALL).expect(0);
    // The unpacked files have changed, and without the index they cannot be verified.
    unpack("some_server/main.py,sha256=BBBB,10");
    assert_refused(&switchboard, "it cannot be checked: the response has status 404");
    registry.pypi("aaaa");
    switchboard.run(&CALL).expect(0);
    registry.answers.lock().unwrap().clear();
    switchboard.run(&CALL).expect(0);
}

#[test]
fn sc_02_what_was_fetched_before_tells_without_a_registry() {
    let registry = Registry::start();
    registry.npm("1.2.3", "sha512-AAAA");
    let switchboard = home(&registry, "npx", &["-y", "@some/server@1.2.3"]);
    switchboard.run(&["lock"]).expect(0);
    registry.answers.lock().unwrap().clear();
    assert_refused(&switchboard, "it cannot be checked: the response has status 404");
    let fetched = |integrity: &str| {
        let entry = json!({"version": "1.2.3", "integrity": integrity});
        let lock = json!({"packages": {"node_modules/@some/server": entry}}).to_string();
        let folder = switchboard.folder().join(".npm/_npx/1a2b");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("package-lock.json"), lock).unwrap();
    };
    fetched("sha512-AAAA");
    switchboard.run(&CALL).expect(0);
    fetched("sha512-BBBB");
    assert_refused(&switchboard, "it was fetched with a different digest");
}
