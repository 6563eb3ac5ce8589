//! A script: the model's answers turn by turn, with the expectations and faults of each turn.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Value, json};

use super::vendor::VendorProblem;

const MAX_QUOTE_CHARS: usize = 200;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FixtureScript {
    #[serde(default)]
    order: FixtureTurnOrder,
    turns: Vec<FixtureTurn>,
}

/// How the turn that answers a request is selected.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum FixtureTurnOrder {
    /// By the number of the model's messages in the request.
    #[default]
    History,
    /// One turn after the other, whatever the request contains.
    Sequence,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct FixtureTurn {
    #[serde(skip)]
    pub(crate) turn: usize,
    #[serde(default)]
    expect: Vec<String>,
    /// Texts to capture from the newest message, by name.
    #[serde(default)]
    capture: BTreeMap<String, FixtureCapture>,
    pub(crate) thinking: Option<String>,
    pub(crate) text: Option<String>,
    #[serde(default)]
    pub(crate) calls: Vec<FixtureCall>,
    stop: Option<FixtureStop>,
    pub(crate) usage: Option<FixtureUsage>,
    /// Characters per streamed piece.
    #[serde(default = "default_chunk")]
    pub(crate) chunk: usize,
    /// Pause before each streamed event, in milliseconds.
    #[serde(default)]
    pub(crate) delay_ms: u64,
    pub(crate) fault: Option<TurnFault>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FixtureCapture {
    #[serde(default)]
    after: String,
    /// Text behind the capture; if absent, the rest of the message is captured.
    before: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FixtureCall {
    pub(crate) name: String,
    #[serde(default = "no_arguments")]
    pub(crate) arguments: Value,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FixtureStop {
    End,
    Calls,
    Length,
    Refused,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct FixtureUsage {
    pub(crate) input: u64,
    pub(crate) output: u64,
    pub(crate) cached: u64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct TurnFault {
    pub(crate) kind: FaultKind,
    pub(crate) status: Option<u16>,
    /// Value of the header `Retry-After`, a text or a number.
    pub(crate) retry_after: Option<Value>,
    pub(crate) body: Option<String>,
    /// Number of events before the fault.
    #[serde(default = "default_after")]
    pub(crate) after: usize,
    /// Number of strikes; unlimited if absent.
    times: Option<u64>,
    #[serde(skip)]
    struck: Arc<AtomicU64>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FaultKind {
    Status,
    /// The connection is closed.
    Cut,
    /// An event that is not JSON.
    Malformed,
    Silent,
    /// The vendor's error as an event, after which the stream ends.
    Error,
    /// An HTML page with status 200.
    Html,
}

fn default_chunk() -> usize {
    16
}

fn default_after() -> usize {
    2
}

fn no_arguments() -> Value {
    json!({})
}

impl FixtureTurn {
    pub(crate) fn stop(&self) -> FixtureStop {
        let usual = if self.calls.is_empty() { FixtureStop::End } else { FixtureStop::Calls };
        self.stop.unwrap_or(usual)
    }

    fn has_thoughts(&self) -> bool {
        self.thinking.as_ref().is_some_and(|thinking| !thinking.is_empty())
    }
}

impl FixtureCapture {
    fn find<'a>(&self, message: &'a str) -> Option<&'a str> {
        let (_, rest) = message.split_once(&self.after)?;
        match &self.before {
            Some(before) => rest.split_once(before).map(|(found, _)| found),
            None => Some(rest),
        }
    }
}

impl TurnFault {
    /// Counts a strike and returns whether it happens.
    fn strikes(&self) -> bool {
        let before = self.struck.fetch_add(1, Ordering::SeqCst);
        self.times.is_none_or(|times| before < times)
    }
}

/// One message of a request as a script sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ScriptMessage {
    ByTheModel,
    ToTheModel(String),
}

/// The script of a running server.
#[derive(Debug)]
pub(crate) struct Turns {
    script: FixtureScript,
    progress: Mutex<TurnProgress>,
}

/// Progress of a script whose order is `Sequence`.
#[derive(Debug, Default)]
struct TurnProgress {
    next: usize,
    captured: BTreeMap<String, String>,
}

impl Turns {
    pub(crate) fn load(path: &Path) -> Self {
        let text = std::fs::read_to_string(path);
        let text = text.unwrap_or_else(|cause| panic!("`{}`: {cause}", path.display()));
        Self::parse(&text).unwrap_or_else(|cause| panic!("`{}`: {cause}", path.display()))
    }

    fn parse(text: &str) -> serde_json::Result<Self> {
        Ok(Self { script: serde_json::from_str(text)?, progress: Mutex::default() })
    }

    /// Whether the model's message with this number had thoughts; false if the order is `Sequence`.
    pub(crate) fn thought(&self, message: usize) -> bool {
        self.script.order == FixtureTurnOrder::History
            && self.script.turns.get(message).is_some_and(FixtureTurn::has_thoughts)
    }

    pub(crate) fn answer(&self, said: &[ScriptMessage]) -> Result<FixtureTurn, VendorProblem> {
        let stretches = stretches(said);
        let mut progress = self.progress.lock();
        let (index, mut captured) = match self.script.order {
            FixtureTurnOrder::History => {
                let index = stretches.len() - 1;
                (index, self.captured_before(index, &stretches))
            }
            FixtureTurnOrder::Sequence => (progress.next, progress.captured.clone()),
        };
        let turn = self.script.turns.get(index).ok_or_else(|| {
            let count = self.script.turns.len();
            VendorProblem::request(format!(
                "the script has {count} turns, and this request asks for turn {}",
                index + 1
            ))
        })?;
        let newest = stretches.last().map(String::as_str).unwrap_or_default();
        expect(index, turn, newest)?;
        for (name, capture) in &turn.capture {
            let found = capture.find(newest).ok_or_else(|| {
                VendorProblem::request(format!(
                    "turn {} captures `{name}` after `{}`, which is not in: {}",
                    index + 1,
                    capture.after,
                    beginning(newest)
                ))
            })?;
            captured.insert(name.clone(), found.to_owned());
        }
        let answer = self.fill(index, turn, &captured)?;
        // A turn with a fault is not over: the client is expected to retry it.
        if answer.fault.is_none() && self.script.order == FixtureTurnOrder::Sequence {
            *progress = TurnProgress { next: index + 1, captured };
        }
        Ok(answer)
    }

    fn captured_before(&self, index: usize, stretches: &[String]) -> BTreeMap<String, String> {
        let turns = self.script.turns.iter().zip(stretches).take(index);
        let found = turns.flat_map(|(turn, message)| {
            turn.capture.iter().filter_map(|(name, capture)| {
                Some((name.clone(), capture.find(message)?.to_owned()))
            })
        });
        found.collect()
    }

    fn fill(
        &self,
        index: usize,
        turn: &FixtureTurn,
        captured: &BTreeMap<String, String>,
    ) -> Result<FixtureTurn, VendorProblem> {
        let fill_text = |text: &Option<String>| {
            let text = text.as_ref().filter(|text| !text.is_empty());
            text.map(|text| self.fill_text(text, captured)).transpose()
        };
        let mut filled = turn.clone();
        filled.turn = index;
        filled.thinking = fill_text(&turn.thinking)?;
        filled.text = fill_text(&turn.text)?;
        for call in &mut filled.calls {
            call.arguments = self.fill_value(&call.arguments, captured)?;
        }
        filled.fault = filled.fault.filter(TurnFault::strikes);
        Ok(filled)
    }

    fn fill_text(
        &self,
        text: &str,
        captured: &BTreeMap<String, String>,
    ) -> Result<String, VendorProblem> {
        let mut filled = text.to_owned();
        for name in self.script.turns.iter().flat_map(|turn| turn.capture.keys()) {
            let place = format!("${{{name}}}");
            if !filled.contains(&place) {
                continue;
            }
            let value = captured.get(name).ok_or_else(|| {
                VendorProblem::request(format!("`{place}` is used before it was captured"))
            })?;
            filled = filled.replace(&place, value);
        }
        Ok(filled)
    }

    fn fill_value(
        &self,
        value: &Value,
        captured: &BTreeMap<String, String>,
    ) -> Result<Value, VendorProblem> {
        Ok(match value {
            Value::String(text) => Value::String(self.fill_text(text, captured)?),
            Value::Array(items) => {
                let items = items.iter().map(|item| self.fill_value(item, captured));
                Value::Array(items.collect::<Result<_, VendorProblem>>()?)
            }
            Value::Object(fields) => {
                let fields = fields
                    .iter()
                    .map(|(name, field)| Ok((name.clone(), self.fill_value(field, captured)?)));
                Value::Object(fields.collect::<Result<_, VendorProblem>>()?)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        })
    }
}

/// Returns the joined input before the model's first message, between its messages and after them.
fn stretches(said: &[ScriptMessage]) -> Vec<String> {
    let messages = said.split(|message| *message == ScriptMessage::ByTheModel);
    messages
        .map(|stretch| {
            let texts = stretch.iter().filter_map(|message| match message {
                ScriptMessage::ToTheModel(text) => Some(text.as_str()),
                ScriptMessage::ByTheModel => None,
            });
            texts.collect::<Vec<_>>().join("\n")
        })
        .collect()
}

fn expect(index: usize, turn: &FixtureTurn, newest: &str) -> Result<(), VendorProblem> {
    match turn.expect.iter().find(|expected| !newest.contains(*expected)) {
        None => Ok(()),
        Some(expected) => Err(VendorProblem::request(format!(
            "turn {} expects `{expected}` in the newest message, which begins: {}",
            index + 1,
            beginning(newest)
        ))),
    }
}

fn beginning(text: &str) -> String {
    text.chars().take(MAX_QUOTE_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{FaultKind, FixtureStop, Turns};

    #[test]
    fn a_field_that_is_not_known_stops_the_server() {
        let failure = Turns::parse(r#"{"turns": [{"txt": "Fine."}]}"#).unwrap_err();
        assert!(failure.to_string().starts_with("unknown field `txt`"), "{failure}");
    }

    #[test]
    fn what_a_turn_leaves_out_is_filled_in() {
        let script = json!({"turns": [
            {"text": ""}, {"calls": [{"name": "look"}]}, {"fault": {"kind": "cut"}},
        ]});
        let turns = Turns::parse(&script.to_string()).unwrap();
        let all = &turns.script.turns;
        let stops: Vec<FixtureStop> = all.iter().map(super::FixtureTurn::stop).collect();
        assert_eq!(stops, [FixtureStop::End, FixtureStop::Calls, FixtureStop::End]);
        assert_eq!((turns.answer(&[]).unwrap().text, all[0].chunk), (None, 16));
        assert_eq!(all[1].calls[0].arguments, json!({}));
        let fault = all[2].fault.as_ref().unwrap();
        assert_eq!((fault.kind, fault.after, fault.times), (FaultKind::Cut, 2, None));
    }
}
