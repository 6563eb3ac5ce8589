//! Rules and pins in the web console: shown, tried, compared, approved.

use serde_json::{Value, json};

use crate::console_person::Person;
use crate::serve_client::until;
use crate::switchboard::{Switchboard, fixture};

fn ready(person: &Person, server: &str) {
    until(|| person.ask(&format!("servers/{server}"))["state"] == "ready");
}

#[test]
fn rules_are_shown_by_level_with_their_line_and_a_call_is_tried_against_them() {
    let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo"])}));
    switchboard.write_policy_text(
        "enterprise",
        "{\n  \"rules\": [\n    {\"effect\": \"deny\", \"target\": \"*/write\", \"name\": \"no writing\"}\n  ]\n}",
    );
    switchboard.write_policy("user", &json!({"rules": [{"effect": "allow", "target": "echo/*"}]}));
    let person = Person::at(&switchboard, &[]);
    ready(&person, "echo");
    let shown = person.ask("policy");
    let levels: Vec<Value> = shown["levels"]
        .as_array()
        .unwrap()
        .iter()
        .map(|level| {
            json!([level["level"], level["rules"][0]["effect"], level["rules"][0]["line"]])
        })
        .collect();
    assert_eq!(
        levels,
        [
            json!(["enterprise", "deny", 3]),
            json!(["team", null, null]),
            json!(["project", null, null]),
            json!(["user", "allow", 1]),
        ]
    );
    let page = person.get("/policy").body;
    assert!(page.contains("policy.json:3\"") && page.contains("no writing"), "{page}");
    for (name, verdict, levels) in [("write", "deny", 2), ("echo", "allow", 1)] {
        let member = if name == "echo" { "text" } else { "key" };
        let tried = json!({"server": "echo", "name": name, "arguments": {member: "a"}});
        let tried = person.act("policy/explain", &tried);
        assert_eq!(tried.status, 200, "{tried:?}");
        let tried = tried.json();
        assert_eq!(tried["verdict"], verdict, "{tried}");
        assert_eq!(tried["levels"].as_array().unwrap().len(), levels, "{tried}");
    }
    assert_eq!(person.ask("calls")["calls"], json!([]), "nothing is called");
    let unknown = json!({"server": "echo", "name": "none"});
    assert_eq!(person.act("policy/explain", &unknown).status, 422);
}

#[test]
fn changed_rules_are_held_against_the_calls_of_the_last_day() {
    let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo"])}));
    let person = Person::at(&switchboard, &[]);
    ready(&person, "echo");
    person.call("echo", "echo", &json!({"text": "a"}));
    person.call("echo", "add", &json!({"a": 1, "b": 2}));
    let text = r#"{"rules": [{"effect": "deny", "target": "echo/add"}]}"#;
    let compared = person.act("policy/what-if", &json!({"text": text}));
    assert_eq!(compared.status, 200, "{compared:?}");
    let compared = compared.json();
    assert_eq!(compared["calls"], 2);
    let one = &compared["differences"][0];
    assert_eq!(
        (&one["target"], &one["today"], &one["then"]),
        (&json!("echo/add"), &json!("allow"), &json!("deny"))
    );
    assert!(compared["differences"][1].is_null());
    let broken = person.act("policy/what-if", &json!({"text": "{\"rules\": 7}"}));
    assert_eq!(broken.status, 422, "{broken:?}");
    assert_eq!(person.act("policy/what-if", &json!({"text": "{}", "level": "x"})).status, 422);
}

#[test]
fn a_changed_definition_is_held_shown_and_used_once_exactly_it_is_approved() {
    let switchboard = Switchboard::new();
    let overlay = switchboard.text_path("overlay");
    switchboard.configure(&json!({"srv": fixture(&["echo", "--overlay", &overlay])}));
    let person = Person::at(&switchboard, &[]);
    ready(&person, "srv");
    assert_eq!(person.ask("pins"), json!([]));
    until(|| person.ask("tools/srv/echo")["pin"]["state"] == "approved");
    let changed = |text: &str| {
        let overlaid = json!({"tools": [{"name": "echo", "description": text}]});
        switchboard.write("overlay", &overlaid.to_string());
        assert_eq!(person.act("servers/srv/restart", &json!({})).status, 200);
        until(|| person.ask("pins").to_string().contains(text));
        person.ask("pins")[0]["definitions"][0].clone()
    };
    let first = changed("Now it shouts");
    assert_eq!(
        first["diff"],
        json!(["- description: \"Answers with the text.\"", "+ description: \"Now it shouts\""])
    );
    assert!(person.ask("overview")["held"].to_string().contains("shouts"));
    for page in ["/", "/reviews", "/tools/srv/echo", "/servers/srv"] {
        assert!(person.get(page).body.contains("Now it shouts"), "{page}");
    }
    let second = changed("Now it sings");
    let wanted = |one: &Value| {
        let one = json!({"kind": one["kind"], "name": one["name"], "digest": one["digest"]});
        person.act("pins/approve", &json!({"server": "srv", "definitions": [one]})).status
    };
    assert_eq!(wanted(&first), 409, "what was shown then is not what is held now");
    assert_eq!(person.call("srv", "echo", &json!({"text": "a"}))["outcome"], "denied");
    assert_eq!(wanted(&second), 200);
    until(|| person.ask("pins") == json!([]));
    assert_eq!(person.call("srv", "echo", &json!({"text": "a"}))["outcome"], "ok");
    let back = person.act("pins/revoke", &json!({"server": "srv", "name": "echo"}));
    assert_eq!(back.status, 200, "{back:?}");
    until(|| person.ask("tools/srv/echo")["held"].is_object());
}
