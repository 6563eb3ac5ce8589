//! Successful answers, and the requests that produce them.

use std::collections::BTreeMap;

use serde_json::json;
use switchboard_config::{ModelProfile, Provider};
use switchboard_prompting::{ModelAnswer, StopReason, TokenUsage};

use crate::server::{
    KEY, Reply, Server, ask, hello, json as answer, model, openai, outline, profile,
};

fn greeting() -> ModelAnswer {
    ModelAnswer {
        text: "Hello".to_owned(),
        calls: Vec::new(),
        stop: StopReason::End,
        usage: TokenUsage::default(),
        vendor_message: None,
    }
}

#[tokio::test]
async fn an_answer_is_told_as_it_comes_and_given_whole() {
    let server = Server::start(vec![hello()]).await;
    let (deltas, answer) = ask(&*openai(&server)).await;
    assert_eq!(outline(&deltas), ["Hel", "lo"]);
    assert_eq!(answer, Ok(greeting()));
    let received = server.received_requests();
    assert!(received[0].head.starts_with("post /chat/completions http/1.1"));
    assert!(received[0].head.contains(&format!("authorization: bearer {KEY}")));
}

#[tokio::test]
async fn a_profile_adds_headers_and_members() {
    let server = Server::start(vec![hello()]).await;
    let profile = ModelProfile {
        headers: BTreeMap::from([("X-Team".to_owned(), "blue".to_owned())]),
        extra: json!({"temperature": 0.5, "stream_options": null}).as_object().unwrap().clone(),
        ..profile(Provider::Ollama, &server.url)
    };
    ask(&*model(&profile)).await.1.unwrap();
    let received = server.received_requests();
    assert!(received[0].head.contains("x-team: blue"));
    assert!(!received[0].head.contains("authorization"));
    assert_eq!(
        received[0].body,
        json!({"model": "m-1", "stream": true, "temperature": 0.5,
            "messages": [{"role": "user", "content": "hi"}]})
    );
}

#[tokio::test]
async fn a_server_that_does_not_know_stream_options_is_asked_without_and_remembered() {
    let refusal = r#"{"error":{"message":"Unrecognized request argument: stream_options"}}"#;
    let server = Server::start(vec![answer("400 Bad Request", refusal), hello()]).await;
    let model = openai(&server);
    for _ in 0..2 {
        let (deltas, said) = ask(&*model).await;
        assert_eq!((outline(&deltas), said), (vec!["Hel".into(), "lo".into()], Ok(greeting())));
    }
    let asked: Vec<bool> = server
        .received_requests()
        .iter()
        .map(|received| received.body.get("stream_options").is_some())
        .collect();
    assert_eq!(asked, [true, false, false]);
}

#[tokio::test]
async fn a_connection_that_stays_open_after_the_end_does_not_delay_the_answer() {
    let Reply::Close(text) = hello() else { panic!() };
    let server = Server::start(vec![Reply::Hold(text)]).await;
    assert_eq!(ask(&*openai(&server)).await.1, Ok(greeting()));
}
