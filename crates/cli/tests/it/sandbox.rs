//! Tests of a confined server: what it can still reach, and what it cannot.
#![cfg(target_os = "linux")]

use serde_json::{Value, json};

use crate::running::is_alive;
use crate::switchboard::{Switchboard, fixture};

/// Returns a server that first runs a script and saves its results to its writable folder.
fn trying(switchboard: &Switchboard, name: &str, script: &str) -> Value {
    let program = switchboard_testkit::binary();
    let folder = switchboard.path(&format!("{name}-own"));
    std::fs::create_dir_all(&folder).unwrap();
    let own = folder.display();
    let text = format!("#!/bin/sh\ncd '{own}'\n{script}\nexec '{}' echo\n", program.display());
    let path = switchboard.write(&format!("{name}.sh"), &text);
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&path, mode).unwrap();
    let sandbox = json!({"read": [program.parent().unwrap()], "write": [folder]});
    json!({"command": path, "sandbox": sandbox})
}

fn result(switchboard: &Switchboard, name: &str, file: &str) -> String {
    let path = switchboard.path(&format!("{name}-own/{file}"));
    String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned()
}

#[test]
fn a_confined_server_works_and_reaches_only_what_it_was_given() {
    let switchboard = Switchboard::new();
    let secret = switchboard.folder().join("secret");
    std::fs::write(&secret, "hunter2").unwrap();
    let secret = secret.display();
    let script = format!(
        "cat '{secret}' > read 2>/dev/null; echo x > '{secret}.new' 2>/dev/null\n\
         cat /etc/shadow > shadow 2>/dev/null; echo x > inside; cat inside > again\n\
         ls '{}' > listed 2>/dev/null; echo \"$TMPDIR\" > tmpdir; echo x > \"$TMPDIR/file\" && echo ok > tmp",
        switchboard.folder().display()
    );
    switchboard.configure(&json!({"it": trying(&switchboard, "it", &script)}));
    switchboard.run(&["call", "it", "echo", "text=a"]).expect(0);
    let result = |file: &str| result(&switchboard, "it", file);
    assert_eq!([result("read"), result("shadow"), result("listed")], [""; 3].map(str::to_owned));
    assert_eq!([result("again"), result("tmp")], ["x\n", "ok\n"].map(str::to_owned));
    assert!(result("tmpdir").contains("own/state/tmp/"), "{}", result("tmpdir"));
    assert!(!switchboard.folder().join("secret.new").exists());
}

#[test]
fn en_04_a_confined_server_cannot_look_into_whoever_started_it() {
    let mut switchboard = Switchboard::new();
    switchboard.set("HOST_SECRET", "hunter2-hunter2");
    // The parent process is the keeper, and its parent is the host.
    let script = "host=$(cut -d ' ' -f 4 /proc/$PPID/stat)\n\
                  cat /proc/$PPID/environ /proc/$host/environ > environ 2>/dev/null\n\
                  head -c 1 /proc/$host/mem > mem 2>/dev/null\n\
                  tr '\\0' '\\n' < /proc/$$/environ > own; echo \"$host\" > host";
    switchboard.configure(&json!({"it": trying(&switchboard, "it", script)}));
    switchboard.run(&["call", "it", "echo", "text=a"]).expect(0);
    let result = |file: &str| result(&switchboard, "it", file);
    assert!(result("environ").is_empty(), "it could look into whoever started it");
    assert_eq!(result("mem"), "");
    assert!(result("own").contains("PATH=") && result("host").trim().parse::<u32>().is_ok());
}

