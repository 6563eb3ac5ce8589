//! Plays one turn of a script: expectations, captures and the answer.

use std::time::Duration;

use serde_json::Value;
use switchboard_prompting::{Assembler, ModelAnswer, ModelDelta, NativeCall, StopReason};
use switchboard_text::excerpt_text;

use super::script::{Captures, ScriptTurn};

const MAX_QUOTE_CHARS: usize = 200;
const CHUNK_CHARS: usize = 16;

#[derive(Debug)]
pub(super) struct PlayedTurn {
    pub(super) deltas: Vec<ModelDelta>,
    pub(super) delay: Duration,
    pub(super) said: ModelAnswer,
}

/// Plays a turn for the newest message and adds its captures.
pub(super) fn play(
    turn: &ScriptTurn,
    number: usize,
    newest: &str,
    captured: &mut Captures,
) -> Result<PlayedTurn, String> {
    let turn = turn.fitting_branch(newest);
    for expected in &turn.expect {
        if !newest.contains(expected.as_str()) {
            let there = excerpt_text(newest, MAX_QUOTE_CHARS);
            let expected = excerpt_text(expected, MAX_QUOTE_CHARS);
            return Err(format!("turn {number} expects `{expected}`, but got `{there}`"));
        }
    }
    for (name, capture) in &turn.capture {
        let Some(found) = capture.find(newest) else {
            let there = excerpt_text(newest, MAX_QUOTE_CHARS);
            return Err(format!("turn {number} cannot capture `{name}` from `{there}`"));
        };
        captured.insert(name.clone(), found.to_owned());
    }
    let thinking = fill_text(&turn.thinking, captured);
    let text = fill_text(&turn.text, captured);
    let calls = calls(turn, number, captured);
    let size = turn.chunk.unwrap_or(CHUNK_CHARS).max(1);
    let mut deltas: Vec<ModelDelta> = pieces(&thinking, size).map(ModelDelta::Thinking).collect();
    deltas.extend(pieces(&text, size).map(ModelDelta::Text));
    deltas.extend(calls.iter().map(|call| ModelDelta::Call { name: call.name.clone() }));
    let usual = if calls.is_empty() { StopReason::End } else { StopReason::Calls };
    let stop = turn.stop.map_or(usual, super::script::ScriptedStop::meaning);
    let said = ModelAnswer { text, calls, stop, usage: turn.usage.into(), vendor_message: None };
    Ok(PlayedTurn { deltas, delay: Duration::from_millis(turn.delay_ms), said })
}

fn calls(turn: &ScriptTurn, number: usize, captured: &Captures) -> Vec<NativeCall> {
    let mut assembler = Assembler::new();
    for (index, call) in turn.calls.iter().enumerate() {
        let id = format!("call_{number}_{}", index + 1);
        let mut arguments = call.arguments.clone();
        fill_value(&mut arguments, captured);
        // A string is the model's output verbatim, so that a script can contain invalid JSON.
        let text = match arguments {
            Value::Null => String::new(),
            Value::String(text) => text,
            other => other.to_string(),
        };
        assembler.delta(index, Some(&id), Some(&fill_text(&call.name, captured)), &text);
    }
    assembler.finish()
}

/// Replaces each `${name}` with its capture.
fn fill_text(text: &str, captured: &Captures) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    // One pass, so that captured text is never expanded itself.
    while let Some((before, after)) = rest.split_once("${") {
        out.push_str(before);
        let named = after.split_once('}');
        match named.and_then(|(name, after)| Some((captured.get(name)?, after))) {
            Some((value, after)) => {
                out.push_str(value);
                rest = after;
            }
            None => {
                out.push_str("${");
                rest = after;
            }
        }
    }
    out + rest
}

fn fill_value(value: &mut Value, captured: &Captures) {
    match value {
        Value::String(text) => *text = fill_text(text, captured),
        Value::Array(items) => items.iter_mut().for_each(|item| fill_value(item, captured)),
        Value::Object(members) => members.values_mut().for_each(|item| fill_value(item, captured)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn pieces(text: &str, size: usize) -> impl Iterator<Item = String> {
    let characters: Vec<char> = text.chars().collect();
    let pieces: Vec<String> = characters.chunks(size).map(|piece| piece.iter().collect()).collect();
    pieces.into_iter()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn turn(value: Value) -> ScriptTurn {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn a_turn_can_have_another_for_when_it_is_not_told_what_it_expects() {
        let turn = turn(json!({
            "expect": ["yes"], "text": "good",
            "or": {"expect": ["no"], "text": "bad", "or": {"text": "what?"}},
        }));
        for (told, expected) in [("oh yes", "good"), ("no way", "bad"), ("hm", "what?")] {
            let played = play(&turn, 1, told, &mut Captures::new()).unwrap();
            assert_eq!(played.said.text, expected);
        }
    }

    #[test]
    fn captures_fill_words_thoughts_and_arguments() {
        let turn = turn(json!({
            "capture": {"t": {"after": "Temperature: ", "before": " C"}, "all": {"after": "at "}},
            "thinking": "it is ${t}",
            "text": "${t} and ${unknown} ${",
            "calls": [{"name": "log", "arguments": {"a": ["${t}", 1], "b": "${all}"}}, {"name": "x"}],
        }));
        let mut captured = Captures::new();
        let played = play(&turn, 3, "Temperature: ${t} C at home", &mut captured).unwrap();
        assert_eq!(played.said.text, "${t} and ${unknown} ${");
        assert_eq!(played.deltas[0], ModelDelta::Thinking("it is ${t}".to_owned()));
        let arguments: Vec<(Option<&str>, &str)> = played
            .said
            .calls
            .iter()
            .map(|call| (call.id.as_deref(), call.arguments.as_ref().unwrap().text.as_str()))
            .collect();
        assert_eq!(
            arguments,
            [(Some("call_3_1"), r#"{"a":["${t}",1],"b":"home"}"#), (Some("call_3_2"), "{}")]
        );
        assert_eq!(played.said.stop, StopReason::Calls);
    }

    #[test]
    fn what_was_expected_and_what_was_there_is_told() {
        for (value, message) in [
            (json!({"expect": ["cold", "snow"]}), "turn 1 expects `snow`, but got `cold sun`"),
            (
                json!({"capture": {"t": {"after": "T: "}}}),
                "turn 1 cannot capture `t` from `cold sun`",
            ),
        ] {
            let error = play(&turn(value), 1, "cold sun", &mut Captures::new()).unwrap_err();
            assert_eq!(error, message);
        }
    }

    #[test]
    fn text_comes_in_pieces_of_the_given_size() {
        let turn = turn(json!({"text": "äbcdé", "chunk": 2, "stop": "length"}));
        let played = play(&turn, 1, "", &mut Captures::new()).unwrap();
        let pieces = ["äb", "cd", "é"].map(|piece| ModelDelta::Text(piece.to_owned()));
        assert_eq!((played.deltas, played.said.stop), (pieces.to_vec(), StopReason::Length));
    }
}
