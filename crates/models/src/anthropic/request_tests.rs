//! Complete request bodies for Anthropic.

use switchboard_config::Provider;
use switchboard_prompting::{CallResult, ChatMessage, ModelOptions};

use super::*;
use crate::history::CUT_BEGINNING;
use crate::history::tests::{
    about, asked_call, assistant, kept_message, picture, result as answered, user,
};

fn request_body(messages: Vec<ChatMessage>) -> Value {
    let request = ModelRequest { messages, ..ModelRequest::default() };
    body(&request, &about(Provider::Anthropic))
}

#[test]
fn a_whole_conversation_is_written_in_the_vendors_form() {
    let seen = CallResult { images: vec![picture()], ..answered("c1", "look", "done") };
    let failed = CallResult { failed: true, ..answered("c2", "hear", "") };
    let request = ModelRequest {
        system: "be brief".to_owned(),
        messages: vec![
            ChatMessage::User { text: "what is this?".to_owned(), images: vec![picture()] },
            assistant(
                "let me see \n",
                &[asked_call("c1", "look", "{\"at\":1}"), asked_call("c2", "hear", "oops")],
            ),
            ChatMessage::Results { results: vec![seen, failed] },
            user("go on"),
            user("please"),
        ],
        tools: json!([{"name": "hear", "input_schema": {}}, {"name": "look", "input_schema": {}}]),
        ..ModelRequest::default()
    };
    let cached = json!({"type": "ephemeral"});
    let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBO"}});
    let expected = json!({
        "model": "m-1",
        "max_tokens": 32_000,
        "stream": true,
        "system": [{"type": "text", "text": "be brief", "cache_control": cached}],
        "tools": [
            {"name": "hear", "input_schema": {}},
            {"name": "look", "input_schema": {}, "cache_control": cached},
        ],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "what is this?"}, image]},
            {"role": "assistant", "content": [
                {"type": "text", "text": "let me see"},
                {"type": "tool_use", "id": "c1", "name": "look", "input": {"at": 1}},
                {"type": "tool_use", "id": "c2", "name": "hear", "input": {}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "done"}, image]},
                {"type": "tool_result", "tool_use_id": "c2", "is_error": true},
                {"type": "text", "text": "go on"},
                {"type": "text", "text": "please", "cache_control": cached},
            ]},
        ],
    });
    assert_eq!(body(&request, &about(Provider::Anthropic)), expected);
}

#[test]
fn thoughts_go_back_to_the_vendor_as_they_were() {
    let content = json!([
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "redacted_thinking", "data": "r"},
        {"type": "text", "text": "yes"},
    ]);
    let body =
        request_body(vec![user("hi"), kept_message("yes", &[], "anthropic", content.clone())]);
    assert_eq!(body["messages"][1], json!({"role": "assistant", "content": content}));
    let body = request_body(vec![
        user("hi"),
        kept_message("yes", &[], "openai", json!({"role": "assistant"})),
    ]);
    assert_eq!(body["messages"][1]["content"], json!([{"type": "text", "text": "yes"}]));
}

#[test]
fn a_conversation_that_begins_in_the_middle_can_be_sent() {
    let body = request_body(vec![assistant("hi", &[])]);
    assert_eq!(
        body["messages"],
        json!([
            {"role": "user", "content": [{"type": "text", "text": CUT_BEGINNING}]},
            {"role": "assistant", "content": [{"type": "text", "text": "hi"}]},
        ])
    );
}

#[test]
fn calls_of_the_past_have_definitions_where_no_tools_are_offered() {
    let body = request_body(vec![
        user("hi"),
        assistant("", &[asked_call("c1", "look", "{}")]),
        ChatMessage::Results { results: vec![answered("c1", "look", "x")] },
        user("sum up"),
    ]);
    assert_eq!(body["tool_choice"], json!({"type": "none"}));
    assert_eq!(body["tools"][0]["name"], json!("look"));
    let marks = body.to_string().matches("cache_control").count();
    assert!(marks <= 4, "{marks}");
}

#[test]
fn names_of_calls_from_other_vendors_are_made_acceptable_on_both_sides() {
    let body = request_body(vec![
        user("hi"),
        assistant("", &[asked_call("functions.look:0", "look", "{}")]),
    ]);
    assert_eq!(body["messages"][1]["content"][0]["id"], json!("functions_look_0"));
    assert_eq!(body["messages"][2]["content"][0]["tool_use_id"], json!("functions_look_0"));
}

#[test]
fn old_models_are_not_asked_for_more_than_they_can_write() {
    for (model, most) in
        [("claude-3-haiku-20240307", 4_096), ("claude-3-5-sonnet-latest", 8_192), ("m", 32_000)]
    {
        assert_eq!(max_tokens(model), most, "{model}");
    }
}

#[test]
fn wishes_for_an_answer_are_written_in_the_vendors_words() {
    let wishes = ModelOptions {
        max_tokens: Some(50),
        temperature: Some(1.5),
        stop: vec![" ".to_owned(), "END".to_owned()],
        tool_choice: ModelToolChoice::None,
    };
    let tools = json!([{"name": "look", "input_schema": {}}]);
    let request = ModelRequest {
        messages: vec![user("hi")],
        tools,
        options: wishes,
        ..ModelRequest::default()
    };
    let body = body(&request, &about(Provider::Anthropic));
    let names = ["max_tokens", "temperature", "stop_sequences", "tool_choice"];
    let got = names.map(|name| body[name].clone());
    assert_eq!(got, [json!(50), json!(1.0), json!(["END"]), json!({"type": "none"})], "{body}");
}
