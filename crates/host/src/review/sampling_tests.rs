//! Tests of sampling requests of servers.

use parking_lot::Mutex;
use std::collections::BTreeMap;

use switchboard_config::{Config, SamplingReview, ServerConfig, default_server};
use switchboard_core::{Published, SampleFuture, SampleTool, SampleToolChoice, ServerId};
use switchboard_fleet::Answers;
use switchboard_store::AskReply;
use switchboard_wire::Json;

use super::*;
use crate::review::ask::{Asker, NobodyToAsk, ReplyFuture};
use crate::review::face_answers::FaceAnswers;

/// A sampler that gives a scripted answer and records the requests.
struct Parrot {
    says: Result<SampleResult, String>,
    tools: ToolUse,
    asked: Mutex<Vec<SampleRequest>>,
}

impl Sampler for Parrot {
    fn choose(&self, wishes: &ModelPreferences) -> Option<ChosenModel> {
        let profile = wishes.only.clone().unwrap_or_else(|| "parrot".to_owned());
        (profile == "parrot").then(|| ChosenModel {
            profile,
            model: "parrot-1".to_owned(),
            tools: self.tools,
        })
    }

    fn sample<'a>(&'a self, request: &'a SampleRequest) -> SampleFuture<'a> {
        self.asked.lock().push(request.clone());
        Box::pin(async { self.says.clone() })
    }
}

fn hello() -> SampleResult {
    SampleResult {
        model: "parrot-1".to_owned(),
        text: "hello".to_owned(),
        calls: Vec::new(),
        stop: SampleStop::End,
        tokens: 10,
    }
}

fn parrot(says: Result<SampleResult, String>) -> Arc<Parrot> {
    Arc::new(Parrot { says, tools: ToolUse::Native, asked: Mutex::default() })
}

/// An asker that accepts everything, and records the requests and refusals that it saw.
#[derive(Default)]
struct Yes {
    shown: Mutex<Vec<SamplingAsk>>,
    turned_down: Mutex<Vec<String>>,
}

impl Asker for Yes {
    fn ask<'a>(&'a self, ask: &'a Ask) -> ReplyFuture<'a> {
        if let AskKind::Sampling(shown) = &ask.kind {
            self.shown.lock().push(shown.clone());
        }
        Box::pin(async { AskReply::Accept(None) })
    }

    fn notify_refused(&self, server: &str, why: &str) {
        self.turned_down.lock().push(format!("{server}: {why}"));
    }
}

/// Returns answers for the server `notes` with these settings.
fn answers(
    asker: Arc<dyn Asker>,
    sampler: Arc<Parrot>,
    settings: Option<SamplingSettings>,
) -> FaceAnswers {
    let id = ServerId::new("notes").unwrap();
    let server = ServerConfig { sampling: settings, ..default_server(id.clone()) };
    let config = Config { servers: BTreeMap::from([(id, server)]), ..Config::default() };
    let answers = FaceAnswers::new(asker, Vec::new()).with_sampler(sampler);
    answers.set_config(&Published::new(config));
    answers
}

async fn ask(answers: &FaceAnswers, params: &Value) -> Result<Value, (i64, String)> {
    let params = Json::from(params);
    let asking = ServerRequest {
        key: None,
        server: "notes",
        target: Some("save"),
        call: Some(7),
        method: "sampling/createMessage",
        params: Some(&params),
    };
    match answers.answer(asking).await {
        Ok(text) => Ok(serde_json::from_str(&text).unwrap()),
        Err(error) => Err((error.code, error.message)),
    }
}

fn question(text: &str) -> Value {
    json!({"messages": [{"role": "user", "content": {"type": "text", "text": text}}],
        "maxTokens": 100})
}

fn on() -> Option<SamplingSettings> {
    Some(SamplingSettings::default())
}

