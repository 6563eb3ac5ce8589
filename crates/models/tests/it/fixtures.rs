//! Whole conversations under the vendors' own rules: streams, calls, thoughts that are returned.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_config::{ModelProfile, Provider};
use switchboard_models::{RetryPolicy, open_with};
use switchboard_prompting::{
    CallResult, ChatMessage, Image, Model, ModelAnswer, ModelDelta, ModelError, ModelErrorKind,
    ModelRequest, RequestedCall, StopReason, TokenUsage, VendorMessage,
};
use switchboard_testkit::{ModelFixture, ModelVendor};
use tokio::sync::mpsc;

use crate::server::{KEY, environment};

/// Long timeouts, because the machine is shared with other tests; short pauses between requests.
const TEST_RETRY_POLICY: RetryPolicy = RetryPolicy {
    beginning: Duration::from_secs(30),
    silence: Duration::from_secs(30),
    back_off: Duration::from_millis(4),
    longest_wait: Duration::from_millis(100),
};

fn provider(vendor: ModelVendor) -> Provider {
    Provider::from_word(vendor.name()).unwrap()
}

fn start(vendor: ModelVendor, turns: &Value) -> (ModelFixture, Arc<dyn Model>) {
    start_with(vendor, turns, &json!({}), TEST_RETRY_POLICY)
}

/// Starts a fixture and a model, with members for every request and a retry policy.
fn start_with(
    vendor: ModelVendor,
    turns: &Value,
    extra: &Value,
    patience: RetryPolicy,
) -> (ModelFixture, Arc<dyn Model>) {
    let fixture = ModelFixture::start_with_key(vendor, KEY, &json!({ "turns": turns }));
    let profile = ModelProfile {
        base_url: Some(fixture.base_url().to_owned()),
        extra: extra.as_object().unwrap().clone(),
        ..ModelProfile::new("fast", provider(vendor), "m-1")
    };
    let model = open_with(&profile, &environment(), patience).unwrap();
    (fixture, model)
}

/// Returns the definition of one tool in the vendor's form.
fn tools(vendor: ModelVendor) -> Value {
    let name = "weather";
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    match vendor {
        ModelVendor::OpenAi => {
            json!([{"type": "function", "function": {"name": name, "parameters": schema}}])
        }
        ModelVendor::Anthropic => json!([{"name": name, "input_schema": schema}]),
        ModelVendor::Gemini => {
            json!([{"functionDeclarations": [{"name": name, "parameters": schema}]}])
        }
    }
}

fn user(text: &str) -> ChatMessage {
    ChatMessage::User { text: text.to_owned(), images: Vec::new() }
}

async fn ask(
    model: &dyn Model,
    vendor: ModelVendor,
    messages: &[ChatMessage],
) -> (Vec<ModelDelta>, Result<ModelAnswer, ModelError>) {
    let request = ModelRequest {
        system: "Be brief.".to_owned(),
        messages: messages.to_vec(),
        tools: tools(vendor),
        ..ModelRequest::default()
    };
    let (heard, mut told) = mpsc::channel(1_000);
    let answer = model.answer(&request, &heard).await;
    let mut deltas = Vec::new();
    while let Ok(delta) = told.try_recv() {
        deltas.push(delta);
    }
    (deltas, answer)
}

/// Returns the texts, the thoughts and the call names in the deltas.
fn delta_texts(deltas: &[ModelDelta]) -> [String; 3] {
    let mut all = [const { String::new() }; 3];
    for delta in deltas {
        match delta {
            ModelDelta::Text(text) => all[0].push_str(text),
            ModelDelta::Thinking(text) => all[1].push_str(text),
            ModelDelta::Call { name } => all[2].push_str(name),
            ModelDelta::Restarted { .. } => all = [const { String::new() }; 3],
            ModelDelta::Waiting { .. } => {}
        }
    }
    all
}

/// Returns the answer as a message of the stored conversation.
fn kept_message(vendor: ModelVendor, said: &ModelAnswer) -> ChatMessage {
    let calls = said.calls.iter().enumerate().map(|(place, call)| RequestedCall {
        id: call.id.clone().unwrap_or_else(|| format!("call_{place}")),
        name: call.name.clone(),
        arguments: call.arguments.as_ref().unwrap().text.clone(),
    });
    let kept = said.vendor_message.clone();
    ChatMessage::Assistant {
        text: said.text.clone(),
        calls: calls.collect(),
        kept: kept.map(|content| VendorMessage { provider: vendor.name().to_owned(), content }),
    }
}

