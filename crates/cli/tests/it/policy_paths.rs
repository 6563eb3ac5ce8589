//! A call that a rule denies is denied on every way into the host, for every caller.

use serde_json::{Value, json};

use crate::gateway::{Gateway, NEWEST_LEGACY};
use crate::given::{server_entry, tool};
use crate::running::{TEST_TIMEOUT, poll};
use crate::scripted::{configure, last_session, results, task};
use crate::switchboard::{Switchboard, fixture};
use crate::transcript::{redacted, transcript};

/// Returns a home with a server that records every message, and a rule that denies all of it.
fn home_with_denial() -> Switchboard {
    let switchboard = Switchboard::new();
    let journal = switchboard.text_path("journal");
    switchboard.configure(&json!({"echo": fixture(&["echo", "--tasks", "--journal", &journal])}));
    deny(&switchboard);
    switchboard
}

fn deny(switchboard: &Switchboard) {
    let rules = json!([{"effect": "deny", "target": "echo/*", "name": "no echo"}]);
    switchboard.write_policy("enterprise", &json!({ "rules": rules }));
}

fn nothing_ran(switchboard: &Switchboard) {
    let journal = std::fs::read_to_string(switchboard.path("journal")).unwrap_or_default();
    assert_eq!(journal, "", "it ran all the same");
}

const CITED: &str = "not allowed: `no echo` of the enterprise policy (";

