//! Whole bodies of requests, as Gemini wants them.

use switchboard_config::Provider;
use switchboard_prompting::{CallResult, Message, Wishes};

use super::*;
use crate::history::BEGINNING;
use crate::history::tests::{about, asked, assistant, kept, picture as image, result, user};

fn body_for(model: &str, request: &Request) -> Value {
    body(request, &About { model: model.to_owned(), ..about(Provider::Gemini) })
}

#[test]
fn a_whole_conversation_is_written_in_the_vendors_form() {
    let seen = CallResult { images: vec![image()], ..result("c1", "look", "done") };
    let failed = CallResult { failed: true, ..result("c2", "hear", "deaf") };
    let tools = json!([{"functionDeclarations": [{"name": "look"}]}]);
    let request = Request {
        system: "be brief".to_owned(),
        messages: vec![
            Message::User { text: "what is this?".to_owned(), images: vec![image()] },
            assistant("let me see", &[asked("c1", "look", "{\"at\":1}"), asked("c2", "hear", "")]),
            Message::Results { results: vec![seen, failed] },
            user("go on"),
        ],
        tools: tools.clone(),
        ..Request::default()
    };
    let inline = json!({"inlineData": {"mimeType": "image/png", "data": "iVBO"}});
    let expected = json!({
        "systemInstruction": {"parts": [{"text": "be brief"}]},
        "tools": tools,
        "contents": [
            {"role": "user", "parts": [{"text": "what is this?"}, inline]},
            {"role": "model", "parts": [
                {"text": "let me see"},
                {"functionCall": {"name": "look", "args": {"at": 1}}},
                {"functionCall": {"name": "hear", "args": {}}},
            ]},
            {"role": "user", "parts": [
                {"functionResponse": {"name": "look", "response": {"output": "done"}}},
                {"functionResponse": {"name": "hear", "response": {"error": "deaf"}}},
                {"text": "From the result of `look`:"},
                inline,
                {"text": "go on"},
            ]},
        ],
    });
    assert_eq!(body_for("gemini-2.5-pro", &request), expected);
}

#[test]
fn calls_of_other_models_go_without_a_signature_where_one_is_wanted() {
    let calls = [asked("a", "one", "{}"), asked("b", "two", "{}")];
    let request =
        Request { messages: vec![user("go"), assistant("", &calls)], ..Request::default() };
    assert_eq!(
        body_for("gemini-3-pro", &request)["contents"][1]["parts"],
        json!([
            {"functionCall": {"name": "one", "args": {}}, "thoughtSignature": NO_SIGNATURE},
            {"functionCall": {"name": "two", "args": {}}},
        ])
    );
}

#[test]
fn what_the_vendor_said_goes_back_as_it_was_and_results_carry_its_names_only() {
    let content = json!([
        {"functionCall": {"id": "theirs", "name": "one", "args": {}}, "thoughtSignature": "s"},
        {"functionCall": {"name": "two", "args": {}}},
    ]);
    let calls = [asked("theirs", "one", "{}"), asked("ours", "two", "{}")];
    let request = Request {
        messages: vec![
            user("go"),
            kept("", &calls, "gemini", content.clone()),
            Message::Results {
                results: vec![result("theirs", "one", "1"), result("ours", "two", "2")],
            },
        ],
        ..Request::default()
    };
    let contents = &body_for("gemini-3-pro", &request)["contents"];
    assert_eq!(contents[1], json!({"role": "model", "parts": content}));
    assert_eq!(
        contents[2]["parts"],
        json!([
            {"functionResponse": {"id": "theirs", "name": "one", "response": {"output": "1"}}},
            {"functionResponse": {"name": "two", "response": {"output": "2"}}},
        ])
    );
}

#[test]
fn a_conversation_that_begins_in_the_middle_can_be_sent() {
    let request = Request { messages: vec![assistant("hi", &[])], ..Request::default() };
    assert_eq!(
        body_for("g", &request),
        json!({"contents": [
            {"role": "user", "parts": [{"text": BEGINNING}]},
            {"role": "model", "parts": [{"text": "hi"}]},
        ]})
    );
}

#[test]
fn wishes_for_an_answer_are_written_in_the_vendors_words() {
    let wishes = Wishes {
        most_tokens: Some(50),
        temperature: Some(0.5),
        stop: vec!["END".to_owned()],
        call: CallWish::Must,
    };
    let tools = json!([{"functionDeclarations": [{"name": "look"}]}]);
    let request = Request { messages: vec![user("hi")], tools, wishes, ..Request::default() };
    let body = body(&request, &about(Provider::Gemini));
    let expected = json!({"maxOutputTokens": 50, "temperature": 0.5, "stopSequences": ["END"]});
    assert_eq!(body["generationConfig"], expected);
    let expected = json!({"functionCallingConfig": {"mode": "ANY"}});
    assert_eq!(body["toolConfig"], expected);
}
