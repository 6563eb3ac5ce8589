//! Tests of a server's questions during calls of a client that cannot answer: they wait for a user
//! of the console.

use std::thread;

use serde_json::{Value, json};

use crate::console_person::{Person, client_call};
use crate::serve_client::{ServingGateway, until};
use crate::switchboard::{Switchboard, fixture};

const TOOL: &str = "test_input_required_result_elicitation";

fn asking(era: &str) -> Switchboard {
    Switchboard::with(&json!({"one": fixture(&["conformance", "--era", era])}))
}

#[test]
fn a_form_waits_at_the_console_and_says_whose_call_it_is_for() {
    for era in ["legacy", "modern"] {
        let switchboard = asking(era);
        let person = Person::at(&switchboard, &[]);
        person.serving.wait_for_tool(None, &format!("one__{TOOL}"));
        let site = *person.serving;
        let call = client_call(&format!("one__{TOOL}"), &json!({}));
        let client = thread::spawn(move || site.send(&call));
        until(|| person.ask("reviews").as_array().unwrap().len() == 1);
        let review = person.ask("reviews")[0].clone();
        assert_eq!(
            (&review["kind"], &review["server"], &review["caller"]),
            (&json!("form"), &json!("one"), &json!("client:tester")),
            "{era}"
        );
        let number = review["call"].as_str().unwrap();
        assert_eq!(person.ask(&format!("calls/{number}"))["target"], TOOL, "{era}");
        assert!(person.get("/reviews").body.contains("For client:tester"), "{era}");
        let path = format!("reviews/{}/answer", review["id"].as_str().unwrap());
        let given = json!({"digest": review["digest"], "answer": "accept",
            "content": {"name": "Ada"}});
        assert_eq!(person.act(&path, &given).status, 200, "{era}");
        assert_eq!(person.act(&path, &given).status, 409, "the first answer counts");
        let reply = client.join().unwrap();
        let text = reply.json()["result"]["content"][0]["text"].to_string();
        assert!(text.contains("state-ok") || text.contains("Ada"), "{era} {reply:?}");
    }
}

#[test]
fn where_nobody_is_at_the_console_it_is_declined_at_once() {
    for era in ["legacy", "modern"] {
        let switchboard = asking(era);
        let serving = ServingGateway::start(&switchboard, &[]);
        serving.wait_for_tool(None, &format!("one__{TOOL}"));
        let reply = serving.send(&client_call(&format!("one__{TOOL}"), &json!({})));
        let said: Value = reply.json();
        assert!(said["result"].is_object() || said["error"].is_object(), "{era} {reply:?}");
        assert!(!reply.body.contains("input_required"), "{era} {reply:?}");
        assert!(!reply.body.contains("Ada"), "{era} {reply:?}");
    }
}
