//! Test values for stream parsers: events as vendors send them, and nonsense that resembles them.

use bytes::Bytes;
use proptest::prelude::*;
use serde_json::Value;
use switchboard_prompting::{ModelAnswer, ModelDelta, NativeCall, ParsedArguments};
use switchboard_wire::SseEvent;

use crate::protocol::{AnswerReader, BrokenAnswer};

const WORDS: [&str; 34] = [
    "choices", "delta", "tool_calls", "function", "index", "id", "name", "arguments", "content",
    "usage", "error", "reasoning_details", "finish_reason", "type", "text", "message",
    "content_block", "content_block_start", "content_block_delta", "input_json_delta",
    "partial_json", "tool_use", "thinking", "thinking_delta", "signature", "input", "candidates",
    "parts", "functionCall", "args", "thought", "thoughtSignature", "finishReason",
    "usageMetadata",
];

/// Feeds events to a parser, and returns its deltas and its answer.
pub(crate) fn read(
    mut reader: Box<dyn AnswerReader>,
    events: &[String],
) -> (Vec<ModelDelta>, Result<ModelAnswer, BrokenAnswer>) {
    let mut deltas = Vec::new();
    for data in events {
        let event = SseEvent { name: String::new(), data: Bytes::copy_from_slice(data.as_bytes()) };
        match reader.push(&event) {
            Ok(more) => deltas.extend(more),
            Err(broken) => return (deltas, Err(broken)),
        }
    }
    (deltas, reader.finish())
}

pub(crate) fn native(id: Option<&str>, name: &str, text: &str) -> NativeCall {
    let arguments = Ok(ParsedArguments { text: text.to_owned(), repaired: None });
    NativeCall { id: id.map(str::to_owned), name: name.to_owned(), arguments }
}

/// Generates JSON values of moderate size from meaningful words.
pub(crate) fn any_json() -> impl Strategy<Value = Value> {
    let word = prop::sample::select(WORDS.to_vec());
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (0..3_u64).prop_map(Value::from),
        "[a-z\\[\\]{}\"]{0,6}".prop_map(Value::from),
        word.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 40, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(word.clone().prop_map(str::to_owned), inner, 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

pub(crate) fn pieces(text: &str, size: usize) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(size).map(|piece| piece.iter().collect()).collect()
}
