//! Tests of calls that need a person: the client and all other faces are asked; the first answer
//! counts.

use serde_json::{Value, json};

use crate::console_person::Person;
use crate::gateway::{Gateway, Legacy, NEWEST_LEGACY, answer_text};
use crate::http_client::Reply;
use crate::running::{TEST_TIMEOUT, is_alive, poll};
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

/// Returns the id of the only entry in the review queue.
fn waiting(switchboard: &Switchboard) -> String {
    let listed = || switchboard.json(&["review"]).get(0).cloned();
    let entry = poll(TEST_TIMEOUT, listed).expect("the question waits in the queue");
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
    // The cancellation of the question and the result arrive in either order.
    let messages = [stream.next_message(), stream.next_message()];
    let taken_back = messages.iter().find(|message| message.get("method").is_some()).unwrap();
    assert_eq!(taken_back["method"], "notifications/cancelled");
    assert_eq!(taken_back["params"]["requestId"], question["id"]);
    let result = messages.iter().find(|message| message.get("result").is_some()).unwrap();
    assert_eq!(answer_text(result), "hello");
    // A late answer changes nothing.
    let late = json!({"action": "accept", "content": {"answer": "reject"}});
    let late = json!({"jsonrpc": "2.0", "id": question["id"], "result": late});
    assert_eq!(client.post(&late).status, 202);
    assert_eq!(switchboard.recorded_calls(), ["tool echo/echo: ok"]);
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
        let ran = answer_text(&result) == "hello";
        assert_eq!(ran, elsewhere == "run", "{elsewhere}, then {own}: {result}");
    }
}

/// Reads messages until the result of the call arrives.
fn read_result(mut stream: Reply) -> Value {
    // The client gets the question as well, and its cancellation after an answer from elsewhere.
    for _ in 0..5 {
        let message = stream.next_message();
        if message.get("result").is_some() {
            return message;
        }
    }
    panic!("the call has no result");
}

#[test]
fn a_review_waits_over_a_restart_and_its_answer_counts_for_the_same_call_of_the_same_client() {
    for (end, word, again) in [
        ("kill", "run", call("hello")),
        ("stop", "run", call("hello")),
        ("kill", "skip", call("hello")),
        ("kill", "run", call("something else")),
    ] {
        let (switchboard, mut gateway) = asking();
        let client = Legacy::open(&gateway.url, NEWEST_LEGACY, &can());
        let stream = client.send("tools/call", &call("hello"));
        let entry = waiting(&switchboard);
        assert_eq!(switchboard.json(&["review", "list"])[0]["program_ended"], false);
        match end {
            "kill" => gateway.running.kill(),
            _ => {
                gateway.running.interrupt();
                gateway.running.interrupt();
            }
        }
        let is_over = || (!is_alive(gateway.running.pid())).then_some(());
        poll(TEST_TIMEOUT, is_over).expect("the gateway has ended");
        drop(stream);
        // The entry outlives its program, is shown as such, and can be answered.
        assert_eq!(waiting(&switchboard), entry);
        assert_eq!(switchboard.json(&["review", "list"])[0]["program_ended"], true);
        let listed = switchboard.run(&["review", "list"]).expect(0).stdout;
        assert!(listed.contains("; its program has ended"), "{listed}");
        let shown = switchboard.run(&["review", "show", &entry]).expect(0).stdout;
        assert!(shown.contains("its program has ended"), "{shown}");
        switchboard.run(&["review", "answer", &entry, word]).expect(0);
        let gateway =
            Gateway::with_tool(&switchboard, &["--review", "ask", "--no-running"], "echo__echo");
        let client = Legacy::open(&gateway.url, NEWEST_LEGACY, &can());
        let stream = client.send("tools/call", &again);
        if again != call("hello") {
            assert_ne!(waiting(&switchboard), entry, "the answer was for other arguments");
            continue;
        }
        let result = read_result(stream);
        assert_eq!(answer_text(&result) == "hello", word == "run", "{result}");
        assert_eq!(switchboard.json(&["review"]), json!([]));
        // The answer counts only once.
        let _stream = client.send("tools/call", &again);
        assert_ne!(waiting(&switchboard), entry);
    }
}

