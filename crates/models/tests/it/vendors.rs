//! The other vendors over the network: their endpoints and their answers.

use serde_json::json;
use switchboard_config::Provider;
use switchboard_prompting::StopReason;

use crate::server::{KEY, Reply, Server, ask, model, outline, profile, stream};

fn anthropic(text: &str) -> Vec<String> {
    vec![
        json!({"type": "message_start", "message": {"usage": {"input_tokens": 3}}}).to_string(),
        json!({"type": "content_block_start", "index": 0,
            "content_block": {"type": "text", "text": ""}})
        .to_string(),
        json!({"type": "content_block_delta", "index": 0,
            "delta": {"type": "text_delta", "text": text}})
        .to_string(),
    ]
}

fn reply(events: &[String]) -> Reply {
    let events: Vec<&str> = events.iter().map(String::as_str).collect();
    Reply::Close(stream(&events))
}

#[tokio::test]
async fn anthropic_is_asked_with_its_headers_and_again_when_it_is_overloaded() {
    let mut failed = anthropic("Hal");
    let error = json!({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}});
    failed.push(error.to_string());
    let mut whole = anthropic("Hello");
    whole.push(json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}).to_string());
    whole.push(json!({"type": "message_stop"}).to_string());
    let server = Server::start(vec![reply(&failed), reply(&whole)]).await;
    let (deltas, answer) = ask(&*model(&profile(Provider::Anthropic, &server.url))).await;
    assert_eq!(outline(&deltas), ["Hal", "again", "waiting", "Hello"]);
    assert_eq!(answer.unwrap().stop, StopReason::End);
    let received = server.received_requests();
    for line in ["post /v1/messages http/1.1", "anthropic-version: 2023-06-01"] {
        assert!(received[0].head.contains(line), "{}", received[0].head);
    }
    assert!(received[0].head.contains(&format!("x-api-key: {KEY}")));
    assert_eq!(received[0].body["stream"], json!(true));
}

#[tokio::test]
async fn gemini_is_asked_with_the_key_in_a_header() {
    let chunk = json!({"candidates": [{"content": {"parts": [{"text": "Hello"}]},
        "finishReason": "STOP"}]});
    let server = Server::start(vec![reply(&[chunk.to_string()])]).await;
    let (deltas, answer) = ask(&*model(&profile(Provider::Gemini, &server.url))).await;
    assert_eq!(outline(&deltas), ["Hello"]);
    assert_eq!(answer.unwrap().text, "Hello");
    let head = &server.received_requests()[0].head;
    let (line, headers) = head.split_once("\r\n").unwrap();
    assert_eq!(line, "post /models/m-1:streamgeneratecontent?alt=sse http/1.1");
    assert!(headers.contains(&format!("x-goog-api-key: {KEY}")));
}
