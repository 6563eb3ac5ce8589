//! Checks of whether a model is usable, as cheaply as each vendor allows.

use std::net::TcpListener;

use switchboard_config::Provider;
use switchboard_prompting::ModelErrorKind;

use crate::server::{Reply, Server, json, model, profile, response};

const LIST: &str = r#"{"object":"list","data":[{"id":"m-1"},{"id":"m-2"},{"id":"other-model"}]}"#;

/// Runs a check; returns its message or error, and the first lines of its requests.
async fn check(
    provider: Provider,
    name: &str,
    replies: Vec<Reply>,
) -> (Result<String, (ModelErrorKind, Option<String>)>, Vec<String>) {
    let server = Server::start(replies).await;
    let mut profile = profile(provider, &server.url);
    name.clone_into(&mut profile.model);
    let outcome = model(&profile).check().await;
    let received = server.received_requests();
    let lines = received.iter().map(|it| it.head.lines().next().unwrap().to_owned());
    (outcome.map_err(|error| (error.kind, error.hint)), lines.collect())
}

#[tokio::test]
async fn a_model_is_looked_up_where_its_vendor_lists_it() {
    let sentence = |vendor: &str| Ok(format!("`{vendor}` has the model `m-1`"));
    let among = |vendor: &str| Ok(format!("`{vendor}` has the model `m-1`, among 3"));
    for (provider, body, expected, lines) in [
        (Provider::OpenAi, LIST, among("openai"), &["get /models http/1.1"][..]),
        (Provider::Ollama, LIST, among("ollama"), &["get /models http/1.1"]),
        (
            Provider::OpenRouter,
            LIST,
            among("openrouter"),
            &["get /key http/1.1", "get /models http/1.1"],
        ),
        (
            Provider::Anthropic,
            r#"{"id":"m-1"}"#,
            sentence("anthropic"),
            &["get /v1/models/m-1 http/1.1"],
        ),
        (
            Provider::Gemini,
            r#"{"name":"models/m-1"}"#,
            sentence("gemini"),
            &["get /models/m-1 http/1.1"],
        ),
    ] {
        let (outcome, asked) = check(provider, "m-1", vec![json("200 OK", body)]).await;
        assert_eq!(outcome, expected);
        assert_eq!(asked, lines);
    }
}

#[tokio::test]
async fn a_model_that_is_not_listed_is_answered_with_near_names() {
    let hint = Some("did you mean `other-model`?".to_owned());
    let missing = json("404 Not Found", r#"{"error":{"message":"no","type":"not_found_error"}}"#);
    for (provider, replies) in [
        (Provider::OpenAi, vec![json("200 OK", LIST)]),
        (Provider::Anthropic, vec![missing.clone(), json("200 OK", LIST)]),
        (Provider::Gemini, vec![missing, json("200 OK", LIST)]),
    ] {
        let (outcome, _) = check(provider, "othermodle", replies).await;
        assert_eq!(outcome, Err((ModelErrorKind::UnknownModel, hint.clone())), "{provider:?}");
    }
}

#[tokio::test]
async fn a_server_without_a_list_answers_all_the_same() {
    let (outcome, _) = check(Provider::Vllm, "m", vec![response("404 Not Found", "", "")]).await;
    assert_eq!(outcome.unwrap(), "`vllm` answers, but has no list of models to find `m` in");
}

#[tokio::test]
async fn what_is_wrong_is_told_at_once() {
    let page = response("200 OK", "content-type: text/html\r\n", "<html></html>");
    for (reply, trouble) in [
        (response("401 Unauthorized", "", ""), ModelErrorKind::BadKey),
        (response("503 Busy", "", ""), ModelErrorKind::Busy),
        (page, ModelErrorKind::Malformed),
    ] {
        let (outcome, asked) = check(Provider::OpenAi, "m", vec![reply]).await;
        assert_eq!((outcome.unwrap_err().0, asked.len()), (trouble, 1));
    }
    let unused = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let ollama = model(&profile(Provider::Ollama, &format!("http://{unused}")));
    assert_eq!(ollama.check().await.unwrap_err().kind, ModelErrorKind::Unreachable);
}
