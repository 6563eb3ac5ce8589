//! Every answer of the JSON API conforms to its served description.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::console_apps;
use crate::console_person::{Person, client_call};
use crate::scripted::scripted_home;
use crate::serve_client::until;
use crate::switchboard::{Switchboard, fixture};
use crate::told_server;

/// Returns a console with servers of several kinds, one of them broken, and a model.
fn whole(arguments: &[&str]) -> (Switchboard, Person) {
    let turns = json!([
        {"calls": [{"name": "echo__add", "arguments": {"a": 1, "b": 2}}]},
        {"text": "Three.", "chunk": 2},
    ]);
    let config = json!({"mcpServers": {
        "echo": fixture(&["echo"]),
        "conformance": fixture(&["conformance"]),
        "apps": {"url": told_server::start_whole(console_apps::says)},
        "broken": {"command": "/nowhere/at-all"},
        "off": {"command": "x", "disabled": true},
    }});
    let switchboard = scripted_home(&config, &turns);
    switchboard.write_policy(
        "user",
        &json!({"rules": [{"effect": "allow", "target": "apps/*", "name": "n"}]}),
    );
    let person = Person::at(&switchboard, arguments);
    for server in ["echo", "conformance", "apps"] {
        until(|| person.ask(&format!("servers/{server}"))["state"] == "ready");
    }
    (switchboard, person)
}

/// Performs an action and returns its answer; every answer is validated against its schema.
fn done(person: &Person, path: &str, body: &Value) -> Value {
    let reply = person.act(path, body);
    assert_eq!(reply.status, 200, "{path} {reply:?}");
    reply.json()
}

#[test]
fn whatever_can_be_looked_at_is_as_described() {
    let (_switchboard, person) = whole(&["--review", "ask"]);
    let id = person.call("echo", "echo", &json!({"text": "hi"}))["id"].as_str().unwrap().to_owned();
    person.call("echo", "echo", &json!({}));
    let session = done(&person, "sessions", &json!({"text": "Add"}))["session"].clone();
    let session = session.as_str().unwrap().to_owned();
    until(|| person.ask("reviews").as_array().unwrap().len() == 1);
    let site = *person.serving;
    let asked =
        std::thread::spawn(move || site.send(&client_call("echo__write", &json!({"key": "k"}))));
    until(|| person.ask("reviews").as_array().unwrap().len() == 2);
    let prompts = person.ask("catalog/prompts?server=conformance");
    let prompt = prompts[0]["key"].as_str().unwrap().to_owned();
    let looked_at = [
        "openapi.json".to_owned(),
        "overview".to_owned(),
        "servers".to_owned(),
        "servers/echo".to_owned(),
        "servers/broken".to_owned(),
        "servers/off".to_owned(),
        "servers/builtin".to_owned(),
        "servers/apps".to_owned(),
        "servers/echo/entry".to_owned(),
        "tools".to_owned(),
        "tools?q=add".to_owned(),
        "tools/echo/add".to_owned(),
        "tools/apps/show".to_owned(),
        "catalog/tools".to_owned(),
        "catalog/tools?all=true&limit=3&q=add".to_owned(),
        "catalog/tools/echo/add".to_owned(),
        "catalog/resources".to_owned(),
        "catalog/prompts".to_owned(),
        "resources".to_owned(),
        format!("prompts/conformance/{prompt}"),
        "reviews".to_owned(),
        "policy".to_owned(),
        "pins".to_owned(),
        "calls".to_owned(),
        "calls?limit=1&outcome=ok".to_owned(),
        "calls/export".to_owned(),
        format!("calls/{id}"),
        format!("calls/{id}/result"),
        format!("calls/{id}/parts/0"),
        "sessions".to_owned(),
        format!("sessions/{session}"),
    ];
    let mut seen = BTreeSet::from(["/api/v1/events".to_owned()]);
    seen.insert("/api/v1/sessions/{session}/events".to_owned());
    for path in looked_at {
        let path = format!("/api/v1/{path}");
        let reply = person.get(&path);
        assert_eq!(reply.status, 200, "{path} {reply:?}");
        seen.extend(person.api_description().matching_path("GET", &path));
    }
    let paths = person.api_description().document["paths"].as_object().unwrap().iter();
    let all = paths.filter(|(_, methods)| methods.get("get").is_some());
    let all: BTreeSet<String> = all.map(|(path, _)| path.clone()).collect();
    assert_eq!(all.difference(&seen).collect::<Vec<_>>(), Vec::<&String>::new());
    for wrong in ["calls?limit=x", "calls?outcome=x", "servers/none", "calls/x", "sessions/none"] {
        let reply = person.get(&format!("/api/v1/{wrong}"));
        assert!((400..500).contains(&reply.status), "{wrong} {reply:?}");
    }
    for review in person.ask("reviews").as_array().unwrap() {
        let path = format!("reviews/{}/answer", review["id"].as_str().unwrap());
        done(&person, &path, &json!({"digest": review["digest"], "answer": "skip"}));
    }
    asked.join().unwrap();
}

