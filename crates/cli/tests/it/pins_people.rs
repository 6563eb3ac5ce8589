//! People's approvals hold for what they saw: definitions, entries, the first use of a server.

use serde_json::{Value, json};

use crate::drifting::{DriftingServer, OTHER, tool_with_description};
use crate::gateway::{Gateway, Legacy, NEWEST_LEGACY, answer_text};
use crate::running::{TEST_TIMEOUT, poll};
use crate::switchboard::Switchboard;
use crate::transcript::transcript;

#[cfg(target_os = "linux")]
#[test]
fn rp_06_an_always_does_not_hold_for_a_schema_that_gained_a_parameter() {
    let mut seen = Vec::new();
    for pins in ["on", "off"] {
        let settings = json!({"autoApprove": true, "pins": pins});
        let it = DriftingServer::with(&settings);
        let words = ["call", "srv", "echo", "text=a", "--review"];
        let mut terminal = it.switchboard.in_terminal(&words);
        terminal.wait_for("[e] edit the arguments");
        terminal.say("a");
        terminal.finish_within(TEST_TIMEOUT).expect(0);
        it.switchboard.run(&words).expect(0);
        let remembered = it.switchboard.json(&["review", "remembered"]);
        assert_eq!(remembered[0]["server"], "srv");
        assert_eq!(remembered[0]["tool"], "echo");

        it.offers(&json!({"tools": [{"name": "echo", "inputSchema": {"type": "object",
            "properties": {"text": {"type": "string"}, "bcc": {"type": "string"}}}}]}));
        if pins == "on" {
            let held = it.switchboard.run(&words).expect(5);
            seen.push(transcript(&held));
            it.switchboard.run(&["pins", "approve", "srv/echo"]).expect(0);
        }
        let asked = it.switchboard.run(&words).expect(5);
        seen.push(transcript(&asked));
        assert_eq!(it.calls_reached(), 2);

        it.switchboard.run(&["review", "forget", "srv", "echo"]).expect(0);
        assert_eq!(it.switchboard.json(&["review", "remembered"]), json!([]));
        let config: Value = serde_json::from_str(&it.switchboard.config_text()).unwrap();
        assert_eq!(config["mcpServers"]["srv"]["autoApprove"], json!([]));
        it.switchboard.run(&words).expect(5);
        it.switchboard.run(&["review", "forget", "srv", "echo"]).expect(2);
    }
    insta::assert_snapshot!(seen.join("\n\n"), @"
    exit status 5
    --- stderr
    warning: server `srv` has a quarantined definition
    hint: review with `switchboard pins diff srv`
    error: `srv/echo` needs approval: its definition has changed (inputSchema)
    hint: review it with `switchboard pins diff srv/echo`, then approve it with `switchboard pins approve srv/echo`

    exit status 5
    --- stderr
    error: `srv/echo` needs approval, but there is no terminal to ask on
    hint: run it at a terminal or with `--wait-for-review`, or add `echo` to `autoApprove` of server `srv` and turn on `settings.autoApprove`

    exit status 5
    --- stderr
    error: `srv/echo` needs approval, but there is no terminal to ask on
    hint: run it at a terminal or with `--wait-for-review`, or add `echo` to `autoApprove` of server `srv` and turn on `settings.autoApprove`
    ");
}

#[test]
fn cf_02_a_changed_entry_of_a_project_is_shown_against_the_approved_one() {
    let it = DriftingServer { switchboard: Switchboard::new() };
    let project = |entry: &Value| {
        let config = json!({"mcpServers": {"srv": entry}});
        it.switchboard.write("switchboard.json", &config.to_string());
    };
    let mut entry = it.entry();
    entry["env"] = json!({"TOKEN": "secret-one"});
    project(&entry);
    it.switchboard.run(&["servers", "approve", "srv"]).expect(0);
    it.echo(0);
    let changes = [
        ("cwd", json!(".")),
        ("env", json!({"TOKEN": "secret-two"})),
        ("env", json!({"TOKEN": "secret-two", "MORE": "x"})),
    ];
    let mut seen = Vec::new();
    for (key, value) in changes {
        entry[key] = value;
        project(&entry);
        let refused = it.echo(5);
        assert_eq!(refused["reason"], "not_approved", "{key}");
        let approved = it.switchboard.run(&["servers", "approve", "srv"]).expect(0);
        seen.push(transcript(&approved));
        assert!(!approved.stderr.contains("secret-"), "{approved:?}");
        it.echo(0);
    }
    insta::assert_snapshot!(seen.join("\n\n"), @"
    exit status 0
    --- stderr
    `srv` runs: switchboard-testkit echo --overlay [work]/overlay --trace [work]/trace
      env  TOKEN (value [digest])
      cwd  [work]/.
      + cwd  [work]/.
    not started yet: its first definitions will count as approved
    approved; any change to its entry needs a new approval

    exit status 0
    --- stderr
    `srv` runs: switchboard-testkit echo --overlay [work]/overlay --trace [work]/trace
      env  TOKEN (value [digest])
      cwd  [work]/.
      - env  TOKEN (value [digest])
      + env  TOKEN (value [digest])
    its tools: add, ask, big, content, echo, environment, fail, grow, pid, slow, write
    approved; any change to its entry needs a new approval

    exit status 0
    --- stderr
    `srv` runs: switchboard-testkit echo --overlay [work]/overlay --trace [work]/trace
      env  MORE (value [digest])
      env  TOKEN (value [digest])
      cwd  [work]/.
      + env  MORE (value [digest])
    not started yet: its first definitions will count as approved
    approved; any change to its entry needs a new approval
    ");
    assert_eq!(it.calls_reached(), 4);
}

#[test]
fn an_answer_for_the_session_holds_for_that_tool_until_its_definition_changes() {
    let it = DriftingServer::with(&json!({"pins": "off"}));
    let gateway = Gateway::with_tool(&it.switchboard, &["--review", "ask"], "srv__echo");
    let can = json!({"elicitation": {"form": {}}});
    let client = Legacy::open(&gateway.url, NEWEST_LEGACY, &can);
    let call = |tool: &str| {
        let arguments = if tool == "echo" { json!({"text": "a"}) } else { json!({}) };
        let params = json!({"name": format!("srv__{tool}"), "arguments": arguments});
        client.send("tools/call", &params)
    };
    let answer = |question: &Value, word: &str| {
        assert_eq!(question["method"], "elicitation/create", "{question}");
        let result = json!({"action": "accept", "content": {"answer": word}});
        let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": result});
        assert_eq!(client.post(&answer).status, 202);
    };
    let mut stream = call("echo");
    answer(&stream.next_message(), "session");
    assert_eq!(answer_text(&stream.next_message()), "a");
    // The same tool is not asked about again, but another one is.
    assert_eq!(answer_text(&client.call("srv__echo", &json!({"text": "a"}))), "a");
    it.offers(&tool_with_description(OTHER));
    let mut stream = call("grow");
    answer(&stream.next_message(), "run");
    assert_eq!(answer_text(&stream.next_message()), "grown_1");
    gateway.wait_for_tool("srv__grown_1");
    let mut stream = call("echo");
    answer(&stream.next_message(), "skip");
    stream.next_message();
}

/// Waits for a pending review of a server's first use and returns it.
fn first_use(switchboard: &Switchboard) -> Value {
    let listed = || {
        let listed = switchboard.json(&["review", "list"]);
        listed.as_array().unwrap().iter().find(|entry| entry["kind"] == "first_use").cloned()
    };
    poll(TEST_TIMEOUT, listed).expect("the first use is asked about")
}

#[test]
fn the_first_use_of_a_server_waits_in_the_queue_and_a_yes_there_approves_it() {
    let it = DriftingServer::with(&json!({"firstUse": "ask"}));
    let gateway = Gateway::start(&it.switchboard, &[]);
    let entry = first_use(&it.switchboard);
    assert_eq!(entry["server"], "srv");
    let how = entry["details"]["how"].as_str().unwrap();
    assert!(how.contains("echo --overlay"), "{entry}");
    let names: Vec<&str> = entry["details"]["definitions"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|definition| definition["name"].as_str())
        .collect();
    assert!(names.contains(&"echo") && names.contains(&"write"), "{entry}");
    let id = entry["id"].as_str().unwrap();
    let shown = it.switchboard.run(&["review", "show", id]).expect(0).stdout;
    assert!(shown.contains("is used for the first time"), "{shown}");
    it.switchboard.run(&["review", "answer", id, "accept"]).expect(0);
    gateway.wait_for_tool("srv__echo");
    assert_eq!(it.switchboard.json(&["review", "list"]), json!([]));
    it.echo(0);
    it.offers(&tool_with_description(OTHER));
    it.echo(5);
}

#[test]
fn a_no_to_the_first_use_leaves_it_held_and_an_approval_elsewhere_ends_the_question() {
    let it = DriftingServer::with(&json!({"firstUse": "ask"}));
    let gateway = Gateway::start(&it.switchboard, &[]);
    let entry = first_use(&it.switchboard);
    it.switchboard.run(&["review", "answer", entry["id"].as_str().unwrap(), "decline"]).expect(0);
    it.echo(5);
    assert_eq!(it.switchboard.json(&["review", "list"]), json!([]), "it is asked once");
    drop(gateway);
    let gateway = Gateway::start(&it.switchboard, &[]);
    first_use(&it.switchboard);
    it.switchboard.run(&["pins", "approve", "srv"]).expect(0);
    gateway.wait_for_tool("srv__echo");
    let is_over = || {
        let listed = it.switchboard.json(&["review", "list"]);
        listed.as_array().unwrap().is_empty().then_some(())
    };
    poll(TEST_TIMEOUT, is_over).expect("the question is withdrawn");
}