#[tokio::test]
async fn a_server_that_may_ask_is_told_so_and_gets_an_answer_with_consent() {
    let asker = Arc::new(Yes::default());
    let sampler = parrot(Ok(hello()));
    let answers = answers(Arc::clone(&asker) as Arc<dyn Asker>, Arc::clone(&sampler), on());
    let told: Value = serde_json::from_str(&answers.capabilities("notes")).unwrap();
    assert_eq!(told["sampling"], json!({"tools": {}}));
    let told: Value = serde_json::from_str(&answers.capabilities("another")).unwrap();
    assert_eq!(told.get("sampling"), None);
    let params = json!({
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "look"},
                {"type": "image", "data": "iVBO", "mimeType": "image/png"}]},
            {"role": "assistant", "content": {"type": "tool_use", "id": "c1", "name": "see",
                "input": {"at": 1}}},
            {"role": "user", "content": {"type": "tool_result", "toolUseId": "c1", "content": [
                {"type": "text", "text": "a cat"}], "isError": false}},
        ],
        "systemPrompt": "be brief", "maxTokens": 50, "temperature": 0.5, "stopSequences": ["\n"],
        "tools": [{"name": "see", "description": "Sees.", "inputSchema": {"type": "object"}}],
        "toolChoice": {"mode": "required"}, "includeContext": "thisServer",
    });
    let expected = json!({"role": "assistant", "content": {"type": "text", "text": "hello"},
        "model": "parrot-1", "stopReason": "endTurn"});
    assert_eq!(ask(&answers, &params).await, Ok(expected));
    let image = SampleMedia { mime: "image/png".to_owned(), data: "iVBO".to_owned() };
    let message = |role, parts| SampleMessage { role, parts };
    let expected = SampleRequest {
        server: "notes".to_owned(),
        profile: "parrot".to_owned(),
        system: "be brief".to_owned(),
        messages: vec![
            message(
                SampleRole::User,
                vec![SamplePart::Text("look".to_owned()), SamplePart::Image(image)],
            ),
            message(
                SampleRole::Assistant,
                vec![SamplePart::Call {
                    id: "c1".to_owned(),
                    name: "see".to_owned(),
                    input: json!({"at": 1}),
                }],
            ),
            message(
                SampleRole::User,
                vec![SamplePart::Result {
                    id: "c1".to_owned(),
                    text: "a cat".to_owned(),
                    images: Vec::new(),
                    failed: false,
                }],
            ),
        ],
        tools: vec![SampleTool {
            name: "see".to_owned(),
            description: Some("Sees.".to_owned()),
            input_schema: Some(r#"{"type":"object"}"#.to_owned()),
        }],
        tool_choice: SampleToolChoice::Required,
        max_tokens: 50,
        temperature: Some(0.5),
        stop_sequences: vec!["\n".to_owned()],
    };
    assert_eq!(*sampler.asked.lock(), [expected]);
    let shown = SamplingAsk {
        model: "parrot (parrot-1)".to_owned(),
        system: "be brief".to_owned(),
        messages: vec![
            (SampleRole::User, "look\n[image image/png, 0 KiB]".to_owned()),
            (SampleRole::Assistant, r#"[call of see: {"at":1}]"#.to_owned()),
            (SampleRole::User, "[result: a cat]".to_owned()),
        ],
        tools: vec!["see".to_owned()],
        max_tokens: 50,
    };
    assert_eq!(*asker.shown.lock(), [shown]);
}

#[tokio::test]
async fn calls_of_the_model_go_to_the_server_as_it_knows_them() {
    let calls = vec![("c1".to_owned(), "see".to_owned(), json!({"at": 1}))];
    let both = SampleResult { calls, stop: SampleStop::Calls, ..hello() };
    let only = SampleResult { text: String::new(), ..both.clone() };
    let call = json!({"type": "tool_use", "id": "c1", "name": "see", "input": {"at": 1}});
    for (says, expected) in
        [(both, json!([{"type": "text", "text": "hello"}, call])), (only, call.clone())]
    {
        let answers = answers(Arc::new(Yes::default()), parrot(Ok(says)), on());
        let got = ask(&answers, &question("hi")).await.unwrap();
        assert_eq!((&got["content"], &got["stopReason"]), (&expected, &json!("toolUse")));
    }
}

#[tokio::test]
async fn el_04_context_of_other_servers_is_denied_and_tokens_are_capped() {
    let mut greedy = question("hi");
    greedy["maxTokens"] = json!(1_000_000);
    let mut nosy = greedy.clone();
    nosy["includeContext"] = json!("allServers");

    let off = answers(Arc::new(Yes::default()), parrot(Ok(hello())), None);
    let refusal = "this client does not answer `sampling/createMessage`".to_owned();
    assert_eq!(ask(&off, &nosy).await, Err((RpcError::METHOD_NOT_FOUND, refusal)));

    let asker = Arc::new(Yes::default());
    let sampler = parrot(Ok(hello()));
    let on = answers(Arc::clone(&asker) as Arc<dyn Asker>, Arc::clone(&sampler), on());
    let why = "it requests the context of all servers, which is not allowed";
    let refusal = format!("User rejected sampling request: {why}");
    assert_eq!(ask(&on, &nosy).await, Err((-1, refusal)));
    assert_eq!(*asker.turned_down.lock(), [format!("notes: {why}")]);
    assert_eq!(sampler.asked.lock().len(), 0);
    ask(&on, &greedy).await.unwrap();
    let most: Vec<usize> = sampler.asked.lock().iter().map(|asked| asked.max_tokens).collect();
    assert_eq!(most, [4_096]);
}

#[tokio::test]
async fn el_05_of_a_hundred_requests_in_one_call_ten_are_asked() {
    let asker = Arc::new(Yes::default());
    let sampler = parrot(Ok(hello()));
    let answers = answers(Arc::clone(&asker) as Arc<dyn Asker>, Arc::clone(&sampler), on());
    let mut refused = 0;
    for _ in 0..100 {
        refused += usize::from(ask(&answers, &question("hi")).await.is_err());
    }
    assert_eq!((refused, sampler.asked.lock().len()), (90, 10));
    let told = asker.turned_down.lock();
    assert_eq!(told.len(), 90);
    assert_eq!(told[0], "notes: rate limit: 10 sampling requests per call");
}

#[tokio::test]
async fn without_a_person_the_answer_is_no_unless_the_operator_says_otherwise() {
    let sampler = parrot(Ok(hello()));
    let reviewed = answers(Arc::new(NobodyToAsk), Arc::clone(&sampler), on());
    let refusal = "User rejected sampling request: declined".to_owned();
    assert_eq!(ask(&reviewed, &question("hi")).await, Err((-1, refusal)));
    assert_eq!(sampler.asked.lock().len(), 0);
    let settings =
        SamplingSettings { review: SamplingReview::Nobody, ..SamplingSettings::default() };
    let free = answers(Arc::new(NobodyToAsk), sampler, Some(settings));
    assert_eq!(ask(&free, &question("hi")).await.unwrap()["content"]["text"], "hello");
}

#[tokio::test]
async fn what_cannot_be_asked_is_refused_with_the_reason() {
    let answers = answers(Arc::new(Yes::default()), parrot(Err("it sleeps".to_owned())), on());
    let text = |text: &str| json!({"type": "text", "text": text});
    let call = json!({"type": "tool_use", "id": "c1", "name": "see", "input": {}});
    let result = json!({"type": "tool_result", "toolUseId": "c1", "content": []});
    let said = |role: &str, content: Value| json!({"role": role, "content": content});
    let messages = |messages: Value| json!({"messages": messages, "maxTokens": 10});
    let cases = [
        (json!({}), "the request cannot be read: missing field `messages` at line 1 column 2"),
        (messages(json!([])), "the request has no messages"),
        (messages(json!([said("system", text("hi"))])), "unknown role `system`"),
        (messages(json!([said("user", json!({"type": "video"}))])), "unknown content type `video`"),
        (
            messages(json!([said("user", json!({"type": "text"}))])),
            "a part of a message has no `text`",
        ),
        (
            messages(json!([said("assistant", call.clone()), said("user", text("hm"))])),
            "a call in the messages has no result",
        ),
        (messages(json!([said("user", result.clone())])), "the result `c1` belongs to no call"),
        (
            messages(json!([said("assistant", call), said("user", json!([result, text("hm")]))])),
            "a message mixes results with other content",
        ),
    ];
    for (params, why) in cases {
        let expected = Err((RpcError::INVALID_PARAMS, why.to_owned()));
        assert_eq!(ask(&answers, &params).await, expected, "{params}");
    }
    let expected = "the model did not answer: it sleeps".to_owned();
    let got = ask(&answers, &question("hi")).await;
    assert_eq!(got, Err((RpcError::INTERNAL_ERROR, expected)));
}

#[tokio::test]
async fn tools_are_neither_declared_nor_taken_where_the_model_cannot_call_them() {
    let mute =
        Arc::new(Parrot { says: Ok(hello()), tools: ToolUse::None, asked: Mutex::default() });
    let answers = answers(Arc::new(Yes::default()), mute, on());
    let told: Value = serde_json::from_str(&answers.capabilities("notes")).unwrap();
    assert_eq!(told["sampling"], json!({}));
    let mut params = question("hi");
    params["tools"] = json!([{"name": "see"}]);
    let why = "the model `parrot` cannot be given tools".to_owned();
    assert_eq!(ask(&answers, &params).await, Err((RpcError::INVALID_PARAMS, why)));
}

#[tokio::test]
async fn a_server_is_not_told_of_a_model_that_is_not_there() {
    let settings =
        SamplingSettings { model: Some("gone".to_owned()), ..SamplingSettings::default() };
    let answers = answers(Arc::new(Yes::default()), parrot(Ok(hello())), Some(settings));
    let told: Value = serde_json::from_str(&answers.capabilities("notes")).unwrap();
    assert_eq!(told.get("sampling"), None);
    let why = "User rejected sampling request: no model is available".to_owned();
    assert_eq!(ask(&answers, &question("hi")).await, Err((-1, why)));
}
