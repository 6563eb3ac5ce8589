//! Hooks before and after calls: their input, their order, and the effect of their answers.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::time::Duration;

use serde_json::{Value, json};

use crate::hook_scripts::{before, echo, permitting, saying};
use crate::policy_team::digest;
use crate::running::{TEST_TIMEOUT, assert_gone, poll, wait_for_text};
use crate::switchboard::{Switchboard, fixture, result_text};
use crate::transcript::{redacted, transcript};

#[test]
fn a_hook_gets_exactly_the_json_of_the_protocol() {
    let mut switchboard = Switchboard::with(&json!({"echo": fixture(&["echo"])}));
    switchboard.set("SECRET_OF_OURS", "hunter2");
    let keep = "cat > input; env | sort > env; pwd > folder\n";
    switchboard.user_hook(&format!("{keep}echo '{{\"permission\":\"allow\"}}'"));
    switchboard.call(&["echo", "echo", "text=a b"], 0);
    let input = std::fs::read_to_string(switchboard.folder().join("own/input")).unwrap();
    let call = switchboard.newest()["id"].as_str().unwrap().to_owned();
    let work = switchboard.folder().join("work").canonicalize().unwrap();
    let work = work.to_str().unwrap();
    let version = env!("CARGO_PKG_VERSION");
    let expected = format!(
        r#"{{"conversation_id":"call-{call}","generation_id":"{call}","model":"","hook_event_name":"beforeMCPExecution","cursor_version":"{version}","workspace_roots":["{work}"],"user_email":null,"transcript_path":null,"tool_name":"echo","tool_input":"{{\"text\":\"a b\"}}","command":"{} echo","mcp_server_name":"echo"}}"#,
        switchboard_testkit::binary().display()
    );
    assert_eq!(input, expected);
    let env = std::fs::read_to_string(switchboard.folder().join("own/env")).unwrap();
    assert!(!env.contains("hunter2"), "{env}");
    for variable in ["CURSOR_PROJECT_DIR", "CLAUDE_PROJECT_DIR"] {
        assert!(env.contains(&format!("{variable}={work}\n")), "{env}");
    }
    assert!(env.contains(&format!("CURSOR_VERSION={version}\n")), "{env}");
    let own = switchboard.folder().join("own").canonicalize().unwrap();
    assert_eq!(switchboard.lines("own/folder"), [own.to_str().unwrap()]);
}

#[test]
fn hooks_are_asked_level_by_level_and_the_record_names_each() {
    let switchboard = echo();
    for (folder, file) in [
        ("system", "system/hooks.json"),
        ("work", "work/.switchboard/hooks.json"),
        ("work", "work/.cursor/hooks.json"),
        ("own", "own/hooks.json"),
    ] {
        let name = file.replace('/', "-");
        let log = switchboard.folder().join("order");
        let script = format!("echo {name} >> '{}'\n{}", log.display(), permitting("allow"));
        switchboard.script(&format!("{folder}/{name}.sh"), &script);
        switchboard.hooks(file, &before(&[json!({"command": format!("./{name}.sh")})]));
    }
    switchboard.run(&["hooks", "approve"]).expect(0);
    switchboard.write_call().expect(0);
    assert_eq!(
        switchboard.lines("order"),
        [
            "system-hooks.json",
            "work-.switchboard-hooks.json",
            "work-.cursor-hooks.json",
            "own-hooks.json"
        ]
    );
    let newest = switchboard.newest();
    assert_eq!(newest["verdict_by"], "a person typed it");
    let told = hook_steps(&newest);
    let levels = ["enterprise", "project", "project", "user"];
    let expected: Vec<String> =
        levels.iter().map(|level| format!("{level} beforeMCPExecution allow")).collect();
    assert_eq!(told, expected);
}

/// Returns the hooks among the steps of a call: level, time, answer and problem of each.
fn hook_steps(call: &Value) -> Vec<String> {
    let steps = call["steps"].as_array().unwrap().iter().filter(|step| step["what"] == "hook");
    let word = |step: &Value, name: &str| step[name].as_str().unwrap_or_default().to_owned();
    let told =
        steps.map(|step| ["level", "when", "answer", "problem"].map(|name| word(step, name)));
    told.map(|words| words.join(" ").trim_end().to_owned()).collect()
}

