//! Tests of every client revision and transport against every server revision and transport.

use serde_json::{Value, json};
use switchboard_testkit::HttpFixture;

use crate::gateway::{Gateway, answer_text};
use crate::speakers::{LEGACY, LegacyHttp, ModernHttp, Pipe, Speaker, Sse};
use crate::switchboard::{Switchboard, fixture};

/// One server per revision and transport.
struct Servers {
    entries: Value,
    /// The name and revision of each server.
    names: Vec<(String, &'static str)>,
    _remote: Vec<HttpFixture>,
}

fn servers() -> Servers {
    let mut all = Servers { entries: json!({}), names: Vec::new(), _remote: Vec::new() };
    for revision in LEGACY.into_iter().chain(["2026-07-28"]) {
        let spoken: &[&str] = match revision {
            "2026-07-28" => &["--era", "modern"],
            revision => &["--era", "legacy", "--revision", revision],
        };
        for transport in ["stdio", "http", "sse"] {
            if transport == "sse" && revision != "2024-11-05" {
                continue;
            }
            let name = format!("{revision}-{transport}");
            let words = [&["echo", "--transport", transport], spoken].concat();
            if transport == "stdio" {
                all.entries[&name] = fixture(&words);
            } else {
                let remote = HttpFixture::start(&words);
                all.entries[&name] = json!({"url": remote.url});
                all._remote.push(remote);
            }
            all.names.push((name, revision));
        }
    }
    all
}

/// Returns the client's address of a resource that all servers have.
fn address(client: &mut dyn Speaker, server: &str) -> String {
    let listed = client.ask("resources/list", &json!({}));
    let all = listed["result"]["resources"].as_array().unwrap();
    let own = format!("switchboard:{server}:test://static-text");
    let has = |uri: &str| all.iter().any(|item| item["uri"] == uri);
    assert!(has("test://static-text"), "{listed}");
    if has(&own) { own } else { "test://static-text".to_owned() }
}

/// Lists, calls, reads, fetches, follows progress and answers questions, with every server.
fn check(client: &mut dyn Speaker, servers: &Servers) {
    let name = client.name();
    let tools = client.ask("tools/list", &json!({}));
    let tools: Vec<&str> = tools["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    for (server, revision) in &servers.names {
        let what = format!("client {name}, server {server}");
        for tool in ["echo", "add", "ask"] {
            assert!(tools.contains(&&*format!("{server}__{tool}")), "{what}: {tools:?}");
        }
        let call = |tool: &str, arguments: Value| json!({"name": format!("{server}__{tool}"), "arguments": arguments});
        let echoed = client.ask("tools/call", &call("echo", json!({"text": what})));
        assert_eq!(answer_text(&echoed), what);
        // Members of one era only are added, and do not disturb the other era.
        let is_modern = client.revision() == "2026-07-28";
        let kind = echoed["result"].get("resultType");
        assert!(!is_modern || kind == Some(&json!("complete")), "{what}: {echoed}");
        let mut slow = call("slow", json!({"ms": 20, "steps": 2}));
        slow["_meta"]["progressToken"] = json!("mine");
        let heard = client.say("tools/call", &slow, &Value::Null);
        assert_eq!(answer_text(&heard.answer()), "slept 20 ms", "{what}");
        assert_eq!(heard.count("notifications/progress"), 2, "{what}: {heard:?}");
        let uri = address(client, server);
        let read = client.ask("resources/read", &json!({"uri": uri}));
        assert!(read["result"]["contents"][0]["text"].is_string(), "{what}: {read}");
        assert_eq!(read["result"]["contents"][0]["uri"], uri, "{what}: {read}");
        let hints = [&read["result"]["ttlMs"], &read["result"]["cacheScope"]];
        assert!(!is_modern || hints.iter().all(|hint| !hint.is_null()), "{what}: {read}");
        let greet = json!({"name": format!("{server}__greet"), "arguments": {"name": "Ada"}});
        let prompt = client.ask("prompts/get", &greet);
        let greeted = &prompt["result"]["messages"][0]["content"]["text"];
        assert_eq!(greeted, "Hello, Ada.", "{what}");
        let failed = client.ask("tools/call", &call("fail", json!({"message": "no"})));
        assert_eq!(failed["result"]["isError"], true, "{what}");
        if client.can_be_asked() && *revision >= "2025-06-18" {
            let reply = json!({"action": "accept", "content": {"answer": "blue"}});
            let heard = client.say("tools/call", &call("ask", json!({"question": "?"})), &reply);
            assert_eq!(answer_text(&heard.answer()), "blue", "{what}: {heard:?}");
            assert_eq!(heard.count("elicitation/create"), 1, "{what}: {heard:?}");
        }
    }
}

#[test]
fn clients_of_every_revision_use_servers_of_every_revision_over_http() {
    let servers = servers();
    let switchboard = Switchboard::with(&servers.entries);
    let gateway = Gateway::start(&switchboard, &[]);
    for (name, _) in &servers.names {
        gateway.wait_for_tool(&format!("{name}__echo"));
    }
    check(&mut ModernHttp::new(&gateway), &servers);
    for revision in LEGACY {
        check(&mut LegacyHttp::new(&gateway, revision), &servers);
    }
    check(&mut Sse::new(&gateway), &servers);
}

#[test]
fn clients_of_every_revision_use_servers_of_every_revision_over_a_pipe() {
    let servers = servers();
    let switchboard = Switchboard::with(&servers.entries);
    let mut pipe = Pipe::new(switchboard.start(&["serve", "--stdio"]));
    // A call waits for its server, so every server is ready before the lists are read.
    for (name, _) in &servers.names {
        let call = json!({"name": format!("{name}__echo"), "arguments": {"text": "up"}});
        assert_eq!(answer_text(&pipe.modern().ask("tools/call", &call)), "up", "{name}");
    }
    check(&mut pipe.modern(), &servers);
    for revision in LEGACY {
        check(&mut pipe.legacy(revision), &servers);
    }
}
