//! Tests of the names that the gateway assigns to servers with a `prefix`.

use serde_json::{Value, json};

use crate::gateway::{Gateway, answer_text};
use crate::serve_client::until;
use crate::switchboard::{Switchboard, fixture};
use crate::transcript::redacted;

/// Returns a fixture with a prefix.
fn prefixed_server(prefix: &str) -> Value {
    let mut entry = fixture(&["echo"]);
    entry["prefix"] = prefix.into();
    entry
}

#[test]
fn a_prefix_takes_the_place_of_the_servers_name_and_an_empty_one_is_none() {
    let switchboard = Switchboard::with(&json!({
        "long-name": prefixed_server("gh"), "plain": prefixed_server(""), "usual": fixture(&["echo"]),
    }));
    let gateway = Gateway::with_tool(&switchboard, &[], "gh__echo");
    let client = gateway.modern();
    let names = client.names("tools");
    let echoes: Vec<&String> = names.iter().filter(|name| name.ends_with("echo")).collect();
    assert_eq!(echoes, ["builtin__echo", "usual__echo", "gh__echo", "echo"]);
    let prompts = client.names("prompts");
    assert_eq!(prompts, ["builtin__summarize_file", "usual__greet", "gh__greet", "greet"]);
    for name in ["gh__echo", "echo", "usual__echo"] {
        assert_eq!(answer_text(&client.call(name, &json!({"text": name}))), name);
    }
    for name in ["gh__greet", "greet", "usual__greet"] {
        let prompt = json!({"name": name, "arguments": {"name": "Ada"}});
        let fetched = client.ask("prompts/get", &prompt);
        assert_eq!(fetched["result"]["messages"][0]["content"]["text"], "Hello, Ada.", "{fetched}");
    }
    let nobody = client.call("long-name__echo", &json!({"text": "a"}));
    let why = nobody["error"]["message"].as_str().unwrap();
    assert!(why.starts_with("unknown tool `long-name__echo`"), "{why}");
    assert_eq!(
        switchboard.recorded_calls(),
        [
            "tool long-name/echo: ok",
            "tool plain/echo: ok",
            "tool usual/echo: ok",
            "prompt long-name/greet: ok",
            "prompt plain/greet: ok",
            "prompt usual/greet: ok",
        ]
    );
}

#[test]
fn a_prefix_stays_where_all_other_names_are_plain() {
    let switchboard =
        Switchboard::with(&json!({"one": prefixed_server("gh"), "two": fixture(&["echo"])}));
    let only = ["--server", "one", "--server", "two", "--names", "plain"];
    let gateway = Gateway::start(&switchboard, &only);
    let names = gateway.modern().names("tools");
    assert!(names.contains(&"gh__echo".to_owned()) && names.contains(&"echo".to_owned()));
}

#[test]
fn names_that_meet_are_refused_at_the_start_with_both_servers() {
    for (servers, words) in [
        (
            json!({"one": prefixed_server("x"), "two": prefixed_server("x")}),
            "`x__echo` of `one` and `two`",
        ),
        (
            json!({"a": prefixed_server("two"), "two": fixture(&["echo"])}),
            "`two__echo` of `two` and `a`",
        ),
        (
            json!({"one": prefixed_server(""), "two": prefixed_server("")}),
            "`echo` of `one` and `two`",
        ),
        (json!({"one": prefixed_server("builtin")}), "`builtin__echo` of `builtin` and `one`"),
    ] {
        let switchboard = Switchboard::with(&servers);
        let refused = switchboard.run(&["serve", "--listen", "127.0.0.1:0"]).expect(3);
        assert!(refused.stderr.contains(words), "no `{words}` in {refused:?}");
        assert!(refused.stderr.contains("hint: set a `prefix` for one of them"), "{refused:?}");
    }
}