#[test]
fn hk_04_a_denied_tool_is_denied_to_a_person_and_to_a_model_at_the_terminal() {
    let switchboard = home_with_denial();
    let mut seen = Vec::new();
    for words in [
        &["call", "echo", "write", "key=a"][..],
        &["call", "echo", "write", "key=a", "--review"],
        &["call", "echo", "write", "key=a", "--task"],
        &["call", "echo", "write", "key=a", "--detach"],
        &["resources", "read", "echo", "test://static-text"],
        &["prompts", "get", "echo", "greet", "name=x"],
    ] {
        let ran = switchboard.run(words);
        assert_eq!(ran.code, 5, "{words:?}: {ran:?}");
        seen.push(transcript(&ran));
    }
    insta::assert_snapshot!(seen.join("\n\n"), @"
    exit status 5
    --- stderr
    error: not allowed: `no echo` of the enterprise policy ([home]/system/policy.json:1)

    exit status 5
    --- stderr
    error: not allowed: `no echo` of the enterprise policy ([home]/system/policy.json:1)

    exit status 5
    --- stderr
    error: not allowed: `no echo` of the enterprise policy ([home]/system/policy.json:1)

    exit status 5
    --- stderr
    error: not allowed: `no echo` of the enterprise policy ([home]/system/policy.json:1)

    exit status 5
    --- stderr
    error: not allowed: `no echo` of the enterprise policy ([home]/system/policy.json:1)

    exit status 5
    --- stderr
    error: not allowed: `no echo` of the enterprise policy ([home]/system/policy.json:1)
    ");
    let watching = switchboard.run(&["resources", "watch", "echo", "test://static-text"]);
    assert!(watching.code != 0 && watching.stderr.contains(CITED), "{watching:?}");
    nothing_ran(&switchboard);
    let calls = switchboard.json(&["calls"]);
    for call in calls.as_array().unwrap() {
        assert_eq!([&call["verdict"], &call["outcome"]], ["deny", "denied"], "{call}");
        let by = call["verdict_by"].as_str().unwrap_or_default();
        assert!(by.starts_with("`no echo` of the enterprise policy ("), "{call}");
        assert!(by.ends_with("policy.json:1)"), "{call}");
    }
}

#[test]
fn hk_04_a_denied_tool_is_denied_to_the_model_of_a_task_whatever_is_allowed_for_it() {
    let switchboard = home_with_denial();
    let servers =
        json!({"echo": fixture(&["echo", "--journal", &switchboard.text_path("journal")])});
    let call = json!({"name": "echo__write", "arguments": {"key": "a"}});
    let turns = json!([{"text": "I write.", "calls": [call]}, {"text": "Told."}]);
    configure(&switchboard, &json!({ "mcpServers": servers }), &turns);
    let ran = switchboard.run(&["run", "--allow", "*", "--allow", "echo/write", "go"]).expect(5);
    insta::assert_snapshot!(transcript(&ran), @r#"
    exit status 5
    --- stdout
    I write.
    Told.
    --- stderr
    → echo/write {"key":"a"}
    ✗ echo/write: denied ([duration], call 1)
      │ Not run, because it is not allowed: not allowed: `no echo` of the enterprise policy ([home]/system/policy.json:1).
    session [session]
    "#);
    let told = results(&switchboard, &last_session(&switchboard));
    assert!(told[0].contains("not allowed") && told[0].contains("`no echo`"), "{told:?}");
    nothing_ran(&switchboard);
}

#[test]
fn hk_04_a_conversation_that_goes_on_is_held_to_the_rules_of_the_day() {
    let switchboard = Switchboard::new();
    let journal = switchboard.text_path("journal");
    let servers = json!({"echo": fixture(&["echo", "--journal", &journal])});
    let call = json!({"name": "echo__write", "arguments": {"key": "a"}});
    let turns = json!([
        {"text": "Hello."}, {"text": "I write.", "calls": [call]}, {"text": "Told."},
    ]);
    configure(&switchboard, &json!({ "mcpServers": servers }), &turns);
    task(&switchboard, &["--allow", "*", "hello"]);
    let session = last_session(&switchboard);
    deny(&switchboard);
    switchboard.run(&["run", "--resume", &session, "--allow", "*", "go on"]).expect(5);
    nothing_ran(&switchboard);
}

#[test]
fn hk_04_a_denied_tool_is_denied_to_clients_of_the_gateway_in_both_eras() {
    let switchboard = Switchboard::new();
    let journal = switchboard.text_path("journal");
    let entry = fixture(&["echo", "--tasks", "--journal", &journal]);
    let neighbour = json!({"tools": [tool("plain", "The neighbour's.", json!({}))]});
    let other = server_entry(&switchboard, "other", &neighbour);
    switchboard.configure(&json!({"echo": entry, "other": other}));
    deny(&switchboard);
    let gateway = Gateway::with_tool(&switchboard, &[], "other__plain");
    let legacy = gateway.legacy(NEWEST_LEGACY);
    let modern = gateway.modern();
    let call = json!({"name": "echo__write", "arguments": {"key": "a"}});
    let answers = [
        legacy.ask("tools/call", &call),
        modern.ask("tools/call", &call),
        modern.ask("prompts/get", &json!({"name": "echo__greet", "arguments": {"name": "x"}})),
        legacy.ask("resources/read", &json!({"uri": "test://static-text"})),
        modern.ask(
            "completion/complete",
            &json!({
                "ref": {"type": "ref/prompt", "name": "echo__greet"},
                "argument": {"name": "name", "value": "a"},
            }),
        ),
    ];
    for answer in answers {
        let text = answer.to_string();
        assert!(text.contains("`no echo` of the enterprise policy"), "{text}");
    }
    nothing_ran(&switchboard);
}

#[test]
fn what_is_denied_to_everybody_is_listed_to_nobody_but_a_person_who_wants_all() {
    let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo"])}));
    let rules = json!([
        {"effect": "deny", "target": "echo/write", "name": "no writing"},
        {"effect": "deny", "target": "echo/add", "when": "args.a > 5"},
        {"effect": "deny", "target": "echo/greet", "kind": "prompt"},
        {"effect": "deny", "target": "echo/test://static-text", "kind": "resource"},
    ]);
    let policy = json!({ "rules": rules });
    let file = switchboard.write_policy("enterprise", &policy);
    let listed = switchboard.tools("echo");
    assert!(!listed.contains(&"write".to_owned()), "{listed:?}");
    assert!(listed.contains(&"add".to_owned()), "it is denied only sometimes: {listed:?}");
    let all = switchboard.json(&["tools", "list", "--all"]);
    let write = all.as_array().unwrap().iter().find(|tool| tool["name"] == "write").unwrap();
    let by = write["forbidden_by"].as_str().unwrap();
    assert!(by.starts_with("`no writing` of the enterprise policy ("), "{by}");
    let shown = switchboard.run(&["tools", "list", "--all"]).expect(0).stdout;
    insta::assert_snapshot!(redacted(&shown), @"
    builtin	echo	Returns the given text. Useful for testing a connection.	
    builtin	files_list	Lists the contents of a folder. Links are shown, not followed; `.git`, `target` and `node_modules` are shown, but entered only if named as `path`.	
    builtin	files_read	Reads a text file, whole or a range of lines, up to 256 KiB at a time; the result says how to continue. Images up to 1 MiB are returned; other binary files are described.	
    builtin	files_search	Finds lines that contain a text, exactly as written (no regular expressions). Skips `.git`, `target`, `node_modules`, links and binary files.	
    builtin	time_convert	Converts a time from one time zone to another.	
    builtin	time_now	Returns the current date and time in a time zone.	
    echo	echo	Answers with the text.	
    echo	add	Adds two numbers.	
    echo	fail	Fails with the message.	
    echo	slow	Answers after a while and reports progress on the way.	
    echo	content	Answers with every kind of content.	
    echo	big	Answers with much text.	
    echo	environment	Answers with the environment.	
    echo	write	Leaves a trace.	`no writing` of the enterprise policy ([home]/system/policy.json:1)
    echo	pid	Answers with the process and its group.	
    echo	grow	Adds a tool.	
    echo	ask	Asks the person a question and answers with the answer.
    ");
    let prompt = switchboard.run(&["tools", "prompt"]).expect(0).stdout;
    assert!(
        prompt.contains("Adds two numbers.") && !prompt.contains("Leaves a trace."),
        "{prompt}"
    );
    let explained =
        switchboard.json(&["policy", "explain", "echo/write", "--args", "{\"key\":\"a\"}"]);
    assert!(explained.to_string().contains("no writing"), "{explained}");

    let gateway = Gateway::with_tool(&switchboard, &[], "echo__add");
    let modern = gateway.modern();
    assert!(!modern.names("tools").contains(&"echo__write".to_owned()));
    assert!(!modern.names("prompts").contains(&"echo__greet".to_owned()));
    let resources = modern.ask("resources/list", &json!({})).to_string();
    assert!(!resources.contains("test://static-text\""), "{resources}");
    let refused = modern.call("echo__write", &json!({"key": "a"})).to_string();
    assert!(refused.contains("`no writing` of the enterprise policy"), "{refused}");

    std::fs::remove_file(file).unwrap();
    gateway.wait_for_tool("echo__write");
}

#[test]
fn pl_01_only_the_exact_name_is_a_name() {
    let switchboard = Switchboard::with(&json!({"github": fixture(&["echo"])}));
    let rules = json!([{"effect": "deny", "target": "github/write"}]);
    switchboard.write_policy("user", &json!({ "rules": rules }));
    switchboard.run(&["call", "github", "write", "key=a"]).expect(5);
    for (server, tool) in [
        ("GitHub", "write"),
        ("github", "Write"),
        ("github", "write "),
        ("github", "write\u{200b}"),
        ("github", "wr%69te"),
        ("github ", "write"),
        ("github", "./write"),
    ] {
        let ran = switchboard.run(&["call", server, tool, "key=a"]);
        assert_eq!(ran.code, 2, "{server:?} {tool:?}: {ran:?}");
    }
}

fn allowed_by(switchboard: &Switchboard, arguments: &Value) -> i32 {
    let text = arguments.to_string();
    switchboard.run(&["call", "echo", "echo", "--json-args", &text, "--review"]).code
}

#[test]
fn pl_03_04_05_arguments_are_compared_by_their_type() {
    for (when, allowed, refused) in [
        (
            "path_in(args.text, '/data')",
            &["/data/a", "/data/./a"][..],
            &["/data/../etc/passwd", "/data2", "/DATA", "/data/../../etc", "data"][..],
        ),
        (
            "host_in(args.text, '*.example.com')",
            &["https://api.example.com/x"],
            &[
                "https://example.com.evil.tld",
                "https://evil.tld#.example.com",
                "https://api.example.com@evil.tld",
                "https://api.example.com.",
            ],
        ),
    ] {
        let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo"])}));
        let rules = json!([{"effect": "allow", "target": "echo/echo", "when": when}]);
        switchboard.write_policy("user", &json!({ "rules": rules }));
        for text in allowed {
            assert_eq!(allowed_by(&switchboard, &json!({ "text": text })), 0, "{text}");
        }
        for text in refused {
            assert_eq!(allowed_by(&switchboard, &json!({ "text": text })), 5, "{text}");
        }
    }
    let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo"])}));
    let rules = json!([{"effect": "allow", "target": "echo/echo", "when": "args.amount < 500"}]);
    switchboard.write_policy("user", &json!({ "rules": rules }));
    for (amount, code) in [
        ("499", 0),
        ("4.99e2", 0),
        ("500.0000000001", 5),
        ("\"499\"", 5),
        ("[499]", 5),
        ("null", 5),
    ] {
        let text = format!(r#"{{"text":"x","amount":{amount}}}"#);
        let ran = switchboard.run(&["call", "echo", "echo", "--json-args", &text, "--review"]);
        assert_eq!(ran.code, code, "{amount}: {ran:?}");
    }
    assert_eq!(allowed_by(&switchboard, &json!({"text": "x"})), 5, "missing");
}

#[test]
fn pl_07_a_rule_sees_every_argument_that_is_sent() {
    let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo"])}));
    let when = "args.exists(name, name != 'text')";
    let rules = json!([{"effect": "deny", "target": "echo/*", "when": when}]);
    switchboard.write_policy("enterprise", &json!({ "rules": rules }));
    let code =
        |arguments: &str| switchboard.run(&["call", "echo", "echo", "--json-args", arguments]).code;
    assert_eq!(code(r#"{"text":"a"}"#), 0);
    for hidden in ["payload", "_meta", "Text", "text ", "\\u0074ext2"] {
        assert_eq!(code(&format!(r#"{{"text":"a","{hidden}":"x"}}"#)), 5, "{hidden}");
    }
    // A duplicate name could be read in two ways, so the call is not sent at all.
    assert_eq!(code(r#"{"text":"a","text":"b"}"#), 2);
}

#[test]
fn a_person_who_puts_denied_arguments_in_place_is_told_so() {
    let switchboard = Switchboard::new();
    let entry = fixture(&["echo", "--journal", &switchboard.text_path("journal")]);
    switchboard.configure(&json!({ "echo": entry }));
    let rules = json!([{"effect": "deny", "target": "echo/write", "when": "args.key == 'bad'"}]);
    switchboard.write_policy("enterprise", &json!({ "rules": rules }));
    let words = ["call", "echo", "write", "key=good", "--review", "--wait-for-review=60s"];
    let waiting = switchboard.start(&words);
    let entry = first_waiting(&switchboard);
    let bad = r#"{"key":"bad"}"#;
    switchboard.run(&["review", "answer", &entry, "run", "--json-args", bad]).expect(0);
    let again = another_waiting(&switchboard, &entry);
    let shown = switchboard.json(&["review", "show", &again]);
    assert!(shown["problem"].as_str().unwrap().contains("not allowed"), "{shown}");
    assert!(shown["risk"]["score"].as_u64().unwrap() > 0, "{shown}");
    switchboard.run(&["review", "answer", &again, "run"]).expect(0);
    waiting.finish_within(TEST_TIMEOUT).expect(0);
    let journal = std::fs::read_to_string(switchboard.path("journal")).unwrap();
    assert_eq!(journal, "write good\n");
}

fn first_waiting(switchboard: &Switchboard) -> String {
    another_waiting(switchboard, "")
}

fn another_waiting(switchboard: &Switchboard, than: &str) -> String {
    let found = poll(TEST_TIMEOUT, || {
        let listed = switchboard.json(&["review", "list"]);
        let ids = listed.as_array().unwrap().iter().map(|entry| entry["id"].as_str().unwrap());
        let mut others = ids.filter(|id| *id != than).map(str::to_owned);
        others.next()
    });
    found.expect("nothing waits")
}

#[test]
fn ux_05_a_rule_sees_through_characters_that_cannot_be_seen() {
    let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo"])}));
    let when = "args.text.contains('rm -rf')";
    let rules = json!([{"effect": "deny", "target": "echo/echo", "when": when}]);
    switchboard.write_policy("enterprise", &json!({ "rules": rules }));
    for (text, code) in
        [("ls", 0), ("rm -rf /", 5), ("r\u{200b}m -rf /", 5), ("r\u{2060}m -r\u{200d}f", 5)]
    {
        let arguments = json!({ "text": text }).to_string();
        let ran = switchboard.run(&["call", "echo", "echo", "--json-args", &arguments]);
        assert_eq!(ran.code, code, "{text:?}: {ran:?}");
    }
}

#[test]
fn pl_01_a_denied_name_is_denied_in_every_spelling_that_a_server_offers() {
    let spellings = [
        "write", "Write", "ｗrite", "𝐰rite", "wr\u{456}te", "wri\u{301}te", "wr\u{ed}te",
        "wr\u{200b}ite", "write ",
    ];
    let names = spellings.iter().chain(&["rewrite"]);
    let tools: Vec<Value> = names.map(|name| tool(name, "Writes.", json!({}))).collect();
    let switchboard = Switchboard::new();
    let uris =
        ["file:///etc/passwd", "FILE:///etc/Passwd", "file:/etc/passwd", "file:///etc/%70asswd"];
    let resources: Vec<Value> = uris.iter().map(|uri| json!({"uri": uri, "name": "one"})).collect();
    let prompts = json!([{"name": "gr\u{f6}sse"}, {"name": "gro\u{308}sse"}]);
    let offers = json!({
        "tools": tools, "resources": resources, "prompts": prompts,
    });
    let entry = server_entry(&switchboard, "github", &offers);
    let config = json!({"mcpServers": {"github": entry}, "settings": {"scan": "off"}});
    switchboard.write_config(&config.to_string());
    let deny = |target: &str| json!({"effect": "deny", "target": target});
    let rules =
        json!([deny("github/write"), deny("github/file:///etc/*"), deny("github/gr\u{f6}sse"),]);
    switchboard.write_policy("user", &json!({ "rules": rules }));
    for name in spellings {
        let ran = switchboard.run(&["call", "github", name]);
        assert_eq!(ran.code, 5, "{name:?}: {ran:?}");
    }
    switchboard.run(&["call", "github", "rewrite"]).expect(0);
    for uri in uris {
        let ran = switchboard.run(&["resources", "read", "github", uri]);
        assert_eq!(ran.code, 5, "{uri}: {ran:?}");
    }
    for prompt in ["gr\u{f6}sse", "gro\u{308}sse"] {
        let ran = switchboard.run(&["prompts", "get", "github", prompt]);
        assert_eq!(ran.code, 5, "{prompt}: {ran:?}");
    }
    // An `allow` matches the exact spelling of the name only.
    let allow = json!([{"effect": "allow", "target": "github/write"}]);
    switchboard.write_policy("user", &json!({ "rules": allow }));
    for (name, code) in [("write", 0), ("Write", 5), ("ｗrite", 5)] {
        let ran = switchboard.run(&["call", "github", name, "--review"]);
        assert_eq!(ran.code, code, "{name:?}: {ran:?}");
    }
}