/// Returns a result for every call of a message.
fn results(message: &ChatMessage, images: &[Image]) -> ChatMessage {
    let ChatMessage::Assistant { calls, .. } = message else { return user("") };
    let results = calls.iter().map(|call| CallResult {
        id: call.id.clone(),
        name: call.name.clone(),
        text: format!("sun in {}", call.arguments),
        images: images.to_vec(),
        failed: false,
    });
    ChatMessage::Results { results: results.collect() }
}

#[tokio::test]
async fn text_of_any_language_comes_in_pieces_and_whole() {
    let text = "Grüße aus 東京 \u{1f469}\u{200d}\u{1f680} \"so\"\n\nzweite Zeile\t\\";
    for vendor in ModelVendor::ALL {
        let usage = json!({"input": 120, "output": 9, "cached": 100});
        let (fixture, model) = start(vendor, &json!([{"text": text, "chunk": 3, "usage": usage}]));
        let (deltas, said) = ask(&*model, vendor, &[user("hi")]).await;
        let said = said.unwrap();
        assert_eq!(delta_texts(&deltas), [text, "", ""], "{vendor:?}");
        assert!(deltas.len() > 5, "{vendor:?}: {deltas:?}");
        let usage = TokenUsage { input: 120, output: 9, cached: 100 };
        assert_eq!(
            (&*said.text, said.stop, said.usage),
            (text, StopReason::End, usage),
            "{vendor:?}"
        );
        assert_eq!(fixture.requests().len(), 1, "{vendor:?}");
    }
}

#[tokio::test]
async fn several_calls_come_in_order_and_their_results_are_taken() {
    for vendor in ModelVendor::ALL {
        let arguments = [json!({"city": "Zürich \"A\""}), json!({"city": "東京"}), json!({})];
        let calls: Vec<Value> = arguments
            .iter()
            .map(|arguments| json!({"name": "weather", "arguments": arguments}))
            .collect();
        let turns = json!([
            {"text": "I look.", "calls": calls, "chunk": 4},
            {"expect": ["sun in ", "Zürich", "東京"], "text": "Sun everywhere."},
        ]);
        let (_fixture, model) = start(vendor, &turns);
        let question = user("How is it?");
        let (deltas, said) = ask(&*model, vendor, std::slice::from_ref(&question)).await;
        let said = said.unwrap();
        assert_eq!(delta_texts(&deltas), ["I look.", "", "weatherweatherweather"], "{vendor:?}");
        assert_eq!(said.stop, StopReason::Calls, "{vendor:?}");
        let got: Vec<Value> = said
            .calls
            .iter()
            .map(|call| serde_json::from_str(&call.arguments.as_ref().unwrap().text).unwrap())
            .collect();
        assert_eq!(got, arguments, "{vendor:?}");
        let answered = kept_message(vendor, &said);
        let back = results(&answered, &[]);
        let (_, said) = ask(&*model, vendor, &[question, answered, back]).await;
        assert_eq!(said.unwrap().text, "Sun everywhere.", "{vendor:?}");
    }
}

#[tokio::test]
async fn thoughts_are_told_apart_and_given_back_with_their_signatures() {
    for (vendor, extra) in [
        (ModelVendor::OpenAi, json!({})),
        (ModelVendor::Anthropic, json!({"thinking": {"type": "enabled", "budget_tokens": 2_000}})),
        (
            ModelVendor::Gemini,
            json!({"generationConfig": {"thinkingConfig": {"includeThoughts": true}}}),
        ),
    ] {
        let call = |city: &str| json!([{"name": "weather", "arguments": {"city": city}}]);
        let turns = json!([
            {"thinking": "First Oslo, I think.", "text": "Oslo.", "calls": call("Oslo")},
            {"thinking": "Now Rome.", "calls": call("Rome")},
            {"thinking": "Enough.", "text": "Both are sunny."},
            {"expect": ["And tomorrow?"], "text": "Also."},
        ]);
        let (fixture, model) = start_with(vendor, &turns, &extra, TEST_RETRY_POLICY);
        let mut messages = vec![user("How is it in Oslo and Rome?")];
        let mut thoughts = Vec::new();
        for _ in 0..3 {
            let (deltas, said) = ask(&*model, vendor, &messages).await;
            // The fixture rejects a thought without its signature, or with a changed one.
            let said = said.unwrap_or_else(|error| panic!("{vendor:?}: {error:?}"));
            let [text, thinking, _] = delta_texts(&deltas);
            assert_eq!(text, said.text, "{vendor:?}");
            thoughts.push(thinking);
            let answered = kept_message(vendor, &said);
            let back = results(&answered, &[]);
            messages.push(answered);
            if !said.calls.is_empty() {
                messages.push(back);
            }
        }
        assert_eq!(thoughts, ["First Oslo, I think.", "Now Rome.", "Enough."], "{vendor:?}");
        messages.push(user("And tomorrow?"));
        let (_, said) = ask(&*model, vendor, &messages).await;
        assert_eq!(said.unwrap().text, "Also.", "{vendor:?}");
        assert_eq!(fixture.requests().len(), 4, "{vendor:?}: nothing was asked twice");
        let last = fixture.requests().pop().unwrap()["body"].to_string();
        let signed = match vendor {
            // Chat completions have no signatures.
            ModelVendor::OpenAi => "tool_calls",
            ModelVendor::Anthropic => "\"signature\":",
            ModelVendor::Gemini => "\"thoughtSignature\":",
        };
        assert!(last.contains(signed), "{vendor:?}: {last}");
    }
}