#[test]
fn a_team_has_hooks_between_those_of_the_organisation_and_the_project() {
    let switchboard = echo();
    let config = json!({
        "mcpServers": {"echo": fixture(&["echo"])},
        "settings": {"team": {"hooks": {"path": "../team/hooks.json"}}},
    });
    switchboard.write_config(&config.to_string());
    for folder in ["system", "team", "own"] {
        let log = switchboard.folder().join("order");
        let script = format!("echo {folder} >> '{}'\n{}", log.display(), permitting("allow"));
        switchboard.script(&format!("{folder}/hook.sh"), &script);
        let file = format!("{folder}/hooks.json");
        switchboard.hooks(&file, &before(&[json!({"command": "./hook.sh"})]));
    }
    switchboard.write_call().expect(0);
    assert_eq!(switchboard.lines("order"), ["system", "team", "own"]);
    let told = hook_steps(&switchboard.newest());
    assert_eq!(told[1], "team beforeMCPExecution allow");
}

#[test]
fn a_higher_level_does_not_overrule_the_no_of_a_lower_one() {
    for (system, own, code) in
        [("allow", "deny", 5), ("deny", "allow", 5), ("ask", "deny", 5), ("allow", "allow", 0)]
    {
        let switchboard = echo();
        switchboard.script("system/hook.sh", &permitting(system));
        switchboard.hooks("system/hooks.json", &before(&[json!({"command": "./hook.sh"})]));
        switchboard.user_hook(&permitting(own));
        let called = switchboard.write_call().expect(code).json();
        let expected = if code == 0 { Value::Null } else { json!("hook") };
        assert_eq!(called["reason"], expected, "{system} {own}");
    }
}

#[test]
fn a_hook_that_asks_sends_the_call_to_a_person_even_if_policy_allows_it() {
    let switchboard = echo();
    switchboard.user_hook(&saying(&json!({"permission": "ask", "user_message": "on Sundays?"})));
    let refused = switchboard.write_call().expect(5).json();
    assert_eq!([&refused["outcome"], &refused["reason"]], ["denied", "unanswered"]);
    assert_eq!(switchboard.trace_text(), "");
    let calling = switchboard.start(&["call", "echo", "write", "key=a", "--wait-for-review"]);
    let waits = || switchboard.json(&["review"]).get(0).cloned();
    let entry = poll(TEST_TIMEOUT, waits).expect("something waits");
    assert_eq!(entry["why"], "hook `./hook.sh` (user) asks for approval: on Sundays?");
    switchboard.run(&["review", "answer", entry["id"].as_str().unwrap(), "run"]).expect(0);
    calling.finish_within(TEST_TIMEOUT).expect(0);
    assert_eq!(switchboard.trace_text().lines().count(), 1);
}

#[test]
fn arguments_that_a_person_puts_in_place_are_seen_by_the_hooks() {
    let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo"])}));
    let script = r#"if grep -q evil; then exit 2; fi; echo '{"permission":"ask"}'"#;
    switchboard.user_hook(script);
    for (text, code) in [("evil", 5), ("good", 0)] {
        let calling = switchboard.start(&["call", "echo", "echo", "text=a", "--wait-for-review"]);
        let waits = || switchboard.json(&["review"]).get(0).cloned();
        let entry = poll(TEST_TIMEOUT, waits).expect("something waits");
        let arguments = json!({ "text": text }).to_string();
        let id = entry["id"].as_str().unwrap();
        switchboard.run(&["review", "answer", id, "run", "--json-args", &arguments]).expect(0);
        calling.finish_within(TEST_TIMEOUT).expect(code);
    }
}

#[test]
fn a_matcher_says_which_calls_a_hook_is_asked_about() {
    let switchboard = echo();
    switchboard.script("own/no.sh", "exit 2");
    let hook = json!({"command": "./no.sh", "matcher": "^(write|remove)$"});
    switchboard.hooks("own/hooks.json", &before(&[hook]));
    switchboard.write_call().expect(5);
    switchboard.call(&["echo", "echo", "text=a"], 0);
}

