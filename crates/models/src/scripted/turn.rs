//! Plays one turn of a script: what it expects, what it captures and what it says.

use std::time::Duration;

use serde_json::Value;
use switchboard_prompting::{Assembler, Delta, NativeCall, Said, Stop};
use switchboard_text::shown_text;

use super::script::{Captured, Turn};

/// How many characters of a message are quoted when it is not what was expected.
const QUOTED: usize = 200;
const CHUNK: usize = 16;

/// A turn that is ready to be told.
#[derive(Debug)]
pub(super) struct Played {
    pub(super) deltas: Vec<Delta>,
    pub(super) delay: Duration,
    pub(super) said: Said,
}

/// Plays a turn for the newest message, and adds what it captures.
pub(super) fn play(
    turn: &Turn,
    number: usize,
    newest: &str,
    captured: &mut Captured,
) -> Result<Played, String> {
    let turn = turn.fitting(newest);
    for expected in &turn.expect {
        if !newest.contains(expected.as_str()) {
            let there = shown_text(newest, QUOTED);
            let expected = shown_text(expected, QUOTED);
            return Err(format!("turn {number} expects `{expected}`, but was told `{there}`"));
        }
    }
    for (name, capture) in &turn.capture {
        let Some(found) = capture.find(newest) else {
            let there = shown_text(newest, QUOTED);
            return Err(format!("turn {number} finds nothing for `{name}` in `{there}`"));
        };
        captured.insert(name.clone(), found.to_owned());
    }
    let (thinking, text) = (filled(&turn.thinking, captured), filled(&turn.text, captured));
    let calls = calls(turn, number, captured);
    let size = turn.chunk.unwrap_or(CHUNK).max(1);
    let mut deltas: Vec<Delta> = pieces(&thinking, size).map(Delta::Thinking).collect();
    deltas.extend(pieces(&text, size).map(Delta::Text));
    deltas.extend(calls.iter().map(|call| Delta::Call { name: call.name.clone() }));
    let usual = if calls.is_empty() { Stop::End } else { Stop::Calls };
    let stop = turn.stop.map_or(usual, super::script::StopWord::meaning);
    let said = Said { text, calls, stop, usage: turn.usage.into(), kept: None };
    Ok(Played { deltas, delay: Duration::from_millis(turn.delay_ms), said })
}

fn calls(turn: &Turn, number: usize, captured: &Captured) -> Vec<NativeCall> {
    let mut assembler = Assembler::new();
    for (index, call) in turn.calls.iter().enumerate() {
        let id = format!("call_{number}_{}", index + 1);
        let mut arguments = call.arguments.clone();
        fill(&mut arguments, captured);
        // A text stands for what a model wrote, so that a script can write it wrong.
        let text = match arguments {
            Value::Null => String::new(),
            Value::String(text) => text,
            other => other.to_string(),
        };
        assembler.delta(index, Some(&id), Some(&filled(&call.name, captured)), &text);
    }
    assembler.finish()
}

/// The text with what was captured in place of `${name}`.
fn filled(text: &str, captured: &Captured) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    // One pass, so that a captured text is never taken for a name.
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

fn fill(value: &mut Value, captured: &Captured) {
    match value {
        Value::String(text) => *text = filled(text, captured),
        Value::Array(items) => items.iter_mut().for_each(|item| fill(item, captured)),
        Value::Object(members) => members.values_mut().for_each(|item| fill(item, captured)),
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

    fn turn(value: Value) -> Turn {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn a_turn_can_have_another_for_when_it_is_not_told_what_it_expects() {
        let turn = turn(json!({
            "expect": ["yes"], "text": "good",
            "or": {"expect": ["no"], "text": "bad", "or": {"text": "what?"}},
        }));
        for (told, expected) in [("oh yes", "good"), ("no way", "bad"), ("hm", "what?")] {
            let played = play(&turn, 1, told, &mut Captured::new()).unwrap();
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
        let mut captured = Captured::new();
        let played = play(&turn, 3, "Temperature: ${t} C at home", &mut captured).unwrap();
        assert_eq!(played.said.text, "${t} and ${unknown} ${");
        assert_eq!(played.deltas[0], Delta::Thinking("it is ${t}".to_owned()));
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
        assert_eq!(played.said.stop, Stop::Calls);
    }

    #[test]
    fn what_was_expected_and_what_was_there_is_told() {
        for (value, message) in [
            (json!({"expect": ["cold", "snow"]}), "turn 1 expects `snow`, but was told `cold sun`"),
            (
                json!({"capture": {"t": {"after": "T: "}}}),
                "turn 1 finds nothing for `t` in `cold sun`",
            ),
        ] {
            let error = play(&turn(value), 1, "cold sun", &mut Captured::new()).unwrap_err();
            assert_eq!(error, message);
        }
    }

    #[test]
    fn text_comes_in_pieces_of_the_given_size() {
        let turn = turn(json!({"text": "äbcdé", "chunk": 2, "stop": "length"}));
        let played = play(&turn, 1, "", &mut Captured::new()).unwrap();
        let pieces = ["äb", "cd", "é"].map(|piece| Delta::Text(piece.to_owned()));
        assert_eq!((played.deltas, played.said.stop), (pieces.to_vec(), Stop::Length));
    }
}
