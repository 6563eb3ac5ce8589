//! HK: hooks that fail, contradict themselves or rewrite calls never let a call through.

use serde_json::{Value, json};

use crate::hook_scripts::{before, echo, permitting, saying};
use crate::running::{TEST_TIMEOUT, poll};
use crate::switchboard::{Switchboard, fixture, result_text};

/// Returns a limit that is short for a script that never ends, and otherwise long enough for a busy
/// machine.
fn script_limit(script: &str) -> u64 {
    if script.contains("sleep") { 3 } else { 60 }
}

/// Fails unless the call is denied for this reason, with these words, and did not run.
fn assert_denied(switchboard: &Switchboard, reason: &str, words: &str) {
    let outcome = switchboard.write_call().expect(5).json();
    assert_eq!([&outcome["outcome"], &outcome["reason"]], ["denied", reason], "{outcome}");
    let message = outcome["message"].as_str().unwrap();
    assert!(message.contains(words), "no `{words}` in {outcome}");
    assert_eq!(switchboard.trace_text(), "", "the tool ran");
    let shown = switchboard.newest();
    assert_eq!([&shown["verdict"], &shown["reason"]], ["deny", reason], "{shown}");
}

#[test]
fn hk_01_a_hook_that_does_not_work_denies_the_call() {
    let allow = r#"echo '{"permission":"allow"}'"#;
    for (script, words) in [
        ("kill -SEGV $$".to_owned(), "was killed by signal 11"),
        (format!("{allow}; kill -KILL $$"), "was killed by signal 9"),
        (format!("{allow}; exit 1"), "ended with exit status 1"),
        (format!("{allow}; exit 3"), "ended with exit status 3"),
        (format!("{allow}; echo the database is away >&2; exit 255"), "the database is away"),
        (format!("{allow}; sleep 60"), "did not end within 3 s"),
        ("echo allowed".to_owned(), "wrote no JSON answer"),
        (r#"echo '{"permission":'"#.to_owned(), "wrote no JSON answer"),
        (format!("echo checking; {allow}"), "wrote no JSON answer"),
        ("true".to_owned(), "wrote no answer"),
        ("echo '{}'".to_owned(), "answered without `permission`"),
        ("echo 'true'".to_owned(), "invalid answer: invalid type"),
        (r#"echo '{"permission":"approve"}'"#.to_owned(), "the unknown permission `approve`"),
        (r#"echo '{"permission":true}'"#.to_owned(), "invalid answer: invalid type"),
        (format!("printf '\\357\\273\\277'; {allow}"), "wrote no JSON answer"),
        (format!("{allow}; echo '{{\"permission\":\"deny\"}}'"), "wrote no JSON answer"),
        (r#"echo '{"Permission":"allow"}'"#.to_owned(), "the ambiguous member"),
        (r#"echo '{"permision":"allow"}'"#.to_owned(), "answered without `permission`"),
        (
            r#"echo '{"permission":"allow","decision":"block"}'"#.to_owned(),
            "the ambiguous member `decision`",
        ),
        ("exec sleep 60".to_owned(), "did not end within 3 s"),
        ("yes allow".to_owned(), "more than 64 KiB"),
        ("head -c 70000 /dev/zero | tr '\\0' ' '; echo '{}'".to_owned(), "more than 64 KiB"),
    ] {
        let switchboard = echo();
        switchboard.script("own/hook.sh", &script);
        let hook = json!({"command": "./hook.sh", "timeout": script_limit(&script)});
        switchboard.hooks("own/hooks.json", &before(&[hook]));
        assert_denied(&switchboard, "hook_error", words);
    }
}

#[test]
fn hk_01_a_program_that_is_missing_or_not_executable_denies_the_call() {
    for (command, words) in [
        ("./missing.sh", "missing.sh` not found"),
        ("no-such-program-anywhere", "was not found on PATH"),
        ("./plain.txt", "is not executable"),
        ("./missing.sh | cat >&2; false", "ended with exit status 1"),
        ("'/nowhere/a b'", "program `/nowhere/a b` not found"),
        ("./", "was not found on PATH"),
    ] {
        let switchboard = echo();
        std::fs::write(switchboard.folder().join("own/plain.txt"), "#!/bin/sh\n").unwrap();
        switchboard.hooks("own/hooks.json", &before(&[json!({"command": command})]));
        assert_denied(&switchboard, "hook_error", words);
    }
}

#[test]
fn hk_01_a_hook_that_cannot_be_asked_here_denies_the_call() {
    for hook in [
        json!({"type": "prompt", "prompt": "is it safe?"}),
        json!({"type": "wasm", "command": "true"}),
        json!({"url": "http://127.0.0.1:1/"}),
    ] {
        let switchboard = echo();
        switchboard.hooks("own/hooks.json", &before(&[hook]));
        assert_denied(&switchboard, "hook_error", "failed, so the call does not run");
    }
}

#[test]
fn hk_01_a_file_that_cannot_be_read_denies_every_call() {
    for (text, words) in [
        ("", "the file is empty"),
        ("{", "unterminated object"),
        ("{\"version\": 9, \"hooks\": {}}", "unknown `version` 9"),
        ("{\"hooks\": {\"beforeMCPexecution\": []}}", "unknown event `beforeMCPexecution`"),
        ("{\"hooks\": {\"before_mcp_execution\": []}}", "unknown event `before_mcp_execution`"),
        ("{\"hooks\": {\"beforeMCPExecution \": []}}", "unknown event `beforeMCPExecution `"),
        ("{\"hooks\": {\"beforeMcpTool\": []}}", "unknown event `beforeMcpTool`"),
        (
            "{\"hooks\": {\"beforeMCPExecution\": [{\"command\": \"a\"}], \"beforeMCPExecution\": []}}",
            "given twice",
        ),
    ] {
        for level in ["own", "system"] {
            let switchboard = echo();
            let folder = switchboard.folder().join(level);
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("hooks.json"), text).unwrap();
            assert_denied(&switchboard, "hook_error", words);
            let doctor = switchboard.run(&["doctor"]).expect(4).stdout;
            assert!(doctor.contains("all calls are blocked"), "{doctor}");
        }
    }
}

#[test]
fn hk_01_a_file_that_is_a_link_to_nowhere_denies_every_call() {
    for (link, place) in [("own/hooks.json", "hooks.json"), ("system", "system")] {
        let switchboard = echo();
        let link = switchboard.folder().join(link);
        std::os::unix::fs::symlink("/nowhere/at/all", &link).unwrap();
        if place == "hooks.json" {
            assert_denied(&switchboard, "hook_error", "is a broken link");
        } else {
            // The rules are in this folder as well.
            let refused = switchboard.write_call().expect(3);
            assert!(refused.stderr.contains("is a broken link"), "{refused:?}");
            assert_eq!(switchboard.trace_text(), "");
        }
    }
}

/// Answers one request with this status and body.
fn answering(status: u16, body: &str) -> (String, std::thread::JoinHandle<()>) {
    use std::io::{Read as _, Write as _};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let answer = format!("HTTP/1.1 {status} So\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let serving = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = Vec::new();
        let mut chunk = [0; 4096];
        while !request.ends_with(b"}") {
            let length = stream.read(&mut chunk).unwrap();
            assert_ne!(length, 0, "the request ended early");
            request.extend_from_slice(&chunk[..length]);
        }
        // Ignored: the client may disconnect before it has read everything.
        stream.write_all(answer.as_bytes()).ok();
    });
    (url, serving)
}

#[test]
fn hk_02_a_no_of_an_address_counts_whatever_its_status_is() {
    let long = format!("{}{{\"permission\":\"deny\"}}", " ".repeat(70_000));
    for (status, body, reason) in [
        (500, r#"{"permission":"deny"}"#, json!("hook")),
        (403, r#"{"permission":"deny","user_message":"no"}"#, json!("hook")),
        (307, r#"{"permission":"deny"}"#, json!("hook")),
        // The unread rest may contain a denial.
        (200, long.as_str(), json!("hook_error")),
        (500, r#"{"permission":"allow"}"#, Value::Null),
        (500, "", Value::Null),
    ] {
        let switchboard = echo();
        let (url, serving) = answering(status, body);
        let hook = json!({"url": url, "failClosed": false});
        switchboard.hooks("own/hooks.json", &before(&[hook]));
        let called = switchboard.write_call();
        let outcome = called.json();
        assert_eq!(outcome["reason"], reason, "{status}: {called:?}");
        assert_eq!(switchboard.trace_text().is_empty(), !reason.is_null(), "{status}");
        serving.join().unwrap();
    }
}

#[test]
fn hk_01_only_a_failure_that_the_file_forgives_lets_the_call_run() {
    for (version, script, code) in [
        (json!(1), "exit 1", 0),
        (json!(1), "sleep 60", 0),
        (json!(1), "true", 0),
        // An invalid answer blocks the call in the current format, but not in the older ones.
        (json!(1), "echo nonsense", 5),
        (json!("2.3.41"), "echo nonsense", 0),
        // A denial is never forgiven.
        (json!(1), "exit 2", 5),
        (json!(1), r#"echo '{"permission":"deny"}'; exit 1"#, 5),
        (json!("2.3.41"), r#"echo '{"permission":"deny"}'; exit 1"#, 5),
    ] {
        let switchboard = echo();
        switchboard.script("own/hook.sh", script);
        let limit = script_limit(script);
        let hook = json!({"command": "./hook.sh", "timeout": limit, "failClosed": false});
        let file = json!({"version": version, "hooks": {"beforeMCPExecution": [hook]}});
        switchboard.hooks("own/hooks.json", &file);
        let ran = switchboard.write_call();
        assert_eq!(ran.code, code, "{script}: {ran:?}");
        let doctor = switchboard.run(&["doctor"]).expect(0).stdout;
        assert!(doctor.contains("`./hook.sh` has `failClosed: false`"), "{doctor}");
    }
}

#[test]
fn hk_02_a_no_wins_over_every_yes() {
    let both = r#"{"permission":"deny","user_message":"not on a Sunday"}"#;
    for (script, words) in [
        ("echo '{\"permission\":\"allow\"}'; exit 2".to_owned(), "denied the call"),
        ("echo it is locked >&2; exit 2".to_owned(), "it is locked"),
        (format!("echo '{both}'"), "not on a Sunday"),
        (format!("echo '{both}'; exit 2"), "not on a Sunday"),
        (format!("echo '{both}'; exit 1"), "not on a Sunday"),
        (format!("echo '{both}'; kill -KILL $$"), "not on a Sunday"),
        (format!("echo '{both}'; sleep 60"), "not on a Sunday"),
        (r#"echo '{"permission":"allow","continue":false}'"#.to_owned(), "denied the call"),
    ] {
        let switchboard = echo();
        switchboard.script("own/hook.sh", &script);
        let hook = json!({"command": "./hook.sh", "timeout": script_limit(&script)});
        switchboard.hooks("own/hooks.json", &before(&[hook]));
        assert_denied(&switchboard, "hook", words);
    }
}

#[test]
fn hk_02_an_answer_that_can_be_read_both_ways_is_a_no() {
    for answer in [
        r#"{"permission":"deny","permission":"allow"}"#,
        r#"{"permission":"allow","permission":"deny"}"#,
        r#"{"permission":"allow"}{"permission":"deny"}"#,
        r#"[{"permission":"allow"}]"#,
    ] {
        let switchboard = echo();
        switchboard.user_hook(&format!("echo '{answer}'"));
        assert_denied(&switchboard, "hook_error", "hook `./hook.sh` (user)");
    }
}

#[test]
fn hk_02_one_no_among_many_hooks_is_enough() {
    for denying in 0..3 {
        let switchboard = echo();
        for at in 0..3 {
            let word = if at == denying { "deny" } else { "allow" };
            switchboard.script(&format!("own/{at}.sh"), &permitting(word));
        }
        let hooks: Vec<Value> = (0..3).map(|at| json!({"command": format!("./{at}.sh")})).collect();
        switchboard.hooks("own/hooks.json", &before(&hooks));
        assert_denied(
            &switchboard,
            "hook",
            &format!("hook `./{denying}.sh` (user) denied the call"),
        );
    }
}

/// Returns a server whose tool needs a person, with a user hook that gives this answer.
fn rewriting(answer: &Value) -> Switchboard {
    let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo"])}));
    switchboard.user_hook(&saying(answer));
    switchboard
}

#[test]
fn hk_07_arguments_of_a_hook_are_called_and_both_versions_are_recorded() {
    let switchboard =
        rewriting(&json!({"permission": "allow", "updated_input": {"text": "harmless"}}));
    let called = switchboard.call(&["echo", "echo", "text=original"], 0);
    assert_eq!(result_text(&called), "harmless");
    let shown = switchboard.newest();
    assert_eq!(shown["arguments"], json!({"text": "original"}));
    assert_eq!(shown["sent_arguments"], json!({"text": "harmless"}));
    let by = shown["verdict_by"].as_str().unwrap();
    assert!(by.contains(r#"replaced the arguments with: {"text":"harmless"}"#), "{by}");
}

#[test]
fn hk_07_arguments_of_a_hook_that_do_not_fit_the_schema_are_refused() {
    for input in [json!({}), json!({"text": 5}), json!("text"), json!([])] {
        let answer = json!({"permission": "allow", "updated_input": input});
        let switchboard = rewriting(&answer);
        let called = switchboard.call(&["echo", "echo", "text=original"], 5);
        assert_eq!([&called["outcome"], &called["reason"]], ["denied", "hook_error"], "{called}");
    }
}

#[test]
fn hk_07_a_person_is_asked_again_about_the_arguments_of_a_hook() {
    let switchboard =
        rewriting(&json!({"permission": "allow", "updated_input": {"text": "other"}}));
    let words = ["call", "echo", "echo", "text=mine", "--review", "--wait-for-review", "--json"];
    for (second, code) in [("run", 0), ("skip", 5)] {
        let calling = switchboard.start(&words);
        let mut seen = Vec::new();
        for answer in ["run", second] {
            let waits = || switchboard.json(&["review"]).get(0).cloned();
            let entry = poll(TEST_TIMEOUT, waits).expect("something waits");
            seen.push(entry["arguments"].clone());
            let id = entry["id"].as_str().unwrap();
            switchboard.run(&["review", "answer", id, answer]).expect(0);
        }
        assert_eq!(seen, [r#"{"text":"mine"}"#, r#"{"text":"other"}"#]);
        calling.finish_within(TEST_TIMEOUT).expect(code);
    }
    let shown = switchboard.newest();
    assert_eq!(shown["outcome"], "rejected");
    let message = shown["message"].as_str().unwrap();
    assert!(message.contains(r#"replaced the arguments with: {"text":"other"}"#), "{message}");
}

#[test]
fn hk_07_every_other_hook_sees_what_a_hook_put_in_place() {
    let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo"])}));
    let no_secrets = r#"if grep -q secret; then exit 2; fi; echo '{"permission":"allow"}'"#;
    switchboard.script("system/first.sh", no_secrets);
    switchboard.hooks("system/hooks.json", &before(&[json!({"command": "./first.sh"})]));
    let rewrite = json!({"permission": "allow", "updated_input": {"text": "the secret"}});
    switchboard.user_hook(&saying(&rewrite));
    let called = switchboard.call(&["echo", "echo", "text=mine"], 5);
    assert_eq!(called["reason"], "hook");
    let message = called["message"].as_str().unwrap();
    assert!(message.starts_with("hook `./first.sh` (enterprise) denied the call"), "{message}");
}

#[test]
fn hk_07_hooks_that_rewrite_each_other_come_to_an_end() {
    let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo"])}));
    let hooks = ["a", "b"].map(|text| {
        let answer = json!({"permission": "allow", "updated_input": {"text": text}});
        switchboard.script(&format!("own/{text}.sh"), &saying(&answer));
        json!({"command": format!("./{text}.sh")})
    });
    switchboard.hooks("own/hooks.json", &before(&hooks));
    let called = switchboard.call(&["echo", "echo", "text=mine"], 5);
    assert_eq!(called["reason"], "hook_error");
    assert_eq!(called["message"], "hooks keep replacing the arguments");
}

#[test]
fn hk_07_policy_decides_about_the_arguments_of_a_hook() {
    let switchboard =
        rewriting(&json!({"permission": "allow", "updated_input": {"text": "forbidden"}}));
    let rule = json!({"effect": "deny", "target": "echo/echo", "when": "args.text == 'forbidden'"});
    switchboard.write_policy("enterprise", &json!({ "rules": [rule] }));
    let called = switchboard.call(&["echo", "echo", "text=original"], 5);
    assert_eq!([&called["outcome"], &called["reason"]], ["denied", "policy"], "{called}");
    let message = called["message"].as_str().unwrap();
    assert!(message.contains("of the enterprise policy"), "{message}");
    assert!(message.contains(r#"replaced the arguments with: {"text":"forbidden"}"#), "{message}");
    let shown = switchboard.newest();
    assert_eq!(shown["arguments"], json!({"text": "original"}));
    assert_eq!(shown["verdict"], "deny");
}
