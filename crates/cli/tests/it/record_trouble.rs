//! Tests of a record that is moved, removed, damaged, locked, world-readable or not writable: no
//! call runs unrecorded, and no loss is silent.

use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::running::{RunningProcess, TEST_TIMEOUT, poll};
use crate::serve_client::{ServingGateway, Site, tool_call, until};
use crate::switchboard::{Switchboard, fixture};
use crate::transcript::transcript;

fn record(switchboard: &Switchboard) -> PathBuf {
    switchboard.folder().join("own/state/record")
}

/// Returns a home with a server that notes its writes.
fn noting() -> Switchboard {
    let switchboard = Switchboard::new();
    let journal = switchboard.text_path("journal");
    switchboard.configure(&json!({"one": fixture(&["echo", "--journal", &journal])}));
    switchboard
}

/// Returns the lines that the server wrote, in order.
fn written_lines(switchboard: &Switchboard) -> Vec<String> {
    let journal = std::fs::read_to_string(switchboard.path("journal")).unwrap_or_default();
    let lines = journal.lines().filter_map(|line| line.strip_prefix("write "));
    lines.map(str::to_owned).collect()
}

/// Calls the write tool through the gateway; returns the reply if the gateway refuses the call.
fn write(site: &Site, key: &str) -> Option<String> {
    let reply = site.send(&tool_call(None, "one__write", &json!({"key": key}))).json();
    (reply["result"]["isError"] == true || reply["result"].is_null()).then(|| reply.to_string())
}

#[test]
fn everything_about_calls_in_a_list_is_what_is_shown_of_each() {
    let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo"])}));
    let long = format!("text={}", "x".repeat(9_000));
    for words in [
        &["call", "echo", "echo", "text=short"][..],
        &["call", "echo", "echo", &long],
        &["call", "echo", "big", "bytes=2000000"],
        &["call", "echo", "fail", "message=no"],
        &["call", "builtin", "files_read", "path=gone"],
    ] {
        switchboard.run(words);
    }
    let listed = switchboard.json(&["calls", "--full"]);
    let listed = listed.as_array().unwrap();
    assert_eq!(listed.len(), 5);
    for call in listed {
        let shown = switchboard.json(&["calls", "show", call["id"].as_str().unwrap()]);
        assert_eq!(*call, shown);
    }
    let of = |words: &[&str]| -> Vec<Value> {
        let listed = switchboard.json(&[&["calls", "--full"], words].concat());
        listed.as_array().unwrap().iter().map(|call| call["target"].clone()).collect()
    };
    assert_eq!(of(&["--server", "builtin"]), ["files_read"]);
    assert_eq!(of(&["--server", "echo", "--outcome", "tool_error"]), ["fail"]);
    assert_eq!(of(&["--limit", "2"]), ["files_read", "fail"]);
    let before = listed[3]["id"].as_str().unwrap();
    assert_eq!(of(&["--before", before]), ["echo"]);
}

#[test]
fn a_record_that_is_moved_away_stops_calls_until_it_is_back() {
    let switchboard = noting();
    let serving = ServingGateway::start(&switchboard, &[]);
    serving.wait_for_tool(None, "one__write");
    assert_eq!(write(&serving, "before"), None);
    let here = record(&switchboard);
    let away = switchboard.folder().join("own/state/away");
    std::fs::rename(&here, &away).unwrap();
    // Entries from before the move was noticed are in the moved journal.
    let refused = poll(TEST_TIMEOUT, || write(&serving, "moved")).expect("it is noticed");
    assert!(refused.contains("was moved or removed"), "{refused}");
    serving.wait_for_error("warning: calls are refused: the record of calls cannot be written");
    assert!(write(&serving, "moved").is_some());
    std::fs::remove_dir_all(&here).ok();
    std::fs::rename(&away, &here).unwrap();
    until(|| write(&serving, "after").is_none());
    serving.wait_for_error("calls are recorded again");
    serving.signal("TERM");
    let ended = serving.finish().expect(0);
    assert_eq!(ended.stderr.matches("calls are refused").count(), 1, "{ended:?}");
    let ran = written_lines(&switchboard);
    let ok = switchboard.json(&["calls", "--outcome", "ok", "--limit", "1000"]);
    assert_eq!(ok.as_array().unwrap().len(), ran.len(), "{ran:?}");
    switchboard.run(&["calls", "verify"]).expect(0);
}

