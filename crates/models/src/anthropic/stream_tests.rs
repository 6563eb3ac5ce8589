//! Event streams as Anthropic sends them.

use proptest::prelude::*;

use super::*;
use crate::test_values::{self, any_json, native, pieces};

fn read(events: &[Value]) -> (Vec<ModelDelta>, Result<ModelAnswer, BrokenAnswer>) {
    let events: Vec<String> = events.iter().map(Value::to_string).collect();
    test_values::read(Box::new(AnthropicStream::default()), &events)
}

fn start() -> Value {
    json!({"type": "message_start", "message": {"id": "msg_1", "role": "assistant", "content": [],
        "usage": {"input_tokens": 5, "cache_creation_input_tokens": 10,
            "cache_read_input_tokens": 100, "output_tokens": 1}}})
}

fn begin(index: u64, block: Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn more(index: u64, delta: Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn end(reason: &str) -> Vec<Value> {
    vec![
        json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null},
            "usage": {"output_tokens": 42}}),
        json!({"type": "message_stop"}),
    ]
}

fn input(fragment: &str) -> Value {
    json!({"type": "input_json_delta", "partial_json": fragment})
}

const COST: TokenUsage = TokenUsage { input: 115, output: 42, cached: 100 };

#[test]
fn thoughts_words_and_calls_are_told_and_kept_with_their_signatures() {
    let mut events = vec![
        start(),
        begin(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        json!({"type": "ping"}),
        more(0, json!({"type": "thinking_delta", "thinking": "hm"})),
        more(0, json!({"type": "thinking_delta", "thinking": "m"})),
        more(0, json!({"type": "signature_delta", "signature": "sig"})),
        json!({"type": "content_block_stop", "index": 0}),
        begin(1, json!({"type": "redacted_thinking", "data": "secret"})),
        begin(2, json!({"type": "text", "text": ""})),
        more(2, json!({"type": "text_delta", "text": "I look."})),
        begin(3, json!({"type": "tool_use", "id": "t1", "name": "look", "input": {}})),
        more(3, input("")),
        more(3, input("{\"at\"")),
        more(3, input(": 1}")),
        begin(4, json!({"type": "tool_use", "id": "t2", "name": "hear", "input": {}})),
        begin(5, json!({"type": "text", "text": ""})),
        json!({"type": "something_new"}),
    ];
    events.extend(end("tool_use"));
    let (deltas, answer) = read(&events);
    assert_eq!(
        deltas,
        [
            ModelDelta::Thinking("hm".to_owned()),
            ModelDelta::Thinking("m".to_owned()),
            ModelDelta::Text("I look.".to_owned()),
            ModelDelta::Call { name: "look".to_owned() },
            ModelDelta::Call { name: "hear".to_owned() },
        ]
    );
    let kept = json!([
        {"type": "thinking", "thinking": "hmm", "signature": "sig"},
        {"type": "redacted_thinking", "data": "secret"},
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "t1", "name": "look", "input": {"at": 1}},
        {"type": "tool_use", "id": "t2", "name": "hear", "input": {}},
    ]);
    let calls = vec![native(Some("t1"), "look", "{\"at\": 1}"), native(Some("t2"), "hear", "{}")];
    let said = ModelAnswer {
        text: "I look.".to_owned(),
        calls,
        stop: StopReason::Calls,
        usage: COST,
        vendor_message: Some(kept),
    };
    assert_eq!(answer, Ok(said));
}

#[test]
fn words_alone_are_not_kept_twice_and_endings_are_understood() {
    for (reason, stop) in [
        ("end_turn", StopReason::End),
        ("stop_sequence", StopReason::End),
        ("max_tokens", StopReason::Length),
        ("refusal", StopReason::Refused),
        ("pause_turn", StopReason::Other("pause_turn".to_owned())),
    ] {
        let mut events = vec![
            start(),
            begin(0, json!({"type": "text", "text": "a"})),
            more(0, json!({"type": "text_delta", "text": "b"})),
        ];
        events.extend(end(reason));
        let said = ModelAnswer {
            text: "ab".to_owned(),
            calls: vec![],
            stop,
            usage: COST,
            vendor_message: None,
        };
        assert_eq!(read(&events).1, Ok(said), "{reason}");
    }
}

#[test]
fn a_call_that_came_whole_is_taken_as_it_is() {
    let mut events =
        vec![begin(0, json!({"type": "tool_use", "id": "t", "name": "look", "input": {"a": 1}}))];
    events.push(more(0, input("{}")));
    events.extend(end("tool_use"));
    assert_eq!(read(&events).1.unwrap().calls, [native(Some("t"), "look", "{\"a\":1}")]);
}

#[test]
fn what_is_cut_or_refused_in_the_middle_is_no_answer() {
    let text = begin(0, json!({"type": "text", "text": "a"}));
    assert_eq!(read(&[start(), text.clone()]).1, Err(BrokenAnswer::Cut));
    assert_eq!(read(&[]).1, Err(BrokenAnswer::Cut));
    let overloaded =
        json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    let Err(BrokenAnswer::Refused(refusal)) = read(&[start(), text, overloaded]).1 else {
        panic!()
    };
    assert!(refusal.has_code("overloaded_error"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn no_events_make_the_reader_panic(values in prop::collection::vec(any_json(), 0..5)) {
        let mut events = Vec::new();
        for value in &values {
            events.extend([value.clone(), begin(0, value.clone()), more(0, value.clone())]);
            events.push(begin(1, json!({"type": "tool_use", "name": value, "input": value})));
            events.push(more(1, json!({"type": "input_json_delta", "partial_json": value})));
            events.push(json!({"type": "message_delta", "delta": value, "usage": value}));
        }
        read(&events).1.ok();
        events.extend(end("end_turn"));
        read(&events).1.ok();
    }

    #[test]
    fn arguments_do_not_depend_on_how_they_were_cut(
        value in "[a-zA-Z0-9 äöü\"\\\\]{0,30}",
        cut in 1..8_usize,
    ) {
        let text = json!({"value": value}).to_string();
        let mut events =
            vec![begin(7, json!({"type": "tool_use", "id": "t", "name": "look", "input": {}}))];
        events.extend(pieces(&text, cut).iter().map(|piece| more(7, input(piece))));
        events.extend(end("tool_use"));
        prop_assert_eq!(read(&events).1.unwrap().calls, vec![native(Some("t"), "look", &text)]);
    }
}