#[test]
fn python_scripts_and_lines_for_a_shell_are_hooks_too() {
    let python = r#"#!/usr/bin/env python3
import json, sys
call = json.load(sys.stdin)
key = json.loads(call["tool_input"])["key"]
print(json.dumps({"permission": "deny" if key == "b" else "allow", "agent_message": "not b"}))
"#;
    let mut seen = Vec::new();
    for hook in [
        json!({"command": "./check.py"}),
        json!({"command": "python3 check.py"}),
        json!({"command": "python3", "args": ["check.py"]}),
        json!({"command": "cat | python3 \"$PWD/check.py\" && true"}),
    ] {
        let switchboard = echo();
        switchboard.script("own/check.py", python);
        switchboard.hooks("own/hooks.json", &before(std::slice::from_ref(&hook)));
        switchboard.write_call().expect(0);
        let denied = switchboard.run(&["call", "echo", "write", "key=b"]).expect(5);
        seen.push(transcript(&denied));
    }
    insta::assert_snapshot!(seen.join("\n\n"), @r#"
    exit status 5
    --- stderr
    error: hook `./check.py` (user) denied the call: not b

    exit status 5
    --- stderr
    error: hook `python3 check.py` (user) denied the call: not b

    exit status 5
    --- stderr
    error: hook `python3 check.py` (user) denied the call: not b

    exit status 5
    --- stderr
    error: hook `cat | python3 "$PWD/check.py" && true` (user) denied the call: not b
    "#);
}

#[test]
fn hooks_are_asked_about_resources_and_prompts_as_well() {
    let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo"])}));
    switchboard.user_hook("exit 2");
    let resources = switchboard.json(&["resources", "--server", "echo"]);
    let uri =
        resources[0]["definition"]["uri"].as_str().unwrap_or_else(|| panic!("none in {resources}"));
    let refused = switchboard.run(&["resources", "read", "echo", uri]).expect(5);
    insta::assert_snapshot!(transcript(&refused), @"
    exit status 5
    --- stderr
    error: hook `./hook.sh` (user) denied the call
    ");
    switchboard.run(&["prompts", "get", "echo", "greet", "name=Ada"]).expect(5);
}

#[test]
fn a_hook_after_a_call_gets_the_result_and_cannot_lose_it() {
    for (version, script) in [
        (json!(1), "cat > after.json"),
        (json!("2.3.41"), "cat > after.json; echo no JSON; exit 1"),
        (json!(1), "cat > after.json; exit 2"),
    ] {
        let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo"])}));
        switchboard.script("own/after.sh", script);
        let hooks = json!({"afterMCPExecution": [{"command": "./after.sh"}]});
        switchboard.hooks("own/hooks.json", &json!({"version": version, "hooks": hooks}));
        let called = switchboard.call(&["echo", "echo", "text=a"], 0);
        assert_eq!(result_text(&called), "a");
        let text = std::fs::read_to_string(switchboard.folder().join("own/after.json")).unwrap();
        let input: Value = serde_json::from_str(&text).unwrap();
        let result: Value = serde_json::from_str(input["result_json"].as_str().unwrap()).unwrap();
        assert_eq!(result, called["result"]);
        assert_eq!(input["tool_input"], r#"{"text":"a"}"#);
        let is_whole = input["duration"].is_u64();
        assert_eq!(is_whole, version == json!(1), "{input}");
        let told = hook_steps(&switchboard.newest());
        let [told] = told.as_slice() else { panic!("{told:?}") };
        let word = if script.contains("exit") { "error ended with exit status" } else { "told" };
        assert!(told.starts_with(&format!("user afterMCPExecution {word}")), "{told}");
    }
}

#[test]
fn a_call_that_did_not_run_is_not_told_of() {
    let switchboard = echo();
    switchboard.script("own/no.sh", "exit 2");
    switchboard.script("own/after.sh", "cat > after.json");
    let hooks = json!({
        "beforeMCPExecution": [{"command": "./no.sh"}],
        "afterMCPExecution": [{"command": "./after.sh"}],
    });
    switchboard.hooks("own/hooks.json", &json!({"version": 1, "hooks": hooks}));
    switchboard.write_call().expect(5);
    assert!(!switchboard.folder().join("own/after.json").exists());
}

#[test]
fn with_version_2_3_41_the_first_answer_ends_the_chain_of_its_like() {
    let switchboard = echo();
    let names = ["broken", "first", "second"];
    let texts = ["exit 1".to_owned(), permitting("allow"), "touch asked; exit 2".to_owned()];
    for (name, text) in names.iter().zip(texts) {
        switchboard.script(&format!("own/{name}.sh"), &text);
    }
    let hook = |name: &str| json!({"command": format!("./{name}.sh"), "failClosed": false});
    let file = |version: Value| {
        let hooks: Vec<Value> = names.iter().map(|name| hook(name)).collect();
        json!({"version": version, "hooks": {"beforeMCPExecution": hooks}})
    };
    switchboard.hooks("own/hooks.json", &file(json!("2.3.41")));
    switchboard.write_call().expect(0);
    assert!(!switchboard.folder().join("own/asked").exists());
    switchboard.hooks("own/hooks.json", &file(json!(1)));
    switchboard.write_call().expect(5);
    // A hook file with those rules does not silence the hooks of another file.
    switchboard.script("system/hook.sh", &permitting("allow"));
    let old =
        json!({"version": "2.3.41", "hooks": {"beforeMCPExecution": [{"command": "./hook.sh"}]}});
    switchboard.hooks("system/hooks.json", &old);
    switchboard.write_call().expect(5);
}

#[test]
fn a_hook_that_takes_too_long_is_ended_with_all_its_children() {
    let switchboard = echo();
    let script = "trap '' TERM\nsleep 300 &\necho $! > child\nsetsid sleep 300 &\necho $! > other\n\
                  echo $$ > head\nsleep 300\n";
    switchboard.script("own/hook.sh", script);
    let hook = json!({"command": "./hook.sh", "timeout": 4});
    switchboard.hooks("own/hooks.json", &before(&[hook]));
    let denied = switchboard.write_call().expect(5).json();
    assert_eq!(denied["reason"], "hook_error");
    for file in ["own/child", "own/other", "own/head"] {
        let pid = switchboard.lines(file)[0].parse().unwrap();
        assert_gone(pid, Duration::from_secs(5));
    }
}

/// Answers one request with this body; the thread returns the request.
fn answering(body: &str) -> (String, std::thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let serving = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = String::new();
        let mut chunk = [0; 4096];
        while !request.ends_with('}') {
            let length = stream.read(&mut chunk).unwrap();
            assert_ne!(length, 0, "the request ended early: {request}");
            request.push_str(std::str::from_utf8(&chunk[..length]).unwrap());
        }
        stream.write_all(answer.as_bytes()).unwrap();
        request
    });
    (url, serving)
}

#[test]
fn an_address_is_a_hook_too() {
    for (body, code, reason) in [
        (r#"{"permission":"allow"}"#, 0, Value::Null),
        (r#"{"permission":"deny","user_message":"no"}"#, 5, json!("hook")),
        ("nothing", 5, json!("hook_error")),
        ("", 5, json!("hook_error")),
    ] {
        let switchboard = echo();
        let (url, serving) = answering(body);
        switchboard.hooks("own/hooks.json", &before(&[json!({ "url": url })]));
        let called = switchboard.write_call().expect(code).json();
        assert_eq!(called["reason"], reason, "{called}");
        let request = serving.join().unwrap();
        let (head, input) = request.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("POST /hook HTTP/1.1\r\n"), "{head}");
        let input: Value = serde_json::from_str(input).unwrap();
        assert_eq!(input["tool_name"], "write");
    }
}

#[test]
fn list_and_test_show_every_hook() {
    let switchboard = echo();
    switchboard.script("own/ask.sh", &saying(&json!({"permission": "ask", "user_message": "?"})));
    let hooks = json!({
        "beforeMCPExecution": [
            {"command": "./ask.sh", "matcher": "write"},
            {"command": "./missing.sh", "failClosed": false, "timeout": 2}
        ],
        "afterMCPExecution": [{"command": "true"}],
        "stop": [{"command": "true"}],
    });
    let file = switchboard.hooks("own/hooks.json", &json!({"version": 1, "hooks": hooks}));
    let listed = switchboard.json(&["hooks", "list"]);
    let own = listed.as_array().unwrap().iter().find(|file| file["level"] == "user").unwrap();
    assert_eq!([&own["state"], &own["version"]], ["in force", "1"]);
    assert_eq!(own["file"], file.to_str().unwrap());
    assert_eq!(own["notes"], json!(["`stop` is not an event of MCP calls and is not run here"]));
    assert_eq!(
        own["hooks"][2],
        json!({"event": "beforeMCPExecution", "hook": "./missing.sh", "matcher": null, "timeout": 2.0, "failClosed": false})
    );
    let said = switchboard.json(&["hooks", "test", "echo", "write", "--json-args", "{\"key\":1}"]);
    let said: Vec<String> = said.as_array().unwrap().iter().map(shown).collect();
    assert_eq!(said[0], "true: told");
    assert_eq!(said[1], "./ask.sh: ask (?)");
    assert!(said[2].starts_with("./missing.sh: error (program `"), "{said:?}");
    let said = switchboard.json(&["hooks", "test"]);
    assert_eq!(shown(&said[1]), "./ask.sh: not asked: its matcher does not match");
    assert_eq!(switchboard.trace_text(), "", "a tool was called");
    let text = switchboard.run(&["hooks"]).expect(0).stdout;
    insta::assert_snapshot!(redacted(&text), @"
    user	in force	afterMCPExecution	true	*	[duration]	deny
    user	in force	beforeMCPExecution	./ask.sh	write	[duration]	deny
    user	in force	beforeMCPExecution	./missing.sh	*	[duration]	allow
    ");
}

fn shown(said: &Value) -> String {
    let words = said["message"].as_str().map(|words| format!(" ({words})")).unwrap_or_default();
    format!("{}: {}{words}", said["hook"].as_str().unwrap(), said["answer"].as_str().unwrap())
}

#[test]
fn a_call_that_is_given_up_takes_its_hook_with_it() {
    let switchboard = echo();
    switchboard.user_hook("echo $$ > head\nsleep 300\n");
    let calling = switchboard.start(&["call", "echo", "write", "key=a"]);
    let pid = wait_for_text(&switchboard.folder().join("own/head"), "\n");
    calling.interrupt();
    calling.finish_within(Duration::from_secs(10)).expect(130);
    assert_gone(pid.trim().parse().unwrap(), Duration::from_secs(5));
    assert_eq!(switchboard.trace_text(), "");
}

#[test]
fn a_teams_hooks_run_in_their_folder_after_the_organisations_while_their_digest_is_right() {
    let switchboard = Switchboard::new();
    let journal = switchboard.text_path("journal");
    let say = |name: &str, word: &str| {
        format!("pwd > folder; echo {name} >> ../order\n{}", permitting(word))
    };
    switchboard.script("system/first.sh", &say("enterprise", "allow"));
    switchboard.hooks("system/hooks.json", &before(&[json!({"command": "./first.sh"})]));
    switchboard.script("team/second.sh", &say("team", "deny"));
    let file = switchboard.hooks("team/hooks.json", &before(&[json!({"command": "./second.sh"})]));
    let configure = |sha256: &str| {
        let config = json!({
            "mcpServers": {"echo": fixture(&["echo", "--journal", &journal])},
            "settings": {"team": {"hooks": {"path": file, "sha256": sha256}}},
        });
        switchboard.write_config(&config.to_string());
    };
    configure(&digest(&std::fs::read_to_string(&file).unwrap()));
    let denied = switchboard.write_call().expect(5).json();
    assert_eq!(denied["reason"], "hook", "{denied}");
    let message = denied["message"].as_str().unwrap();
    assert!(message.starts_with("hook `./second.sh` (team) denied the call"), "{message}");
    assert_eq!(switchboard.lines("order"), ["enterprise", "team"]);
    assert!(switchboard.lines("team/folder")[0].ends_with("/team"));
    configure(&digest("something else"));
    let broken = switchboard.write_call().expect(5).json();
    assert_eq!(broken["reason"], "hook_error", "{broken}");
    assert_eq!(switchboard.trace_text(), "");
}
