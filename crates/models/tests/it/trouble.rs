//! Answers that are cut off, unreadable or missing, and the retries that follow.

use std::net::TcpListener;

use switchboard_config::Provider;
use switchboard_prompting::ModelErrorKind;

use crate::server::{
    END, Reply, Server, ask, hello, json, model, openai, outline, piece, profile, response, stream,
};

const PAGE: &str = "<!doctype html><title>Welcome</title>";

fn cut() -> Reply {
    Reply::Close(stream(&[&piece("Hal")]))
}

/// Fails unless these replies lead to this number of requests, these deltas and this error, if any.
async fn check(
    replies: Vec<Reply>,
    requests: usize,
    told: &[&str],
    trouble: Option<ModelErrorKind>,
) {
    let server = Server::start(replies).await;
    let (deltas, answer) = ask(&*openai(&server)).await;
    assert_eq!(outline(&deltas), told);
    assert_eq!(server.received_requests().len(), requests);
    let error = answer.err();
    assert_eq!(error.as_ref().map(|error| error.kind), trouble, "{error:?}");
}

#[tokio::test]
async fn an_answer_that_was_cut_is_asked_for_again() {
    check(vec![cut(), hello()], 2, &["Hal", "again", "Hel", "lo"], None).await;
}

#[tokio::test]
async fn an_answer_that_is_cut_every_time_is_given_up_after_three() {
    let told = ["Hal", "again", "Hal", "again", "Hal"];
    check(vec![cut()], 3, &told, Some(ModelErrorKind::CutOff)).await;
}

#[tokio::test]
async fn a_connection_that_breaks_inside_of_a_chunk_is_a_cut() {
    let half = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\
                transfer-encoding: chunked\r\n\r\nff\r\ndata: {\"choi";
    check(vec![Reply::Close(half.to_owned()), hello()], 2, &["again", "Hel", "lo"], None).await;
}

#[tokio::test]
async fn a_server_that_falls_silent_is_asked_again() {
    let silent = Reply::Hold(stream(&[&piece("Hal")]));
    let server = Server::start(vec![silent.clone()]).await;
    let error = ask(&*openai(&server)).await.1.unwrap_err();
    let message = "the answer of `openai` broke off: no data for 0.3 s";
    assert_eq!((error.kind, error.message.as_str()), (ModelErrorKind::CutOff, message));
    check(vec![silent, hello()], 2, &["Hal", "again", "Hel", "lo"], None).await;
    let mute = Reply::Hold(String::new());
    check(vec![mute, hello()], 2, &["again", "Hel", "lo"], None).await;
}

#[tokio::test]
async fn a_break_after_the_last_word_does_no_harm() {
    let held = Reply::Hold(stream(&[&piece("Hello"), END]));
    check(vec![held], 1, &["Hello"], None).await;
}

#[tokio::test]
async fn events_that_are_not_json_are_tried_once_more() {
    let malformed = Reply::Close(stream(&[&piece("Hal"), "{\"choices\": ["]));
    let told = ["Hal", "again", "Hel", "lo"];
    check(vec![malformed.clone(), hello()], 2, &told, None).await;
    check(vec![malformed], 2, &["Hal", "again", "Hal"], Some(ModelErrorKind::Malformed)).await;
}

#[tokio::test]
async fn a_web_page_is_no_answer() {
    for headers in ["content-type: text/html\r\n", ""] {
        let server = Server::start(vec![response("200 OK", headers, PAGE)]).await;
        let error = ask(&*openai(&server)).await.1.unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::Malformed, "{error:?}");
        assert!(error.hint.unwrap().contains("`baseUrl`"));
        assert_eq!(server.received_requests().len(), 1);
    }
}

#[tokio::test]
async fn an_error_with_a_good_status_is_an_error() {
    let used_up = r#"{"error":{"message":"no credit","code":"insufficient_quota"}}"#;
    check(vec![json("200 OK", used_up)], 1, &[], Some(ModelErrorKind::Busy)).await;
}

#[tokio::test]
async fn an_answer_that_came_whole_is_an_answer_and_other_json_is_none() {
    let whole = r#"{"choices":[{"message":{"content":"Hello"},"finish_reason":"stop"}]}"#;
    check(vec![json("200 OK", whole)], 1, &["Hello"], None).await;
    check(vec![json("200 OK", "{\"hello\": 1}")], 1, &[], Some(ModelErrorKind::Malformed)).await;
}

#[tokio::test]
async fn an_event_without_end_is_not_read_to_its_end() {
    let endless = Reply::Close(stream(&[&"a".repeat(17 << 20)]));
    check(vec![endless, hello()], 2, &["again", "Hel", "lo"], None).await;
}

#[tokio::test]
async fn an_error_in_the_middle_is_waited_out() {
    let error = r#"{"error":{"message":"upstream","code":502}}"#;
    let failed = Reply::Close(stream(&[&piece("Hal"), error]));
    let told = ["Hal", "again", "waiting", "Hel", "lo"];
    check(vec![failed, hello()], 2, &told, None).await;
}

#[tokio::test]
async fn a_server_that_is_not_there_is_tried_twice() {
    let unused = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for (provider, hint) in [
        (Provider::Ollama, "is Ollama running? `ollama serve` starts it"),
        (Provider::OpenAi, "check the network and `baseUrl`"),
    ] {
        let (deltas, answer) = ask(&*model(&profile(provider, &format!("http://{unused}")))).await;
        assert_eq!(outline(&deltas), ["waiting"]);
        let error = answer.unwrap_err();
        assert_eq!((error.kind, error.hint.as_deref()), (ModelErrorKind::Unreachable, Some(hint)));
    }
}
