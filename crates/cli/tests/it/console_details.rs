//! The web console's knowledge of servers, tools and arguments, and its reports during a call.

use std::io::Write as _;
use std::thread;

use serde_json::json;

use crate::console_person::Person;
use crate::serve_client::until;
use crate::switchboard::{Switchboard, fixture};

fn with(mode: &str) -> (Switchboard, Person) {
    let switchboard = Switchboard::with(&json!({"one": fixture(&[mode])}));
    let person = Person::at(&switchboard, &[]);
    until(|| person.ask("servers/one")["state"] == "ready");
    (switchboard, person)
}

#[test]
fn a_server_says_since_when_it_is_up_and_what_it_has_in_memory() {
    let (_switchboard, person) = with("echo");
    let shown = person.ask("servers/one");
    assert!(shown["up_seconds"].is_u64(), "{shown}");
    let page = person.get("/servers/one").body;
    assert!(page.contains("Uptime"), "{page}");
    if cfg!(target_os = "linux") {
        assert!(shown["memory_bytes"].as_u64().unwrap() > 100_000, "{shown}");
        assert!(page.contains("<dt>Memory</dt>"), "{page}");
    }
    assert!(person.get("/servers").body.contains("less than a minute"));
}

#[test]
fn whoever_watches_a_call_is_told_how_far_it_is() {
    let (_switchboard, person) = with("echo");
    let mut events = person.listen(None);
    events.line_with("hello").unwrap();
    let body = json!({"arguments": {"ms": 300, "steps": 3}, "watch": "my-word"});
    let told = thread::scope(|scope| {
        let calling = scope.spawn(|| person.act("tools/one/slow/call", &body));
        let told = events.line_with("\"event\":\"progress\"").unwrap();
        assert_eq!(calling.join().unwrap().json()["outcome"], "ok");
        told
    });
    assert!(told.contains("\"watch\":\"my-word\"") && told.contains("\"total\":3"), "{told}");
    let silent = person.call("one", "slow", &json!({"ms": 1}));
    assert_eq!(silent["outcome"], "ok");
}

#[test]
fn whoever_goes_away_gives_the_call_up_and_the_record_says_so() {
    let (_switchboard, person) = with("echo");
    let mut events = person.listen(None);
    events.line_with("hello").unwrap();
    let body = json!({"arguments": {"ms": 60_000, "steps": 600}, "watch": "gone"});
    let mut calling = person.serving.connect();
    let request = person.action("tools/one/slow/call", &body).text(person.serving.port);
    calling.write_all(request.as_bytes()).unwrap();
    events.line_with("\"event\":\"progress\"").unwrap();
    drop(calling);
    let newest = || person.ask("calls?tool=slow")["calls"][0]["state"].clone();
    until(|| newest() == "cancelled");
}

#[test]
fn arguments_of_prompts_and_gaps_of_templates_are_completed() {
    let (_switchboard, person) = with("conformance");
    let offered = person.ask("resources");
    let mut prompts = offered["prompts"].as_array().unwrap().iter();
    let prompt = &prompts.find(|prompt| prompt["server"] == "one").unwrap()["name"];
    let path = format!("prompts/one/{}", prompt.as_str().unwrap());
    assert_eq!(person.ask(&path)["name"], *prompt);
    let body = json!({"server": "one", "prompt": prompt, "argument": "a", "value": ""});
    let answer = person.act("complete", &body);
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(answer.json()["values"].is_array(), "{answer:?}");
    for wrong in [
        json!({"server": "one", "argument": "a"}),
        json!({"server": "one", "prompt": "p", "template": "t", "argument": "a"}),
        json!({"server": "none", "prompt": "p", "argument": "a"}),
    ] {
        assert_eq!(person.act("complete", &wrong).status, 422, "{wrong}");
    }
    let page = person.get("/resources").body;
    assert!(page.contains("data-complete-template="), "{page}");
    assert!(person.get(&format!("/{path}")).body.contains("data-complete-prompt="));
}

#[test]
fn a_tool_says_its_risk_and_the_catalog_gives_definitions_to_the_letter() {
    let (_switchboard, person) = with("echo");
    let tool = person.ask("tools/one/add");
    assert!(tool["risk"]["score"].as_u64().unwrap() > 0, "{tool}");
    let page = person.get("/tools/one/add").body;
    assert!(page.contains("Risk "), "{page}");
    let listed = person.ask("catalog/tools?server=one");
    let names: Vec<_> = listed.as_array().unwrap().iter().map(|one| one["name"].clone()).collect();
    assert!(names.contains(&json!("add")) && names.contains(&json!("slow")), "{names:?}");
    assert!(listed[0]["definition"]["inputSchema"].is_object(), "{listed}");
    assert_eq!(person.ask("catalog/tools?q=add+numbers&limit=1").as_array().unwrap().len(), 1);
    assert_eq!(person.ask("catalog/tools/one/add")["name"], "add");
    assert_eq!(person.get("/api/v1/catalog/tools/one/none").status, 404);
    assert!(person.ask("catalog/resources").is_array());
    assert!(person.ask("catalog/prompts?server=one").is_array());
}