#[test]
fn a_prefix_that_comes_later_takes_no_name_away() {
    let switchboard = Switchboard::with(&json!({"two": fixture(&["echo"])}));
    let gateway = Gateway::with_tool(&switchboard, &[], "two__echo");
    let other = json!({
        "command": switchboard_testkit::binary(), "args": ["weather"], "prefix": "two",
    });
    switchboard.configure(&json!({"a": other.clone(), "two": fixture(&["echo"])}));
    let client = gateway.modern();
    until(|| client.names("tools").contains(&"two__get_forecast".to_owned()));
    // The same server again, with tools of the same names.
    switchboard.configure(&json!({"a": prefixed_server("two"), "two": fixture(&["echo"])}));
    until(|| !client.names("tools").contains(&"two__get_forecast".to_owned()));
    assert_eq!(answer_text(&client.call("two__echo", &json!({"text": "mine"}))), "mine");
    assert_eq!(switchboard.recorded_calls(), ["tool two/echo: ok"]);
}

#[test]
fn a_prefix_that_cannot_be_part_of_a_name_breaks_its_server_alone() {
    let switchboard = Switchboard::with(&json!({
        "bad": prefixed_server("a b"), "long": prefixed_server(&"x".repeat(33)), "good": prefixed_server("x-1_Y"),
    }));
    let gateway = Gateway::with_tool(&switchboard, &[], "x-1_Y__echo");
    let names = gateway.modern().names("tools");
    assert!(!names.iter().any(|name| name.contains("bad") || name.contains("long")), "{names:?}");
    let shown = switchboard.run(&["servers"]).stderr;
    insta::assert_snapshot!(redacted(&shown), @"
    warning: server `bad` is not ready: `bad`: `prefix` must be at most 32 letters, digits, `_` and `-`, not `a b` ([home]/own/config.json:1)
    hint: run `switchboard doctor bad`
    warning: server `long` is not ready: `long`: `prefix` must be at most 32 letters, digits, `_` and `-`, not `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx` ([home]/own/config.json:1)
    hint: run `switchboard doctor long`
    ");
}

#[test]
fn who_comes_later_is_not_called_under_a_name_that_another_server_has() {
    let switchboard = Switchboard::new();
    let of = |server: &str| {
        let text = |text: String| json!({"content": [{"type": "text", "text": text}]});
        let page = json!([{"uri": "x://page", "text": server}]);
        let offers = json!({
            "tools": [{"name": "same", "inputSchema": {"type": "object"}}],
            "results": {"same": text(format!("by {server}"))},
            "resources": [{"uri": "x://page", "name": "page"}],
            "contents": {"x://page": page},
        });
        let file = switchboard.write(&format!("{server}.json"), &offers.to_string());
        fixture(&["given", "--offers", file.to_str().unwrap()])
    };
    let early = of("z-early");
    let late = of("a-late");
    let other = fixture(&["weather"]);
    switchboard.configure(&json!({"z-early": early}));
    let gateway = Gateway::with_tool(&switchboard, &["--names", "plain"], "same");
    let client = gateway.modern();
    let read = |uri: &str| client.ask("resources/read", &json!({"uri": uri}));
    assert_eq!(answer_text(&client.call("same", &json!({}))), "by z-early");
    // It sorts before the other server, and is certainly ready when the third one is.
    switchboard.configure(&json!({"z-early": early, "a-late": late}));
    gateway.running.wait_for_note(
        "warning: `same` of server `a-late` is hidden, because `z-early` has that name\n\
         hint: set a `prefix` for `a-late`\n",
    );
    until(|| read("switchboard:a-late:x://page")["result"].is_object());
    let names = client.names("tools");
    assert_eq!(names.iter().filter(|name| *name == "same").count(), 1, "{names:?}");
    assert_eq!(answer_text(&client.call("same", &json!({}))), "by z-early");
    assert_eq!(read("x://page")["result"]["contents"][0]["text"], "z-early");
    // It gets the names once no other server has them.
    switchboard.configure(&json!({"a-late": late, "other": other}));
    gateway.wait_for_tool("get_forecast");
    until(|| answer_text(&client.call("same", &json!({}))) == "by a-late");
    assert_eq!(read("x://page")["result"]["contents"][0]["text"], "a-late");
}