#[test]
fn en_08_confined_siblings_cannot_reach_each_other() {
    let switchboard = Switchboard::new();
    let first = "echo $$ > pid; echo \"$TMPDIR\" > tmpdir; echo mine > \"$TMPDIR/file\"";
    let own = switchboard.path("first-own");
    let own = own.display();
    let second = format!(
        "for turn in 1 2 3 4 5 6 7 8 9; do test -f tmpdir-of-first && break; sleep 0.1; done\n\
         cat '{own}/pid' > pid 2>/dev/null; cat \"$(cat tmpdir-of-first)/file\" > file 2>/dev/null\n\
         ls /tmp > tmp 2>/dev/null; kill -TERM $(cat pid-of-first) 2> kill; echo $? > killed"
    );
    let entries = json!({"first": trying(&switchboard, "first", first), "second": trying(&switchboard, "second", &second)});
    switchboard.configure(&json!({"first": entries["first"]}));
    let watching = switchboard.start(&["servers", "list", "--watch"]);
    watching.wait_for("first\tready");
    let pid = result(&switchboard, "first", "pid");
    let tmpdir = result(&switchboard, "first", "tmpdir");
    switchboard.write("second-own/pid-of-first", &pid);
    switchboard.write("second-own/tmpdir-of-first", &tmpdir);
    switchboard.configure(&entries);
    watching.wait_for("second\tready");
    let of_second = |file: &str| result(&switchboard, "second", file);
    assert_eq!([of_second("pid"), of_second("file"), of_second("tmp")], [""; 3].map(str::to_owned));
    assert_ne!(of_second("killed"), "0\n");
    assert_ne!(of_second("killed"), "");
    assert!(is_alive(pid.trim().parse().unwrap()), "a sibling ended the first server");
    watching.interrupt();
    watching.finish_within(crate::running::TEST_TIMEOUT).expect(0);
}

#[test]
fn without_network_not_even_this_machine_is_reached() {
    let switchboard = Switchboard::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let script = format!(
        "bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}' 2>/dev/null; echo $? > tcp\n\
         bash -c 'echo x > /dev/udp/127.0.0.1/{port}' 2>/dev/null; echo $? > udp"
    );
    let mut entry = trying(&switchboard, "it", &script);
    switchboard.configure(&json!({"it": entry}));
    switchboard.run(&["call", "it", "echo", "text=a"]).expect(0);
    assert_eq!(result(&switchboard, "it", "tcp"), "0\n", "the network is open by default");
    entry["sandbox"]["network"] = json!(false);
    switchboard.configure(&json!({"it": entry}));
    switchboard.run(&["call", "it", "echo", "text=a"]).expect(0);
    for file in ["tcp", "udp"] {
        assert_eq!(result(&switchboard, "it", file), "1\n", "{file}");
    }
}

#[test]
fn limits_hold_and_a_sandbox_that_is_not_understood_is_an_error() {
    let switchboard = Switchboard::new();
    let mut entry =
        trying(&switchboard, "it", "ulimit -v > memory; ulimit -t > cpu; ulimit -c > core");
    entry["sandbox"]["memoryMb"] = json!(2_000);
    entry["sandbox"]["cpuSeconds"] = json!(100);
    switchboard.configure(&json!({
        "it": entry,
        "misspelt": {"command": "x", "sandbox": {"netwrok": false}},
        "remote": {"url": "http://127.0.0.1:9/", "sandbox": true},
        "word": {"command": "x", "sandbox": "on"},
    }));
    switchboard.run(&["call", "it", "echo", "text=a"]).expect(0);
    let results = ["memory", "cpu", "core"].map(|file| result(&switchboard, "it", file));
    assert_eq!(results, ["2048000\n", "100\n", "0\n"].map(str::to_owned));
    for name in ["misspelt", "remote", "word"] {
        assert_eq!(switchboard.status(name)[0], "failed", "{name}");
    }
    let plain = json!({"plain": fixture(&["echo"])});
    switchboard.configure(&plain);
    switchboard.run(&["call", "plain", "echo", "text=a"]).expect(0);
}

