//! Reads a script, and stops loudly at anything in it that is not known.

use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use serde_json::{Map, Value};

use super::script::{
    FaultKind, FixtureCall, FixtureCapture, FixtureScript, FixtureStop, FixtureTurn,
    FixtureTurnOrder, FixtureUsage, TurnFault,
};

const SCRIPT: &[&str] = &["order", "turns"];
const TURN: &[&str] = &[
    "expect", "capture", "thinking", "text", "calls", "stop", "usage", "chunk", "delayMs", "fault",
];
const FAULT: &[&str] = &["kind", "status", "retryAfter", "body", "times", "after"];

pub(crate) fn load(path: &Path) -> FixtureScript {
    let text = std::fs::read_to_string(path);
    let text = text.unwrap_or_else(|cause| panic!("`{}`: {cause}", path.display()));
    let value: Value =
        serde_json::from_str(&text).unwrap_or_else(|cause| panic!("`{}`: {cause}", path.display()));
    script(&value)
}

pub(crate) fn script(value: &Value) -> FixtureScript {
    let fields = ScriptFields::new(value, "a script", SCRIPT);
    let order = match fields.text("order").as_deref() {
        None | Some("history") => FixtureTurnOrder::History,
        Some("sequence") => FixtureTurnOrder::Sequence,
        Some(other) => panic!("unknown order `{other}`"),
    };
    FixtureScript { order, turns: fields.list("turns").iter().map(turn).collect() }
}

fn turn(value: &Value) -> FixtureTurn {
    let fields = ScriptFields::new(value, "a turn", TURN);
    let calls: Vec<FixtureCall> = fields.list("calls").iter().map(call).collect();
    let stop = match fields.text("stop").as_deref() {
        None if calls.is_empty() => FixtureStop::End,
        None | Some("calls") => FixtureStop::Calls,
        Some("end") => FixtureStop::End,
        Some("length") => FixtureStop::Length,
        Some("refused") => FixtureStop::Refused,
        Some(other) => panic!("unknown stop `{other}`"),
    };
    let expect = fields.list("expect").iter().map(|text| match text {
        Value::String(text) => text.clone(),
        other => panic!("`{other}` in `expect` is not a text"),
    });
    let empty = Map::new();
    let captures = match fields.value("capture") {
        None => &empty,
        Some(Value::Object(captures)) => captures,
        Some(other) => panic!("`capture` is not an object: {other}"),
    };
    FixtureTurn {
        expect: expect.collect(),
        captures: captures.iter().map(|(name, value)| capture(name, value)).collect(),
        thinking: fields.text("thinking").filter(|text| !text.is_empty()),
        text: fields.text("text").filter(|text| !text.is_empty()),
        calls,
        stop,
        usage: fields.value("usage").map(usage),
        chunk: fields.number("chunk").map_or(16, as_size).max(1),
        delay: Duration::from_millis(fields.number("delayMs").unwrap_or(0)),
        fault: fields.value("fault").map(fault),
    }
}

fn call(value: &Value) -> FixtureCall {
    let fields = ScriptFields::new(value, "a call", &["name", "arguments"]);
    let name = fields.text("name").unwrap_or_else(|| panic!("a call needs a `name`: {value}"));
    let arguments = fields.value("arguments").cloned().unwrap_or_else(|| Map::new().into());
    FixtureCall { name, arguments }
}

fn capture(name: &str, value: &Value) -> FixtureCapture {
    let fields = ScriptFields::new(value, "a capture", &["after", "before"]);
    FixtureCapture {
        name: name.to_owned(),
        after: fields.text("after").unwrap_or_default(),
        before: fields.text("before"),
    }
}

fn usage(value: &Value) -> FixtureUsage {
    let fields = ScriptFields::new(value, "a usage", &["input", "output", "cached"]);
    FixtureUsage {
        input: fields.number("input").unwrap_or(0),
        output: fields.number("output").unwrap_or(0),
        cached: fields.number("cached").unwrap_or(0),
    }
}

fn fault(value: &Value) -> TurnFault {
    let fields = ScriptFields::new(value, "a fault", FAULT);
    let after = fields.number("after").map_or(2, as_size);
    let kind = match fields.text("kind").as_deref() {
        Some("status") => FaultKind::Status {
            status: fields
                .number("status")
                .and_then(|status| u16::try_from(status).ok())
                .unwrap_or_else(|| panic!("the fault `status` needs a `status`: {value}")),
            retry_after: fields.text("retryAfter"),
            body: fields.text("body"),
        },
        Some("cut") => FaultKind::Cut(after),
        Some("malformed") => FaultKind::Malformed(after),
        Some("silent") => FaultKind::Silent(after),
        Some("error") => FaultKind::Error(after),
        Some("html") => FaultKind::Html,
        other => panic!("unknown kind of fault `{other:?}`"),
    };
    TurnFault { kind, times: fields.number("times"), struck: AtomicU64::new(0) }
}

fn as_size(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// The fields of one object, all of them known.
struct ScriptFields<'a>(&'a Map<String, Value>);

impl<'a> ScriptFields<'a> {
    fn new(value: &'a Value, what: &str, known: &[&str]) -> Self {
        let Value::Object(fields) = value else { panic!("{what} is an object, not {value}") };
        if let Some(other) = fields.keys().find(|name| !known.contains(&name.as_str())) {
            panic!("{what} has no field `{other}`; its fields are {}", known.join(", "));
        }
        Self(fields)
    }

    fn value(&self, name: &str) -> Option<&'a Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    fn text(&self, name: &str) -> Option<String> {
        let text = |value: &Value| match value {
            Value::String(text) => text.clone(),
            // A header such as `retryAfter` may be written as a number.
            Value::Number(number) => number.to_string(),
            other => panic!("`{name}` is a text, not {other}"),
        };
        self.value(name).map(text)
    }

    fn number(&self, name: &str) -> Option<u64> {
        let number = |value: &Value| {
            value.as_u64().unwrap_or_else(|| panic!("`{name}` is a whole number, not {value}"))
        };
        self.value(name).map(number)
    }

    fn list(&self, name: &str) -> &'a [Value] {
        match self.value(name) {
            None => &[],
            Some(Value::Array(items)) => items,
            Some(other) => panic!("`{name}` is a list, not {other}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::script;
    use crate::model::script::{FaultKind, FixtureStop};

    #[test]
    #[should_panic(expected = "a turn has no field `txt`")]
    fn a_field_that_is_not_known_stops_the_server() {
        script(&json!({"turns": [{"txt": "Fine."}]}));
    }

    #[test]
    fn what_a_turn_leaves_out_is_filled_in() {
        let script = script(&json!({"turns": [
            {"text": ""}, {"calls": [{"name": "look"}]}, {"fault": {"kind": "cut"}},
        ]}));
        let stops: Vec<FixtureStop> = script.turns.iter().map(|turn| turn.stop).collect();
        assert_eq!(stops, [FixtureStop::End, FixtureStop::Calls, FixtureStop::End]);
        assert_eq!((script.turns[0].text.as_ref(), script.turns[0].chunk), (None, 16));
        assert_eq!(script.turns[1].calls[0].arguments, json!({}));
        let fault = script.turns[2].fault.as_ref().unwrap();
        assert_eq!((&fault.kind, fault.times), (&FaultKind::Cut(2), None));
    }
}