#[test]
fn a_record_that_is_removed_stops_calls_at_once() {
    let switchboard = noting();
    let serving = ServingGateway::start(&switchboard, &[]);
    serving.wait_for_tool(None, "one__write");
    assert_eq!(write(&serving, "before"), None);
    std::fs::remove_dir_all(record(&switchboard)).unwrap();
    for _ in 0..2 {
        let refused = write(&serving, "after").expect("nobody can record it");
        assert!(refused.contains("was moved or removed"), "{refused}");
    }
    // A record that another process creates there is not the open one.
    assert_eq!(switchboard.json(&["calls"]), json!([]));
    assert!(write(&serving, "after").is_some());
    assert_eq!(written_lines(&switchboard), ["before"]);
    serving.signal("TERM");
    assert_eq!(serving.finish().code, 0);
    switchboard.run(&["call", "one", "write", "key=anew"]).expect(0);
    assert_eq!(switchboard.recorded_calls(), ["tool one/write: ok"]);
}

#[test]
fn f69_a_damaged_record_is_put_aside_and_whoever_looks_first_is_told() {
    let mut seen = Vec::new();
    for words in [&["calls"][..], &["tasks"], &["call", "builtin", "echo", "text=b"]] {
        let switchboard = Switchboard::new();
        switchboard.run(&["call", "builtin", "echo", "text=a"]).expect(0);
        let file = record(&switchboard).join("calls.db");
        let mut bytes = std::fs::read(&file).unwrap();
        bytes.iter_mut().skip(4_096).for_each(|byte| *byte ^= 0x5a);
        std::fs::write(&file, bytes).unwrap();
        let told = switchboard.run(words).expect(0);
        seen.push(transcript(&told));
        let again = switchboard.run(words).expect(0);
        assert!(!again.stderr.contains("damaged"), "{words:?}: {again:?}");
        // The signed end of the chain stays missing.
        switchboard.run(&["calls", "verify"]).expect(7);
    }
    insta::assert_snapshot!(seen.join("\n\n"), @"
    exit status 0
    --- stderr
    warning: the record of calls was damaged and was moved to [home]/own/state/record/calls.db.corrupt-[time]
    no calls are recorded

    exit status 0
    --- stderr
    warning: the record of calls was damaged and was moved to [home]/own/state/record/calls.db.corrupt-[time]
    no running tasks

    exit status 0
    --- stdout
    b
    --- stderr
    warning: the record of calls was damaged and was moved to [home]/own/state/record/calls.db.corrupt-[time]
    ");
}

#[test]
fn f70_processes_on_one_record_that_are_killed_in_turn_leave_each_call_with_one_outcome() {
    let switchboard = Switchboard::new();
    let slow = tool_call(None, "one__slow", &json!({"ms": 60_000}));
    for _ in 0..3 {
        let trace = switchboard.path("trace");
        std::fs::remove_file(&trace).ok();
        let traced = fixture(&["echo", "--trace", trace.to_str().unwrap()]);
        switchboard.configure(&json!({"one": traced}));
        let serving = ServingGateway::start(&switchboard, &[]);
        serving.wait_for_tool(None, "one__slow");
        let mut waiting = serving.connect();
        waiting.write_all(slow.text(serving.port).as_bytes()).unwrap();
        until(|| std::fs::read_to_string(&trace).unwrap_or_default().contains("tools/call"));
        let words = ["--no-running", "call", "one", "slow", "ms=60000"];
        let mut calling = switchboard.start(&words);
        let arrived = || std::fs::read_to_string(&trace).unwrap_or_default();
        until(|| arrived().matches("tools/call").count() == 2);
        calling.kill();
        let words = ["--no-running", "call", "builtin", "echo", "text=between"];
        let next = switchboard.run(&words).expect(0);
        assert!(next.stderr.contains("1 of its calls may have run"), "{next:?}");
        serving.signal("KILL");
        serving.finish();
        let next = switchboard.run(&["call", "builtin", "echo", "text=after"]).expect(0);
        assert!(next.stderr.contains("1 of its calls may have run"), "{next:?}");
        switchboard.run(&["calls", "verify"]).expect(0);
    }
    let round = ["one/slow: unknown (host_crash)", "one/slow: unknown (host_crash)"];
    let mut expected = [round, ["builtin/echo: ok"; 2]].concat().repeat(3);
    let mut recorded = switchboard.recorded_calls();
    expected.sort_unstable();
    recorded.sort();
    assert_eq!(recorded, expected.iter().map(|call| format!("tool {call}")).collect::<Vec<_>>());
    let verified = switchboard.json(&["calls", "verify"]);
    assert_eq!([&verified["sealed"], &verified["unsealed"]], [12, 0], "{verified}");
}

/// Returns the number that a query on the record yields, read from the file itself.
fn query_count(switchboard: &Switchboard, query: &str) -> String {
    let script = "import sqlite3, sys; print(*sqlite3.connect(sys.argv[1]).execute(sys.argv[2])\
                  .fetchone())";
    let mut python = Command::new("python3");
    python.args(["-c", script]).arg(record(switchboard).join("calls.db")).arg(query);
    String::from_utf8(python.output().unwrap().stdout).unwrap().trim().to_owned()
}

#[test]
fn calls_are_sealed_while_their_process_lives() {
    let switchboard = noting();
    let serving = ServingGateway::start(&switchboard, &[]);
    serving.wait_for_tool(None, "one__write");
    assert_eq!(write(&serving, "a"), None);
    until(|| query_count(&switchboard, "SELECT count(*) FROM seals") == "1");
    assert_eq!(write(&serving, "b"), None);
    until(|| query_count(&switchboard, "SELECT count(*) FROM seals") == "2");
}

#[test]
fn f71_a_record_in_a_folder_that_everybody_can_write_to_is_not_used() {
    use std::os::unix::fs::PermissionsExt as _;
    let switchboard = noting();
    std::fs::create_dir_all(record(&switchboard)).unwrap();
    let open = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(record(&switchboard), open).unwrap();
    let mut seen = Vec::new();
    for words in [&["call", "one", "write", "key=a"][..], &["serve", "--listen", "127.0.0.1:0"]] {
        let refused = switchboard.run(words).expect(7);
        seen.push(transcript(&refused));
    }
    insta::assert_snapshot!(seen.join("\n\n"), @"
    exit status 7
    --- stderr
    error: calls cannot be recorded: every user of this machine can write to the folder `[home]/own/state/record`
    hint: remove write access for other users: `chmod o-w`

    exit status 7
    --- stderr
    error: calls cannot be recorded: every user of this machine can write to the folder `[home]/own/state/record`
    hint: remove write access for other users: `chmod o-w`
    ");
    assert_eq!(written_lines(&switchboard), [""; 0]);
}

/// Locks the record until standard input ends.
fn hold_record_lock(switchboard: &Switchboard) -> RunningProcess {
    let script = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None); \
                  c.execute('BEGIN IMMEDIATE'); print('locked', flush=True); sys.stdin.read()";
    let mut python = Command::new("python3");
    let running = RunningProcess::start(
        python.args(["-c", script]).arg(record(switchboard).join("calls.db")),
    );
    running.wait_for("locked");
    running
}

#[test]
fn f68_a_record_that_another_program_holds_locked_refuses_calls_and_can_be_read() {
    let switchboard = noting();
    switchboard.run(&["call", "one", "write", "key=a"]).expect(0);
    let mut holding = hold_record_lock(&switchboard);
    let refused = switchboard.run(&["call", "one", "write", "key=b"]).expect(7);
    insta::assert_snapshot!(transcript(&refused), @"
    exit status 7
    --- stderr
    error: calls cannot be recorded: the record of calls `[home]/own/state/record/calls.db` cannot be opened: database is locked
    hint: another program holds the file locked; close it
    ");
    let read = switchboard.run(&["calls"]).expect(0);
    insta::assert_snapshot!(transcript(&read), @"
    exit status 0
    --- stdout
    1	[time]	one	write	ok	[duration]	cli/person:person
    --- stderr
    warning: cannot determine the outcome of interrupted calls: the record of calls `[home]/own/state/record/calls.db` cannot be opened: database is locked
    hint: another program holds the file locked; close it
    ");
    holding.close_input();
    holding.finish_within(TEST_TIMEOUT);
    switchboard.run(&["call", "one", "write", "key=c"]).expect(0);
    assert_eq!(written_lines(&switchboard), ["a", "c"]);
}

/// Limits the files of a process to this many bytes, as a full disk would.
fn limit(pid: u32, bytes: &str) {
    let limited = Command::new("prlimit")
        .args(["--pid", &pid.to_string(), &format!("--fsize={bytes}:unlimited")])
        .status()
        .expect("`prlimit` can be run");
    assert!(limited.success());
}

#[test]
fn f66_and_f67_where_nothing_more_can_be_written_calls_are_refused_and_taken_again_by_themselves() {
    let switchboard = noting();
    // The write fails instead of killing the process when a file cannot grow.
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' XFSZ; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_switchboard")]);
    command.args(["serve", "--json", "--listen", "127.0.0.1:0"]);
    switchboard.surround(&mut command);
    let running = RunningProcess::start(&mut command);
    let site = Site::from_line(&running.first_line());
    site.wait_for_tool(None, "one__write");
    assert_eq!(write(&site, "before"), None);
    limit(running.pid(), "1000");
    let refused = poll(TEST_TIMEOUT, || write(&site, "full")).expect("it is noticed");
    assert!(refused.contains("the record of calls cannot be written"), "{refused}");
    let ran = written_lines(&switchboard);
    assert!(write(&site, "full").is_some());
    assert_eq!(written_lines(&switchboard), ran, "what was refused ran");
    limit(running.pid(), "unlimited");
    until(|| write(&site, "after").is_none());
    running.signal("TERM");
    assert_eq!(running.finish_within(TEST_TIMEOUT).code, 0);
    let ran = written_lines(&switchboard);
    let ok = switchboard.json(&["calls", "--outcome", "ok", "--limit", "1000"]);
    assert_eq!(ok.as_array().unwrap().len(), ran.len(), "{ran:?}");
    switchboard.run(&["calls", "verify"]).expect(0);
}

#[test]
fn a_home_whose_path_is_not_unicode_keeps_its_record_whole() {
    let switchboard = Switchboard::new();
    let home = switchboard.folder().join(std::ffi::OsStr::from_bytes(b"h\xff"));
    std::fs::create_dir(&home).unwrap();
    let command = |words: &[&str]| {
        let mut command = switchboard.command(words);
        command.env_remove("SWITCHBOARD_HOME").env("HOME", &home);
        command.stdin(Stdio::null()).output().unwrap()
    };
    let long = format!("text={}", "x".repeat(9_000));
    for words in [&["call", "builtin", "echo", &long][..], &["calls", "verify"]] {
        let ran = command(words);
        assert!(ran.status.success(), "{words:?}: {ran:?}");
    }
    // An unreadable file that says where our files are must not be ignored.
    let ran = switchboard.command(&["calls"]).env("SWITCHBOARD_HOME", &home).output().unwrap();
    assert_eq!(ran.status.code(), Some(3), "{ran:?}");
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(said.contains("`SWITCHBOARD_HOME` is not UTF-8 text"), "{said}");
}
