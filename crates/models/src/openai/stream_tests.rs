//! Event streams of chat completions, as servers send them.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::test_values::{self, any_json, native, pieces};

fn read(events: &[String]) -> (Vec<ModelDelta>, Result<ModelAnswer, BrokenAnswer>) {
    test_values::read(Box::new(OpenAiStream::default()), events)
}

fn delta(delta: Value) -> String {
    json!({"id": "x", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]}).to_string()
}

fn end(reason: &str) -> String {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}).to_string()
}

fn done() -> String {
    "[DONE]".to_owned()
}

fn said(text: &str, stop: StopReason) -> ModelAnswer {
    ModelAnswer {
        text: text.to_owned(),
        calls: Vec::new(),
        stop,
        usage: TokenUsage::default(),
        vendor_message: None,
    }
}

#[test]
fn text_comes_as_it_is_written_and_the_cost_at_the_end() {
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 20, "completion_tokens": 3,
        "prompt_tokens_details": {"cached_tokens": 16}}});
    let (deltas, answer) = read(&[
        delta(json!({"role": "assistant", "content": ""})),
        delta(json!({"content": "Hel"})),
        delta(json!({"content": "lo"})),
        end("stop"),
        usage.to_string(),
        done(),
    ]);
    assert_eq!(deltas, [ModelDelta::Text("Hel".to_owned()), ModelDelta::Text("lo".to_owned())]);
    let usage = TokenUsage { input: 20, output: 3, cached: 16 };
    assert_eq!(answer, Ok(ModelAnswer { usage, ..said("Hello", StopReason::End) }));
}

#[test]
fn calls_are_put_together_from_fragments() {
    let call = |index: u64, id: Value, name: Value, arguments: &str| {
        delta(json!({"tool_calls": [{"index": index, "id": id, "type": "function",
            "function": {"name": name, "arguments": arguments}}]}))
    };
    let (deltas, answer) = read(&[
        call(0, json!("a"), json!("look"), ""),
        call(0, json!(null), json!(null), "{\"at\""),
        call(1, json!("b"), json!("hear"), ""),
        call(0, json!(null), json!(null), ":1}"),
        end("tool_calls"),
        done(),
    ]);
    let named = |name: &str| ModelDelta::Call { name: name.to_owned() };
    assert_eq!(deltas, [named("look"), named("hear")]);
    let calls = vec![native(Some("a"), "look", "{\"at\":1}"), native(Some("b"), "hear", "{}")];
    assert_eq!(answer, Ok(ModelAnswer { calls, ..said("", StopReason::Calls) }));
}

#[test]
fn whole_calls_without_numbers_or_names_of_their_own_are_told_apart() {
    let whole = |name: &str| json!({"function": {"name": name, "arguments": {"a": 1}}});
    let (deltas, answer) = read(&[
        delta(json!({"tool_calls": [whole("one"), whole("one")]})),
        delta(json!({"tool_calls": [whole("two")]})),
        end("stop"),
    ]);
    assert_eq!(deltas.len(), 3);
    let calls = ["one", "one", "two"].map(|name| native(None, name, "{\"a\":1}")).to_vec();
    assert_eq!(answer, Ok(ModelAnswer { calls, ..said("", StopReason::Calls) }));
}

#[test]
fn thoughts_are_told_apart_from_words_and_kept_for_the_server() {
    let (deltas, answer) = read(&[
        delta(json!({"reasoning_content": "hm"})),
        delta(json!({"content": "yes"})),
        delta(
            json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "look", "arguments": "{}"}}]}),
        ),
        end("tool_calls"),
    ]);
    assert_eq!(
        deltas[..2],
        [ModelDelta::Thinking("hm".to_owned()), ModelDelta::Text("yes".to_owned())]
    );
    let kept = json!({"role": "assistant", "content": "yes", "reasoning_content": "hm",
        "tool_calls": [{"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}}]});
    assert_eq!(answer.unwrap().vendor_message, Some(kept));
}

#[test]
fn endings_are_understood() {
    let text = delta(json!({"content": "a"}));
    let refusal = delta(json!({"refusal": "a"}));
    for (events, expected) in [
        (vec![text.clone(), end("stop")], Ok(said("a", StopReason::End))),
        (vec![text.clone(), end("length")], Ok(said("a", StopReason::Length))),
        (vec![text.clone(), end("content_filter")], Ok(said("a", StopReason::Refused))),
        (vec![refusal, end("stop")], Ok(said("a", StopReason::Refused))),
        (vec![text.clone(), end("tired")], Ok(said("a", StopReason::Other("tired".to_owned())))),
        (vec![text.clone(), done()], Ok(said("a", StopReason::End))),
        (vec![end("stop")], Ok(said("", StopReason::End))),
        (vec![text.clone()], Err(BrokenAnswer::Cut)),
        (vec![done()], Err(BrokenAnswer::Cut)),
        (vec![], Err(BrokenAnswer::Cut)),
    ] {
        assert_eq!(read(&events).1, expected, "{events:?}");
    }
}

#[test]
fn errors_inside_of_the_stream_are_told() {
    let error = r#"{"error":{"message":"upstream died","code":502},"choices":[{"delta":{"content":""},"finish_reason":"error"}]}"#;
    let Err(BrokenAnswer::Refused(refusal)) = read(&[error.to_owned()]).1 else { panic!() };
    assert_eq!((refusal.status, refusal.message.as_str()), (Some(502), "upstream died"));
    assert!(matches!(read(&["{\"choices\"".to_owned()]).1, Err(BrokenAnswer::Malformed(_))));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn no_events_make_the_reader_panic(
        values in prop::collection::vec(any_json(), 0..5),
        noise in ".{0,20}",
    ) {
        let mut events: Vec<String> = values.iter().map(Value::to_string).collect();
        events.extend(values.iter().map(|value| delta(value.clone())));
        events.extend(values.iter().map(|value| delta(json!({"tool_calls": [value]}))));
        read(&events).1.ok();
        events.push(noise);
        read(&events).1.ok();
    }

    #[test]
    fn arguments_do_not_depend_on_how_they_were_cut(
        value in "[a-zA-Z0-9 äöü\"\\\\]{0,30}",
        cut in 1..8_usize,
    ) {
        let text = json!({"value": value}).to_string();
        let mut events = vec![delta(json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "look"}}]}))];
        for piece in pieces(&text, cut) {
            events.push(delta(json!({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]})));
        }
        events.push(end("tool_calls"));
        prop_assert_eq!(read(&events).1.unwrap().calls, vec![native(Some("a"), "look", &text)]);
    }
}
