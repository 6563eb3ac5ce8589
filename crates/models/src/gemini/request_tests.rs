//! Complete request bodies for Gemini.

use switchboard_config::Provider;
use switchboard_prompting::{CallResult, ChatMessage, ModelOptions};

use super::*;
use crate::history::CUT_BEGINNING;
use crate::history::tests::{
    about, asked_call, assistant, kept_message, picture as image, result, user,
};

fn body_for(model: &str, request: &ModelRequest) -> Value {
    body(request, &ModelInfo { model: model.to_owned(), ..about(Provider::Gemini) })
}

#[test]
fn a_whole_conversation_is_written_in_the_vendors_form() {
    let seen = CallResult { images: vec![image()], ..result("c1", "look", "done") };
    let failed = CallResult { failed: true, ..result("c2", "hear", "deaf") };
    let tools = json!([{"functionDeclarations": [{"name": "look"}]}]);
    let request = ModelRequest {
        system: "be brief".to_owned(),
        messages: vec![
            ChatMessage::User { text: "what is this?".to_owned(), images: vec![image()] },
            assistant(
                "let me see",
                &[asked_call("c1", "look", "{\"at\":1}"), asked_call("c2", "hear", "")],
            ),
            ChatMessage::Results { results: vec![seen, failed] },
            user("go on"),
        ],
        tools: tools.clone(),
        ..ModelRequest::default()
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
    let calls = [asked_call("a", "one", "{}"), asked_call("b", "two", "{}")];
    let request = ModelRequest {
        messages: vec![user("go"), assistant("", &calls)],
        ..ModelRequest::default()
    };
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
    let calls = [asked_call("theirs", "one", "{}"), asked_call("ours", "two", "{}")];
    let request = ModelRequest {
        messages: vec![
            user("go"),
            kept_message("", &calls, "gemini", content.clone()),
            ChatMessage::Results {
                results: vec![result("theirs", "one", "1"), result("ours", "two", "2")],
            },
        ],
        ..ModelRequest::default()
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
    let request = ModelRequest { messages: vec![assistant("hi", &[])], ..ModelRequest::default() };
    assert_eq!(
        body_for("g", &request),
        json!({"contents": [
            {"role": "user", "parts": [{"text": CUT_BEGINNING}]},
            {"role": "model", "parts": [{"text": "hi"}]},
        ]})
    );
}

#[test]
fn wishes_for_an_answer_are_written_in_the_vendors_words() {
    let wishes = ModelOptions {
        max_tokens: Some(50),
        temperature: Some(0.5),
        stop: vec!["END".to_owned()],
        tool_choice: ModelToolChoice::Required,
    };
    let tools = json!([{"functionDeclarations": [{"name": "look"}]}]);
    let request = ModelRequest {
        messages: vec![user("hi")],
        tools,
        options: wishes,
        ..ModelRequest::default()
    };
    let body = body(&request, &about(Provider::Gemini));
    let expected = json!({"maxOutputTokens": 50, "temperature": 0.5, "stopSequences": ["END"]});
    assert_eq!(body["generationConfig"], expected);
    let expected = json!({"functionCallingConfig": {"mode": "ANY"}});
    assert_eq!(body["toolConfig"], expected);
}
