//! Models that answer from a file.

use std::sync::Arc;

use serde_json::{Value, json};
use switchboard_config::{CallStyle, ModelProfile, Provider};
use switchboard_models::open;
use switchboard_prompting::{
    CallForm, CallMode, CallResult, ChatMessage, Model, ModelError, ModelErrorKind, ModelRequest,
    RequestedCall, StopReason, TokenUsage, Vendor,
};
use tokio::sync::mpsc;

use crate::server::{environment, outline};

fn open_script(script: &Value, calls: Option<CallStyle>) -> Result<Arc<dyn Model>, ModelError> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("script.json"), script.to_string()).unwrap();
    let mut environment = environment();
    environment.current_dir = folder.path().to_owned();
    let profile = ModelProfile {
        file: Some("script.json".into()),
        calls,
        ..ModelProfile::new("fake", Provider::Scripted, "")
    };
    open(&profile, &environment)
}

fn user(text: &str) -> ChatMessage {
    ChatMessage::User { text: text.to_owned(), images: Vec::new() }
}

fn user_message(text: &str) -> ChatMessage {
    ChatMessage::Assistant { text: text.to_owned(), calls: Vec::new(), kept: None }
}

async fn text(model: &dyn Model, messages: &[ChatMessage]) -> Result<String, String> {
    let (heard, _told) = mpsc::channel(100);
    let request = ModelRequest { messages: messages.to_vec(), ..ModelRequest::default() };
    let answer = model.answer(&request, &heard).await;
    answer.map(|said| said.text).map_err(|error| error.message)
}

fn forecast() -> Value {
    json!({"turns": [
        {
            "expect": ["weather"],
            "thinking": "a tool knows",
            "calls": [{"name": "weather__get", "arguments": {"city": "Oslo"}}],
            "usage": {"input": 10, "output": 5, "cached": 2},
        },
        {"capture": {"degrees": {"after": "Temperature: ", "before": " C"}}, "text": "It is ${degrees}.", "chunk": 4},
        {"text": "I said ${degrees}."},
    ]})
}

#[tokio::test]
async fn a_script_thinks_calls_and_speaks() {
    let model = open_script(&forecast(), None).unwrap();
    assert_eq!(model.info().calls, CallMode::Native(Vendor::OpenAi));
    let mut messages = vec![user("How is the weather?")];
    let (heard, mut told) = mpsc::channel(100);
    let request = ModelRequest { messages: messages.clone(), ..ModelRequest::default() };
    let answer = model.answer(&request, &heard).await.unwrap();
    assert_eq!(
        (answer.stop, answer.usage),
        (StopReason::Calls, TokenUsage { input: 10, output: 5, cached: 2 })
    );
    let call = &answer.calls[0];
    let call = RequestedCall {
        id: call.id.clone().unwrap(),
        name: call.name.clone(),
        arguments: call.arguments.clone().unwrap().text,
    };
    let expected = ("call_1_1", "weather__get", "{\"city\":\"Oslo\"}");
    assert_eq!((&*call.id, &*call.name, &*call.arguments), expected);
    messages.push(ChatMessage::Assistant {
        text: String::new(),
        calls: vec![call.clone()],
        kept: None,
    });
    messages.push(ChatMessage::Results {
        results: vec![CallResult {
            id: call.id,
            name: call.name,
            text: "Temperature: -3 C".to_owned(),
            images: Vec::new(),
            failed: false,
        }],
    });
    let request = ModelRequest { messages: messages.clone(), ..ModelRequest::default() };
    let answer = model.answer(&request, &heard).await.unwrap();
    assert_eq!((answer.text.as_str(), answer.stop), ("It is -3.", StopReason::End));
    let deltas: Vec<_> = std::iter::from_fn(|| told.try_recv().ok()).collect();
    assert_eq!(outline(&deltas), ["(a tool knows)", "call weather__get", "It i", "s -3", "."]);
    messages.extend([user_message("It is -3."), user("What did you say?")]);
    assert_eq!(text(&*model, &messages).await.unwrap(), "I said -3.");
}

#[tokio::test]
async fn a_script_follows_the_history_unless_it_is_a_sequence() {
    let turns = json!([{"text": "one"}, {"text": "two"}]);
    let by_history = open_script(&json!({"turns": turns}), None).unwrap();
    let in_sequence = open_script(&json!({"order": "sequence", "turns": turns}), None).unwrap();
    let first = [user("a")];
    let second = [user("a"), user_message("one"), user("b")];
    for (messages, history, sequence) in [(&first[..], "one", "one"), (&first, "one", "two")] {
        assert_eq!(text(&*by_history, messages).await.unwrap(), history);
        assert_eq!(text(&*in_sequence, messages).await.unwrap(), sequence);
    }
    assert_eq!(text(&*by_history, &second).await.unwrap(), "two");
    let error = text(&*in_sequence, &second).await.unwrap_err();
    assert!(error.ends_with("it has 2 turns, but turn 3 was requested"), "{error}");
}

#[tokio::test]
async fn what_a_script_did_not_expect_is_quoted() {
    let model = open_script(&forecast(), None).unwrap();
    let error = text(&*model, &[user("good morning")]).await.unwrap_err();
    assert!(error.ends_with("turn 1 expects `weather`, but got `good morning`"), "{error}");
}

#[tokio::test]
async fn a_model_that_calls_in_text_has_no_native_calls() {
    let model = open_script(&forecast(), Some(CallStyle::Text)).unwrap();
    assert_eq!(model.info().calls, CallMode::Text(CallForm::Wrapper));
    let error = text(&*model, &[user("weather")]).await.unwrap_err();
    assert!(error.ends_with("turn 1 has native calls"), "{error}");
}

#[tokio::test]
async fn a_script_is_checked_when_it_is_opened() {
    let check = open_script(&forecast(), None).unwrap().check().await.unwrap();
    assert!(check.ends_with("script.json` has 3 turns"), "{check}");
    let error = open_script(&json!({"turns": [{"calls": 7}]}), None).err().unwrap();
    assert_eq!(error.kind, ModelErrorKind::Profile);
    let nowhere = ModelProfile {
        file: Some("nowhere.json".into()),
        ..ModelProfile::new("fake", Provider::Scripted, "")
    };
    assert_eq!(open(&nowhere, &environment()).err().unwrap().kind, ModelErrorKind::Profile);
}
