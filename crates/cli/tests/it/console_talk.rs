//! Conversations in the web console: a message out, an answer in, reviews on the pages.

use serde_json::{Value, json};

use crate::console_person::Person;
use crate::scripted::scripted_home;
use crate::serve_client::until;
use crate::switchboard::{Switchboard, fixture};

fn talk(turns: &Value) -> (Switchboard, Person) {
    let config = json!({"mcpServers": {"echo": fixture(&["echo"])}});
    let switchboard = scripted_home(&config, turns);
    let person = Person::at(&switchboard, &[]);
    until(|| person.ask("servers/echo")["state"] == "ready");
    (switchboard, person)
}

fn session_turns(person: &Person, session: &str) -> Vec<(String, String)> {
    let shown = person.ask(&format!("sessions/{session}"));
    let turns = shown["turns"].as_array().unwrap();
    let text = |turn: &Value, key: &str| turn[key].as_str().unwrap_or_default().to_owned();
    turns.iter().map(|turn| (text(turn, "who"), text(turn, "text"))).collect()
}

#[test]
fn somebody_says_something_and_the_answer_is_heard_as_it_comes_and_kept() {
    let turns = json!([{"text": "Hello there.", "chunk": 3}, {"text": "Still here."}]);
    let (_switchboard, person) = talk(&turns);
    assert!(person.get("/sessions").body.contains("data-begin=\"/api/v1/sessions\""));
    let begun = person.act("sessions", &json!({}));
    assert_eq!(begun.status, 200, "{begun:?}");
    let session = begun.json()["session"].as_str().unwrap().to_owned();
    let listening = person
        .request("GET", &format!("/api/v1/sessions/{session}/events"))
        .with("X-Switchboard-Token", &person.token);
    let mut events = person.serving.open(&listening);
    assert!(events.line_with("hello").is_some());
    let say = |text: &str| {
        person.act(&format!("sessions/{session}/say"), &json!({ "text": text })).status
    };
    assert_eq!(say("Hi"), 200);
    assert!(events.line_with("\"event\":\"text\"").is_some());
    assert!(events.line_with("turn_ended").is_some());
    assert_eq!(say("And now?"), 200);
    assert!(events.line_with("turn_ended").is_some());
    let expected = [
        ("person", "Hi"),
        ("model", "Hello there."),
        ("person", "And now?"),
        ("model", "Still here."),
    ];
    let expected = expected.map(|(who, text)| (who.to_owned(), text.to_owned()));
    assert_eq!(session_turns(&person, &session), expected);
    let page = person.get(&format!("/sessions/{session}")).body;
    assert!(page.contains("data-say=") && page.contains("Still here."), "{page}");
    assert_eq!(say(" "), 422);
    assert_eq!(person.act("sessions/none/say", &json!({"text": "x"})).status, 404);
}

#[test]
fn a_call_of_the_model_waits_for_the_person_at_the_pages_whatever_clients_may_do() {
    let turns = json!([
        {"calls": [{"name": "echo__echo", "arguments": {"text": "wanted"}}]},
        {"expect": ["wanted"], "text": "It said so."},
    ]);
    let (_switchboard, person) = talk(&turns);
    let begun = person.act("sessions", &json!({"text": "Call it"})).json();
    let session = begun["session"].as_str().unwrap().to_owned();
    until(|| person.ask("reviews").as_array().unwrap().len() == 1);
    let review = person.ask("reviews")[0].clone();
    assert_eq!((&review["server"], &review["target"]), (&json!("echo"), &json!("echo")));
    let path = format!("reviews/{}/answer", review["id"].as_str().unwrap());
    let given = json!({"digest": review["digest"], "answer": "run"});
    assert_eq!(person.act(&path, &given).status, 200);
    until(|| {
        session_turns(&person, &session).last().is_some_and(|(_, text)| text == "It said so.")
    });
    let calls = person.ask("calls?caller=model:main");
    assert_eq!(
        (&calls["calls"][0]["face"], &calls["calls"][0]["state"]),
        (&json!("console"), &json!("ok"))
    );
}

#[test]
fn without_a_model_the_page_says_how_to_have_one() {
    let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo"])}));
    let person = Person::at(&switchboard, &[]);
    assert!(person.get("/sessions").body.contains("No model is configured"));
    assert_eq!(person.act("sessions", &json!({})).status, 422);
}

#[test]
fn lg_02_secrets_of_a_conversation_are_on_no_page() {
    let token = format!("ghp_{}", "a1B2c3D4".repeat(5));
    let call = json!({"name": "echo__echo", "arguments": {"text": token}});
    let config = json!({
        "mcpServers": {"echo": fixture(&["echo"])}, "settings": {"autoApprove": true},
    });
    let switchboard = scripted_home(&config, &json!([{"calls": [call]}, {"text": token}]));
    switchboard.run(&["run", "--allow", "echo/echo", &format!("My token is {token}.")]).expect(0);
    let person = Person::at(&switchboard, &[]);
    let listed = person.ask("sessions");
    let session = listed[0]["id"].as_str().unwrap().to_owned();
    let said = session_turns(&person, &session);
    assert_eq!(said.iter().filter(|(_, text)| text.contains("[redacted]")).count(), 3, "{said:?}");
    for page in ["/sessions".to_owned(), format!("/sessions/{session}")] {
        assert!(!person.get(&page).body.contains(&token), "{page}");
    }
    assert!(!listed.to_string().contains(&token), "{listed}");
}