#[test]
fn what_was_said_for_the_session_does_not_count_after_something_untrusted_was_read() {
    let switchboard = Switchboard::with(&json!({
        "web": fixture(&["echo"]),
        "notes": fixture(&["echo"]),
    }));
    let gateway = Gateway::with_tool(&switchboard, &["--review", "ask"], "notes__echo");
    gateway.wait_for_tool("web__echo");
    let client = Legacy::open(&gateway.url, NEWEST_LEGACY, &can());
    let call =
        |server: &str| json!({"name": format!("{server}__echo"), "arguments": {"text": "a"}});
    let stream = client.send("tools/call", &call("notes"));
    answer_elsewhere(&switchboard, "session");
    assert_eq!(answer_text(&read_result(stream)), "a");
    assert_eq!(answer_text(&client.ask("tools/call", &call("notes"))), "a");
    let stream = client.send("tools/call", &call("web"));
    answer_elsewhere(&switchboard, "run");
    assert_eq!(answer_text(&read_result(stream)), "a");
    let _stream = client.send("tools/call", &call("notes"));
    let entry = switchboard.json(&["review", "show", &waiting(&switchboard)]);
    let why = entry["why"].as_str().unwrap();
    assert!(why.contains("something was read from `web`, which is not trusted"), "{why}");
}

#[test]
fn a_hook_that_asks_is_answered_by_a_person_also_where_one_said_yes_for_the_session() {
    let (switchboard, gateway) = asking();
    let client = Legacy::open(&gateway.url, NEWEST_LEGACY, &can());
    let stream = client.send("tools/call", &call("hello"));
    answer_elsewhere(&switchboard, "session");
    assert_eq!(answer_text(&read_result(stream)), "hello");
    assert_eq!(answer_text(&client.ask("tools/call", &call("again"))), "again");
    drop(gateway);
    switchboard.user_hook(&crate::hook_scripts::permitting("ask"));
    let gateway = Gateway::with_tool(&switchboard, &["--review", "ask"], "echo__echo");
    let client = Legacy::open(&gateway.url, NEWEST_LEGACY, &can());
    let stream = client.send("tools/call", &call("hello"));
    answer_elsewhere(&switchboard, "session");
    assert_eq!(answer_text(&read_result(stream)), "hello");
    let _stream = client.send("tools/call", &call("again"));
    let entry = switchboard.json(&["review", "show", &waiting(&switchboard)]);
    assert!(entry["why"].as_str().unwrap().contains("asks for approval"), "{entry}");
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
    assert_eq!(answer_text(&stream.next_message()), "hello");
    let late = switchboard.run(&["review", "answer", &entry, "reject"]);
    assert_ne!(late.code, 0, "{late:?}");
    assert_eq!(switchboard.json(&["review"]), json!([]));
}

#[test]
fn the_console_says_that_the_program_of_a_review_has_ended() {
    let (switchboard, mut gateway) = asking();
    let client = Legacy::open(&gateway.url, NEWEST_LEGACY, &can());
    let stream = client.send("tools/call", &call("hello"));
    let entry = waiting(&switchboard);
    let person = Person::at(&switchboard, &[]);
    let ended = |person: &Person| {
        let listed = person.ask("reviews");
        assert_eq!(listed[0]["id"], entry.as_str(), "{listed}");
        listed[0]["program_ended"].as_bool().unwrap()
    };
    assert!(!ended(&person));
    assert!(!person.get("/reviews").body.contains("its program has ended"));
    gateway.running.kill();
    drop(stream);
    assert!(poll(TEST_TIMEOUT, || ended(&person).then_some(())).is_some());
    assert!(person.get("/reviews").body.contains("its program has ended"));
}