#[test]
fn whatever_is_done_answers_as_described() {
    let (_switchboard, person) = whole(&[]);
    let id =
        done(&person, "tools/echo/echo/call", &json!({"arguments": {"text": "a"}}))["id"].clone();
    done(&person, &format!("calls/{}/again", id.as_str().unwrap()), &json!({}));
    done(&person, "tools/echo/echo/call", &json!({"arguments": {"text": 7}}));
    done(&person, "resources/read", &json!({"server": "apps", "uri": "file:///plain"}));
    done(&person, "tools/apps/show/app", &json!({}));
    done(&person, "tools/apps/show/app/call", &json!({"name": "other"}));
    done(&person, "tools/apps/show/app/read", &json!({"uri": "file:///plain"}));
    let prompts = person.ask("catalog/prompts?server=conformance");
    let prompt = prompts[0]["key"].as_str().unwrap().to_owned();
    done(&person, &format!("prompts/conformance/{prompt}/get"), &json!({}));
    done(&person, "complete", &json!({"server": "conformance", "prompt": prompt, "argument": "a"}));
    let tried = json!({"server": "echo", "name": "echo", "arguments": {"text": "a"}});
    done(&person, "policy/explain", &tried);
    let rules = r#"{"rules": [{"effect": "deny", "target": "echo/echo"}]}"#;
    done(&person, "policy/what-if", &json!({"text": rules}));
    done(&person, "configurations/installed", &json!({}));
    let text = r#"{"mcpServers": {"new": {"command": "sh", "args": ["-c", "x"]}}}"#;
    done(&person, "configurations/read", &json!({"text": text}));
    done(&person, "servers", &json!({"name": "extra", "entry": fixture(&["echo"])}));
    until(|| person.ask("servers/extra")["state"] == "ready");
    done(&person, "servers/extra/edit", &json!({"entry": fixture(&["echo"])}));
    done(&person, "servers/extra/disable", &json!({}));
    done(&person, "servers/extra/enable", &json!({}));
    until(|| person.ask("servers/extra")["state"] == "ready");
    done(&person, "servers/extra/restart", &json!({}));
    done(&person, "pins/revoke", &json!({"server": "echo", "name": "add"}));
    // The server added here is held as well: its definitions have not been approved.
    let held_of = |server: &str| {
        let held = person.ask("pins");
        let of_server = held.as_array().unwrap().iter().find(|held| held["server"] == server);
        of_server.map(|held| held["definitions"][0].clone())
    };
    assert!(held_of("extra").is_some());
    until(|| held_of("echo").is_some());
    let held = held_of("echo").unwrap();
    person.ask("tools/echo/add");
    let shown = json!({"kind": held["kind"], "name": held["name"], "digest": held["digest"]});
    done(&person, "pins/approve", &json!({"server": "echo", "definitions": [shown]}));
    done(&person, "servers/extra/remove", &json!({}));
    let session = done(&person, "sessions", &json!({}))["session"].as_str().unwrap().to_owned();
    done(&person, &format!("sessions/{session}/say"), &json!({"text": "Add"}));
    until(|| person.ask("reviews").as_array().unwrap().len() == 1);
    let review = person.ask("reviews")[0].clone();
    let path = format!("reviews/{}/answer", review["id"].as_str().unwrap());
    done(&person, &path, &json!({"digest": review["digest"], "answer": "run"}));
    until(|| person.ask(&format!("sessions/{session}"))["turns"].to_string().contains("Three."));
    done(&person, &format!("sessions/{session}/direct"), &json!({"what": "cancel"}));
    assert_eq!(person.act("servers", &json!({"name": 7})).status, 422);
    assert_eq!(person.act(&path, &json!({"digest": "x", "answer": "run"})).status, 409);
    assert_eq!(person.act("servers/echo/logout", &json!({})).status, 422);
    done(&person, "sign-out", &json!({}));
}

#[test]
fn whatever_is_told_is_as_described() {
    let (_switchboard, person) = whole(&[]);
    let session = done(&person, "sessions", &json!({}))["session"].as_str().unwrap().to_owned();
    let heard = format!("/api/v1/sessions/{session}/events");
    let listening = person.request("GET", &heard).with("X-Switchboard-Token", &person.token);
    let mut in_session = person.serving.open(&listening);
    let mut events = person.listen(None);
    let mut told = BTreeSet::new();
    let mut next = |events: &mut crate::serve_client::Events, path: &str, last: &str| loop {
        let line = events.line_with("data: ").unwrap();
        let data = line.strip_prefix("data: ").unwrap();
        person.api_description().check_event(path, data);
        let value: Value = serde_json::from_str(data).unwrap();
        let event = value["event"].as_str().unwrap().to_owned();
        told.insert(event.clone());
        if event == last {
            return;
        }
    };
    next(&mut in_session, &heard, "hello");
    next(&mut events, "/api/v1/events", "hello");
    let slow = json!({"arguments": {"ms": 100, "steps": 2}, "watch": "word"});
    done(&person, "tools/echo/slow/call", &slow);
    next(&mut events, "/api/v1/events", "call_finished");
    done(&person, &format!("sessions/{session}/say"), &json!({"text": "Add"}));
    until(|| person.ask("reviews").as_array().unwrap().len() == 1);
    let review = person.ask("reviews")[0].clone();
    let path = format!("reviews/{}/answer", review["id"].as_str().unwrap());
    done(&person, &path, &json!({"digest": review["digest"], "answer": "run"}));
    next(&mut in_session, &heard, "turn_ended");
    next(&mut events, "/api/v1/events", "answered");
    done(&person, "servers/echo/restart", &json!({}));
    next(&mut events, "/api/v1/events", "server_changed");
    for event in ["hello", "progress", "call_started", "waiting", "text", "call", "ended"] {
        assert!(told.contains(event), "nothing is told of {event}: {told:?}");
    }
}