#[test]
fn a_profile_is_proposed_from_what_a_server_was_seen_to_use() {
    let switchboard = Switchboard::new();
    let mut entry = trying(&switchboard, "it", "exec 5> held; exec 6< ../read-only/file");
    switchboard.write("read-only/file", "x");
    entry["sandbox"] = json!("learn");
    switchboard.configure(&json!({"it": entry}));
    let learnt = switchboard.run(&["servers", "sandbox", "it", "--seconds", "3"]).expect(0);
    let sandbox = &learnt.json()["sandbox"];
    let real = |name: &str| std::fs::canonicalize(switchboard.path(name)).unwrap();
    let covers = |key: &str, path: &std::path::Path| {
        let listed = sandbox[key].as_array().unwrap();
        listed.iter().any(|folder| path.starts_with(folder.as_str().unwrap()))
    };
    assert!(covers("write", &real("it-own")), "{sandbox}");
    assert!(covers("read", &real("read-only")), "{sandbox}");
    // The file that the command names is included, although no access to it was observed.
    assert!(covers("read", &real("it.sh")), "{sandbox}");
    let enforced =
        switchboard.run(&["servers", "sandbox", "it", "--seconds", "3", "--enforce"]).expect(0);
    let text = std::fs::read_to_string(switchboard.folder().join("own/config.json")).unwrap();
    let written: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(written["mcpServers"]["it"]["sandbox"], enforced.json()["sandbox"]);
    // The file that the command names is included, so the server starts confined.
    switchboard.run(&["call", "it", "echo", "text=a"]).expect(0);
}

#[test]
fn a_confined_server_has_no_terminal() {
    let switchboard = Switchboard::new();
    let script = "sh -c ': < /dev/tty' 2> read; sh -c ': > /dev/tty' 2> written";
    switchboard.configure(&json!({"it": trying(&switchboard, "it", script)}));
    switchboard.run(&["call", "it", "echo", "text=a"]).expect(0);
    for file in ["read", "written"] {
        let said = result(&switchboard, "it", file);
        assert!(said.contains("Permission denied"), "{file}: {said}");
    }
}

#[test]
fn en_08_a_confined_server_reaches_no_socket_of_others_by_its_file() {
    let switchboard = Switchboard::new();
    let near = switchboard.folder().join("near.sock");
    let beside = switchboard.folder().join("own/state/tmp/other");
    std::fs::create_dir_all(&beside).unwrap();
    let beside = beside.join("a.sock");
    let _near = std::os::unix::net::UnixListener::bind(&near).unwrap();
    let _beside = std::os::unix::net::UnixListener::bind(&beside).unwrap();
    let attempt = |path: &str, result: &str| {
        let connect = "socket(my $s, AF_UNIX, SOCK_STREAM, 0); \
                       connect($s, sockaddr_un($ARGV[0])) or exit 1";
        format!("perl -MSocket -e '{connect}' '{path}'; echo $? > {result}\n")
    };
    let own = "socket(my $l, AF_UNIX, SOCK_STREAM, 0); bind($l, sockaddr_un(\"own.sock\")) or exit 1; \
               listen($l, 1); socket(my $s, AF_UNIX, SOCK_STREAM, 0); \
               connect($s, sockaddr_un(\"own.sock\")) or exit 2";
    let script = [
        attempt(near.to_str().unwrap(), "near"),
        attempt("../../near.sock", "relative"),
        attempt(&format!("/proc/self/cwd/../../{}", "near.sock"), "proc"),
        attempt(beside.to_str().unwrap(), "beside"),
        format!("perl -MSocket -e '{own}'; echo $? > own\n"),
    ];
    switchboard.configure(&json!({"it": trying(&switchboard, "it", &script.concat())}));
    switchboard.run(&["call", "it", "echo", "text=a"]).expect(0);
    let logged = switchboard.run(&["servers", "logs", "it"]).stdout;
    assert_eq!(result(&switchboard, "it", "own"), "0\n", "{logged}");
    if logged.contains("cannot hide sockets") {
        // This system has no mount namespaces.
        return;
    }
    for file in ["near", "relative", "proc", "beside"] {
        assert_eq!(result(&switchboard, "it", file), "1\n", "{file}: {logged}");
    }
}
