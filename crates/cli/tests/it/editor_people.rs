//! Questions to people on behalf of gRPC calls, and their answers.

use serde_json::{Value, json};

use crate::editor_client::{direct, echo, home_with_rules, success, with_client};
use crate::running::TEST_TIMEOUT;
use crate::switchboard::{Switchboard, fixture};

#[test]
fn a_person_on_the_stream_decides_about_a_call() {
    let switchboard = echo(&[]);
    let (_served, mut client) = with_client(&switchboard);
    let (stream, _) = client.listen();
    for (result, instead, expected) in [
        ("RUN", "", success("hey")),
        ("SKIP", "", json!({"rejected": {"reason": "the user rejected the call"}})),
        (
            "REJECT_AND_TELL_WHAT_TO_DO_DIFFERENTLY",
            "add the numbers",
            json!({"rejected": {"reason": "add the numbers"}}),
        ),
    ] {
        let mut call = direct("echo", "echo", &json!({"text": "hey"}));
        call["tool_call_id"] = json!(result);
        let calling = client.begin("CallTool", call);
        let review = client.event_where(stream, "review", |one| one["tool_call_id"] == result);
        assert_eq!(review["header"], "Run echo on echo?");
        assert_eq!(review["arguments"], r#"{"text":"hey"}"#);
        let option = |name: &str| json!(format!("MCP_TOOL_HUMAN_REVIEW_OPTION_{name}"));
        let reject = option("REJECT_AND_TELL_WHAT_TO_DO_DIFFERENTLY");
        let options = [option("RUN"), option("SKIP"), reject.clone(), option("ALLOWLIST_TOOL")];
        assert_eq!(review["options"], json!(options));
        assert_eq!(review["selected_option"], reject);
        let answer = json!({
            "id": review["id"],
            "digest": review["digest"],
            "result": format!("MCP_TOOL_REVIEW_RESULT_TYPE_{result}"),
            "instead": instead,
        });
        let mut other = answer.clone();
        other["digest"] = json!("0");
        assert_eq!(client.code("AnswerReview", other), "ABORTED");
        assert_eq!(client.ask("AnswerReview", answer.clone()), json!({}));
        assert_eq!(client.end(calling)["result"], expected);
        let resolved = client.event_where(stream, "resolved", |one| one["id"] == review["id"]);
        assert_eq!(resolved["by"], "an editor (unix socket)");
        assert_eq!(client.code("AnswerReview", answer), "FAILED_PRECONDITION");
    }
    let expected = ["ok", "rejected (person)", "rejected (person)"];
    let expected = expected.map(|how| format!("tool echo/echo: {how}"));
    assert_eq!(switchboard.recorded_calls(), expected);
}

#[test]
fn the_first_answer_of_any_face_counts_and_the_stream_hears_of_other_faces() {
    let switchboard = echo(&[]);
    let (_served, mut client) = with_client(&switchboard);
    let (stream, _) = client.listen();
    let calling = client.begin("CallTool", direct("echo", "echo", &json!({"text": "hey"})));
    let review = client.event(stream, "review");
    let id = review["id"].as_str().unwrap();
    switchboard.run(&["review", "answer", id, "run"]).expect(0);
    assert_eq!(client.end(calling)["result"], success("hey"));
    let resolved = client.event_where(stream, "resolved", |one| one["id"] == id);
    assert_eq!(resolved["how"], "run");
    // A call of another process waits, too.
    let words = ["call", "echo", "echo", "text=a", "--review", "--wait-for-review"];
    let other = switchboard.start(&words);
    let review = client.event_where(stream, "review", |one| one["caller"] == "cli, model:review");
    let answer = json!({"id": review["id"], "digest": review["digest"],
        "result": "MCP_TOOL_REVIEW_RESULT_TYPE_RUN"});
    assert_eq!(client.ask("AnswerReview", answer), json!({}));
    assert_eq!(other.finish_within(TEST_TIMEOUT).expect(0).stdout, "a\n");
}

#[test]
fn what_a_server_asks_is_answered_on_the_stream() {
    for era in ["legacy", "modern"] {
        let entry = fixture(&["echo", "--era", era]);
        let switchboard = Switchboard::with(&json!({ "echo": entry }));
        let allow = json!({"rules": [{"effect": "allow", "target": "echo/*"}]});
        switchboard.write_policy("user", &allow);
        let (_served, mut client) = with_client(&switchboard);
        let (stream, _) = client.listen();
        let mut call = direct("echo", "ask", &json!({"question": "Which one?"}));
        call["tool_call_id"] = json!("asking");
        let calling = client.begin("CallTool", call);
        let asked = client.event(stream, "elicitation");
        assert_eq!(
            [&asked["message"], &asked["server_identifier"], &asked["tool_call_id"]],
            ["Which one?", "echo", "asking"],
            "{era}"
        );
        assert_eq!(asked["requested_schema"]["required"], json!(["answer"]));
        let answer = |content: Value| {
            json!({"id": asked["id"], "digest": asked["digest"], "content": content,
                "action": "ELICITATION_ACTION_ACCEPT"})
        };
        assert_eq!(client.code("AnswerElicitation", answer(json!({}))), "INVALID_ARGUMENT");
        assert_eq!(client.ask("AnswerElicitation", answer(json!({"answer": "this"}))), json!({}));
        assert_eq!(client.end(calling)["result"], success("this"), "{era}");
        client.event_where(stream, "resolved", |one| one["id"] == asked["id"]);
    }
}

#[test]
fn what_is_asked_under_a_lease_goes_to_its_stream_alone() {
    let switchboard = home_with_rules();
    let (_served, mut client) = with_client(&switchboard);
    let mut call = direct("echo", "ask", &json!({"question": "Which one?"}));
    call["use_lease_elicitation"] = json!(true);
    let declined = client.ask("CallTool", call.clone());
    assert_eq!(declined["result"], success("no answer: decline"), "there is no stream");
    let (first, name) = client.listen();
    let (second, _) = client.listen();
    call["stream_id"] = json!(name);
    let calling = client.begin("CallTool", call.clone());
    let asked = client.event(first, "lease_elicitation");
    let answer = json!({"id": asked["id"], "digest": asked["digest"],
        "content": {"answer": "this"}, "action": "ELICITATION_ACTION_ACCEPT"});
    assert_eq!(client.ask("AnswerElicitation", answer), json!({}));
    assert_eq!(client.end(calling)["result"], success("this"));
    // The other stream received everything up to the end of that call except this question.
    client.event(second, "call_finished");
    let heard = ["lease_elicitation", "elicitation"].map(|kind| client.count(second, kind));
    assert_eq!((heard, client.count(first, "elicitation")), ([0, 0], 0));
    let calling = client.begin("CallTool", call);
    let id = asked["id"].clone();
    client.event_where(first, "lease_elicitation", |one| one["id"] != id);
    client.cancel(first);
    assert_eq!(client.end(calling)["result"], success("no answer: decline"));
}
