//! Complete request bodies for chat completions.

use switchboard_config::Provider;
use switchboard_prompting::{CallResult, ChatMessage, ModelOptions};

use super::*;
use crate::history::CUT_BEGINNING;
use crate::history::tests::{
    about, asked_call, assistant as said, kept_message, picture, result, user as asks,
};
use crate::providers::provider_spec;

fn body(request: &ModelRequest, provider: Provider, form: RequestForm) -> Value {
    provider_spec(provider).protocol.body(request, &about(provider), form)
}

fn messages(messages: Vec<ChatMessage>) -> Value {
    let request = ModelRequest { messages, ..ModelRequest::default() };
    body(&request, Provider::OpenAi, RequestForm::Plain)["messages"].clone()
}

#[test]
fn a_whole_conversation_is_written_in_the_vendors_form() {
    let seen = CallResult { images: vec![picture()], ..result("c1", "look", "done") };
    let tools = json!([{"type": "function", "function": {"name": "look"}}]);
    let request = ModelRequest {
        system: "be brief".to_owned(),
        messages: vec![
            ChatMessage::User { text: "what is this?".to_owned(), images: vec![picture()] },
            said(
                "let me see",
                &[asked_call("c1", "look", "{\"at\": 1}"), asked_call("c2", "hear", "oops")],
            ),
            ChatMessage::Results { results: vec![seen, result("c2", "hear", "")] },
            said("", &[asked_call("c3", "look", "")]),
            ChatMessage::Results { results: vec![result("c3", "look", "again")] },
            asks("thanks"),
        ],
        tools: tools.clone(),
        ..ModelRequest::default()
    };
    let url = json!({"url": "data:image/png;base64,iVBO"});
    let call = |id, name, arguments| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
    let expected = json!({
        "model": "m-1",
        "stream": true,
        "stream_options": {"include_usage": true},
        "tools": tools,
        "messages": [
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": [
                {"type": "text", "text": "what is this?"},
                {"type": "image_url", "image_url": url},
            ]},
            {"role": "assistant", "content": "let me see", "tool_calls": [
                call("c1", "look", "{\"at\": 1}"), call("c2", "hear", "{}"),
            ]},
            {"role": "tool", "tool_call_id": "c1", "content": "done"},
            {"role": "tool", "tool_call_id": "c2", "content": ""},
            {"role": "user", "content": [
                {"type": "text", "text": "From the result of `look` (call `c1`):"},
                {"type": "image_url", "image_url": url},
            ]},
            {"role": "assistant", "content": null, "tool_calls": [call("c3", "look", "{}")]},
            {"role": "tool", "tool_call_id": "c3", "content": "again"},
            {"role": "user", "content": "thanks"},
        ],
    });
    assert_eq!(body(&request, Provider::OpenAi, RequestForm::Full), expected);
}

#[test]
fn the_plain_form_asks_for_nothing_special_and_no_tools_means_no_member() {
    let request =
        ModelRequest { messages: vec![asks("hi")], tools: json!([]), ..ModelRequest::default() };
    assert_eq!(
        body(&request, Provider::Ollama, RequestForm::Plain),
        json!({"model": "m-1", "stream": true, "messages": [{"role": "user", "content": "hi"}]})
    );
}

#[test]
fn what_the_server_said_goes_back_as_it_was_with_names_for_its_calls() {
    let calls = [asked_call("ours", "look", "{}")];
    let content = json!({"role": "assistant", "content": null, "reasoning_content": "hm",
        "tool_calls": [{"type": "function", "function": {"name": "look", "arguments": "{}"}}]});
    let mut named = content.clone();
    named["tool_calls"][0]["id"] = json!("ours");
    let conversation = |provider: &str| {
        vec![
            asks("go"),
            kept_message("", &calls, provider, content.clone()),
            ChatMessage::Results { results: vec![result("ours", "look", "x")] },
        ]
    };
    assert_eq!(messages(conversation("openai"))[1], named);
    assert_eq!(
        messages(conversation("ollama"))[1],
        assistant("", calls.iter().map(call).collect())
    );
}

#[test]
fn a_conversation_that_begins_in_the_middle_can_be_sent() {
    assert_eq!(
        messages(vec![said("hi", &[]), said("", &[])]),
        json!([{"role": "user", "content": CUT_BEGINNING}, {"role": "assistant", "content": "hi"}])
    );
}

#[test]
fn wishes_for_an_answer_are_written_in_the_vendors_words() {
    let wishes = ModelOptions {
        max_tokens: Some(50),
        temperature: Some(0.5),
        stop: vec!["\n".to_owned()],
        tool_choice: ModelToolChoice::Required,
    };
    let tools = json!([{"type": "function", "function": {"name": "look"}}]);
    let request = ModelRequest {
        messages: vec![asks("hi")],
        tools,
        options: wishes,
        ..ModelRequest::default()
    };
    let names = [(Provider::OpenAi, "max_completion_tokens"), (Provider::Ollama, "max_tokens")];
    for (provider, most) in names {
        let body = body(&request, provider, RequestForm::Plain);
        let got = [most, "temperature", "stop", "tool_choice"].map(|name| body[name].clone());
        assert_eq!(got, [json!(50), json!(0.5), json!(["\n"]), json!("required")], "{body}");
    }
}