#[tokio::test]
async fn what_one_vendor_said_is_understood_by_the_others() {
    for before in ModelVendor::ALL {
        let first = json!([{
            "thinking": "Hm.", "text": "I look.",
            "calls": [{"name": "weather", "arguments": {"city": "Oslo"}}],
        }]);
        let (_fixture, model) = start(before, &first);
        let question = user("How is it?");
        let (_, said) = ask(&*model, before, std::slice::from_ref(&question)).await;
        let answered = kept_message(before, &said.unwrap());
        let image = Image { mime: "image/png".to_owned(), data: "iVBORw0KGgo=".to_owned() };
        let messages = [question, answered.clone(), results(&answered, &[image])];
        for after in ModelVendor::ALL {
            let turns = json!([{"text": "Never."}, {"expect": ["sun in"], "text": "Sun."}]);
            let (_fixture, model) = start(after, &turns);
            let (_, said) = ask(&*model, after, &messages).await;
            let said = said.unwrap_or_else(|error| panic!("{before:?} {after:?}: {error:?}"));
            assert_eq!(said.text, "Sun.", "{before:?} {after:?}");
        }
    }
}

/// Returns the error of a persistent fault, after checking that a single occurrence is retried.
async fn trouble(vendor: ModelVendor, fault: &Value, patience: RetryPolicy) -> ModelErrorKind {
    let turn = |fault: &Value| json!([{"text": "One two three.", "chunk": 2, "fault": fault}]);
    let mut once = fault.clone();
    once["times"] = json!(1);
    let (_fixture, model) = start_with(vendor, &turn(&once), &json!({}), patience);
    let (deltas, said) = ask(&*model, vendor, &[user("hi")]).await;
    assert_eq!(said.unwrap().text, "One two three.", "{vendor:?} {fault}");
    assert_eq!(delta_texts(&deltas)[0], "One two three.", "{vendor:?} {fault}");
    let (_fixture, model) = start_with(vendor, &turn(fault), &json!({}), patience);
    let (_, said) = ask(&*model, vendor, &[user("hi")]).await;
    said.unwrap_err().kind
}

#[tokio::test]
async fn faults_are_got_over_or_told() {
    for vendor in ModelVendor::ALL {
        for (fault, expected) in [
            (json!({"kind": "status", "status": 429}), ModelErrorKind::Busy),
            (json!({"kind": "status", "status": 503}), ModelErrorKind::Busy),
            (json!({"kind": "cut", "after": 3}), ModelErrorKind::CutOff),
            (json!({"kind": "malformed", "after": 3}), ModelErrorKind::Malformed),
            (json!({"kind": "error", "after": 3}), ModelErrorKind::Busy),
        ] {
            assert_eq!(
                trouble(vendor, &fault, TEST_RETRY_POLICY).await,
                expected,
                "{vendor:?} {fault}"
            );
        }
    }
}

#[tokio::test]
async fn a_vendor_that_falls_silent_is_not_waited_for_without_end() {
    for vendor in ModelVendor::ALL {
        let patience = RetryPolicy { silence: Duration::from_millis(300), ..TEST_RETRY_POLICY };
        let fault = json!({"kind": "silent", "after": 3});
        assert_eq!(trouble(vendor, &fault, patience).await, ModelErrorKind::CutOff, "{vendor:?}");
    }
}
