//! Requests that a vendor rejects, and which of them are retried.

use std::time::Duration;

use switchboard_prompting::{ModelDelta, ModelError, ModelErrorKind};

use crate::server::{KEY, Reply, Server, ask, hello, json, openai, outline, response};

async fn ask_refusing_server(replies: Vec<Reply>) -> (usize, ModelError) {
    let server = Server::start(replies).await;
    let error = ask(&*openai(&server)).await.1.unwrap_err();
    (server.received_requests().len(), error)
}

#[tokio::test]
async fn a_busy_vendor_says_how_long_to_wait() {
    for (headers, wait) in [
        ("retry-after-ms: 7\r\n", Some(7)),
        ("retry-after: 0.02\r\n", Some(20)),
        ("retry-after: 0.25\r\n", Some(100)),
        ("", None),
    ] {
        let busy = response("429 Too Many Requests", headers, "slow down");
        let server = Server::start(vec![busy, hello()]).await;
        let (deltas, answer) = ask(&*openai(&server)).await;
        assert_eq!(outline(&deltas), ["waiting", "Hel", "lo"]);
        assert_eq!(answer.unwrap().text, "Hello");
        let ModelDelta::Waiting { delay, why } = &deltas[0] else { panic!() };
        assert!(wait.is_none_or(|wait| Duration::from_millis(wait) == *delay), "{delay:?}");
        assert_eq!(
            why,
            "`openai` is busy or limits the rate of requests (HTTP status 429): slow down"
        );
    }
}

#[tokio::test]
async fn a_vendor_that_stays_busy_is_asked_four_times() {
    for status in ["429 Too Many Requests", "500 Oops", "529 Overloaded"] {
        let (requests, error) = ask_refusing_server(vec![response(status, "", "")]).await;
        assert_eq!((requests, error.kind), (4, ModelErrorKind::Busy), "{status}");
    }
}

#[tokio::test]
async fn a_wait_that_is_too_long_is_not_begun() {
    let far = response("429 Too Many Requests", "retry-after: 3600\r\n", "");
    let (requests, error) = ask_refusing_server(vec![far]).await;
    assert_eq!((requests, error.kind), (1, ModelErrorKind::Busy));
}

#[tokio::test]
async fn a_quota_that_is_used_up_is_not_waited_for() {
    let body = r#"{"error":{"message":"quota","code":"insufficient_quota"}}"#;
    let (requests, error) = ask_refusing_server(vec![json("429 Too Many Requests", body)]).await;
    assert_eq!((requests, error.kind), (1, ModelErrorKind::Busy));
    assert!(error.hint.unwrap().contains("billing"));
}

#[tokio::test]
async fn a_wrong_key_is_told_without_repeating_it() {
    for (number, status) in [(401, "401 Unauthorized"), (403, "403 Forbidden")] {
        let body = format!(r#"{{"error":{{"message":"Incorrect key {KEY}\u001b[31m"}}}}"#);
        let (requests, error) = ask_refusing_server(vec![json(status, &body)]).await;
        let expected = ModelError::new(
            ModelErrorKind::BadKey,
            format!(
                "`openai` rejected the API key (HTTP status {number}): \
 Incorrect key ***\\u{{1b}}[31m"
            ),
        )
        .with_hint("check the key in the environment variable `OPENAI_API_KEY`");
        assert_eq!((requests, error), (1, expected));
    }
}

#[tokio::test]
async fn a_model_that_is_not_there_is_answered_with_near_names() {
    let missing = json("404 Not Found", r#"{"error":{"message":"no such model"}}"#);
    let list = json("200 OK", r#"{"data":[{"id":"m-10"},{"id":"unlike"}]}"#);
    let (requests, error) = ask_refusing_server(vec![missing.clone(), list]).await;
    assert_eq!((requests, error.kind), (2, ModelErrorKind::UnknownModel));
    assert_eq!(error.hint.unwrap(), "available models: `m-10`, `unlike`");
    let (_, error) = ask_refusing_server(vec![missing]).await;
    assert_eq!(error.hint.unwrap(), "look at the vendor's list of models, and check `baseUrl`");
}

#[tokio::test]
async fn other_refusals_are_told_once() {
    let long = r#"{"error":{"message":"too long","code":"context_length_exceeded"}}"#;
    for (status, body, requests, trouble) in [
        ("400 Bad Request", long, 1, ModelErrorKind::TooLong),
        ("413 Content Too Large", "", 1, ModelErrorKind::TooLong),
        // Retried without the members that the server may not support.
        ("400 Bad Request", r#"{"error":{"message":"bad"}}"#, 2, ModelErrorKind::BadRequest),
        ("302 Found", "", 1, ModelErrorKind::Profile),
    ] {
        let headers = "location: http://127.0.0.1:1/elsewhere\r\n";
        let (count, error) = ask_refusing_server(vec![response(status, headers, body)]).await;
        assert_eq!((count, error.kind), (requests, trouble), "{status}: {error:?}");
    }
}

#[tokio::test]
async fn a_long_refusal_is_quoted_short() {
    let (_, error) =
        ask_refusing_server(vec![response("400 Bad", "", &"word ".repeat(100_000))]).await;
    assert!(error.message.chars().count() < 400, "{}", error.message.len());
}
