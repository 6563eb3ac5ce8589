//! Calls that need a person: the client is asked, and so is everybody else; the first answer counts.

use serde_json::{Value, json};

use crate::gateway::{Gateway, Legacy, NEWEST_LEGACY, said};
use crate::running::{PATIENCE, poll};
use crate::switchboard::{Switchboard, fixture};

fn asking() -> (Switchboard, Gateway) {
    let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo"])}));
    let gateway = Gateway::with_tool(&switchboard, &["--review", "ask"], "echo__echo");
    (switchboard, gateway)
}

fn can() -> Value {
    json!({"elicitation": {"form": {}}})
}

fn call(text: &str) -> Value {
    json!({"name": "echo__echo", "arguments": {"text": text}})
}

/// The one question that waits in the queue.
fn waiting(switchboard: &Switchboard) -> String {
    let listed = || switchboard.json(&["review"]).get(0).cloned();
    let entry = poll(PATIENCE, listed).expect("the question waits in the queue");
    entry["id"].as_str().unwrap().to_owned()
}

fn answer_elsewhere(switchboard: &Switchboard, word: &str) {
    switchboard.run(&["review", "answer", &waiting(switchboard), word]).expect(0);
}

#[test]
fn a_legacy_client_that_is_asked_gets_its_result_when_somebody_else_was_faster() {
    let (switchboard, gateway) = asking();
    let client = Legacy::open(&gateway.url, NEWEST_LEGACY, &can());
    let mut stream = client.send("tools/call", &call("hello"));
    let question = stream.next_message();
    assert_eq!(question["method"], "elicitation/create");
    answer_elsewhere(&switchboard, "run");
    // Either may come first: that the question is over, and the result.
    let messages = [stream.next_message(), stream.next_message()];
    let taken_back = messages.iter().find(|message| message.get("method").is_some()).unwrap();
    assert_eq!(taken_back["method"], "notifications/cancelled");
    assert_eq!(taken_back["params"]["requestId"], question["id"]);
    let result = messages.iter().find(|message| message.get("result").is_some()).unwrap();
    assert_eq!(said(result), "hello");
    // An answer that comes too late changes nothing.
    let late = json!({"action": "accept", "content": {"answer": "reject"}});
    let late = json!({"jsonrpc": "2.0", "id": question["id"], "result": late});
    assert_eq!(client.post(&late).status, 202);
    assert_eq!(switchboard.recorded(), ["tool echo/echo: ok"]);
}

#[test]
fn a_modern_client_that_comes_back_too_late_gets_what_the_first_answer_made_of_the_call() {
    let (switchboard, gateway) = asking();
    let mut client = gateway.modern();
    client.capabilities = can();
    for (elsewhere, own) in [("run", "reject"), ("skip", "run")] {
        let asked = client.ask("tools/call", &call("hello"))["result"].clone();
        assert_eq!(asked["resultType"], "input_required", "{asked}");
        answer_elsewhere(&switchboard, elsewhere);
        let key = asked["inputRequests"].as_object().unwrap().keys().next().unwrap();
        let mut again = call("hello");
        again["inputResponses"] = json!({key: {"action": "accept", "content": {"answer": own}}});
        again["requestState"] = asked["requestState"].clone();
        let result = client.ask("tools/call", &again);
        let ran = said(&result) == "hello";
        assert_eq!(ran, elsewhere == "run", "{elsewhere}, then {own}: {result}");
    }
}

#[test]
fn the_queue_is_empty_when_the_client_was_faster() {
    let (switchboard, gateway) = asking();
    let client = Legacy::open(&gateway.url, NEWEST_LEGACY, &can());
    let mut stream = client.send("tools/call", &call("hello"));
    let question = stream.next_message();
    let entry = waiting(&switchboard);
    let reply = json!({"action": "accept", "content": {"answer": "run"}});
    let reply = json!({"jsonrpc": "2.0", "id": question["id"], "result": reply});
    assert_eq!(client.post(&reply).status, 202);
    assert_eq!(said(&stream.next_message()), "hello");
    let late = switchboard.run(&["review", "answer", &entry, "reject"]);
    assert_ne!(late.code, 0, "{late:?}");
    assert_eq!(switchboard.json(&["review"]), json!([]));
}
