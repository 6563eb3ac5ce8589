//! Event streams as Gemini sends them.

use proptest::prelude::*;

use super::*;
use crate::test_values::{self, any_json, native};

fn read(events: &[Value]) -> (Vec<ModelDelta>, Result<ModelAnswer, BrokenAnswer>) {
    let events: Vec<String> = events.iter().map(Value::to_string).collect();
    test_values::read(Box::new(GeminiStream::default()), &events)
}

fn parts(parts: Value) -> Value {
    json!({"candidates": [{"content": {"parts": parts, "role": "model"}, "index": 0}],
        "modelVersion": "g"})
}

fn end(reason: &str) -> Value {
    json!({"candidates": [{"content": {"parts": [{"text": ""}]}, "finishReason": reason}],
        "usageMetadata": {"promptTokenCount": 20, "candidatesTokenCount": 3,
            "thoughtsTokenCount": 4, "cachedContentTokenCount": 16, "totalTokenCount": 27}})
}

const COST: TokenUsage = TokenUsage { input: 20, output: 7, cached: 16 };

fn said(text: &str, stop: StopReason) -> ModelAnswer {
    ModelAnswer {
        text: text.to_owned(),
        calls: Vec::new(),
        stop,
        usage: COST,
        vendor_message: None,
    }
}

#[test]
fn text_comes_as_it_is_written_and_the_cost_at_the_end() {
    let events = [parts(json!([{"text": "Hel"}])), parts(json!([{"text": "lo"}])), end("STOP")];
    let (deltas, answer) = read(&events);
    assert_eq!(deltas, [ModelDelta::Text("Hel".to_owned()), ModelDelta::Text("lo".to_owned())]);
    assert_eq!(answer, Ok(said("Hello", StopReason::End)));
}

#[test]
fn calls_without_names_of_their_own_are_told_apart_and_signatures_are_kept() {
    let call = |at: u64| json!({"functionCall": {"name": "look", "args": {"at": at}}});
    let mut signed = call(1);
    signed["thoughtSignature"] = json!("sig");
    let (deltas, answer) = read(&[
        parts(json!([{"text": "hm", "thought": true}])),
        parts(json!([{"text": "I "}])),
        parts(json!([{"text": "look"}])),
        parts(json!([signed, call(2)])),
        end("STOP"),
    ]);
    let call_begins = ModelDelta::Call { name: "look".to_owned() };
    assert_eq!(
        deltas,
        [
            ModelDelta::Thinking("hm".to_owned()),
            ModelDelta::Text("I ".to_owned()),
            ModelDelta::Text("look".to_owned()),
            call_begins.clone(),
            call_begins,
        ]
    );
    let calls = vec![native(None, "look", "{\"at\":1}"), native(None, "look", "{\"at\":2}")];
    let kept = Some(json!([{"text": "I look"}, signed, call(2)]));
    assert_eq!(
        answer,
        Ok(ModelAnswer { calls, vendor_message: kept, ..said("I look", StopReason::Calls) })
    );
}

#[test]
fn endings_are_understood() {
    let text = parts(json!([{"text": "a"}]));
    let blocked = json!({"promptFeedback": {"blockReason": "SAFETY"},
        "usageMetadata": {"promptTokenCount": 20, "thoughtsTokenCount": 7,
            "cachedContentTokenCount": 16}});
    for (events, expected) in [
        (vec![text.clone(), end("MAX_TOKENS")], Ok(said("a", StopReason::Length))),
        (vec![text.clone(), end("SAFETY")], Ok(said("a", StopReason::Refused))),
        (
            vec![text.clone(), end("MALFORMED_FUNCTION_CALL")],
            Ok(said("a", StopReason::Other("MALFORMED_FUNCTION_CALL".to_owned()))),
        ),
        (vec![blocked], Ok(said("", StopReason::Refused))),
        (vec![text], Err(BrokenAnswer::Cut)),
        (vec![], Err(BrokenAnswer::Cut)),
    ] {
        assert_eq!(read(&events).1, expected, "{events:?}");
    }
}

#[test]
fn errors_inside_of_the_stream_are_told() {
    let error = json!({"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}});
    let Err(BrokenAnswer::Refused(refusal)) = read(&[error]).1 else { panic!() };
    assert_eq!((refusal.status, refusal.has_code("unavailable")), (Some(503), true));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn no_events_make_the_reader_panic(values in prop::collection::vec(any_json(), 0..5)) {
        let mut events = Vec::new();
        for value in &values {
            events.extend([value.clone(), parts(value.clone()), parts(json!([value]))]);
            events.push(parts(json!([{"functionCall": value}])));
            events.push(json!({"usageMetadata": value}));
        }
        read(&events).1.ok();
        events.push(end("STOP"));
        read(&events).1.ok();
    }
}
