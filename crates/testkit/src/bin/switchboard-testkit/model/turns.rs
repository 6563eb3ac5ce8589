//! Finds the turn that answers a request, checks what it expects and fills in what was captured.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use serde_json::Value;

use super::problem::VendorProblem;
use super::script::{
    FaultKind, FixtureCall, FixtureScript, FixtureStop, FixtureTurn, FixtureTurnOrder, FixtureUsage,
};

const LOCK: &str = "no fixture code panics while it holds a lock";
const MAX_QUOTE_CHARS: usize = 200;

/// One message of a request as a script sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ScriptMessage {
    ByTheModel,
    ToTheModel(String),
}

/// A turn with everything filled in.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FilledTurn {
    /// Counted from 0.
    pub(crate) turn: usize,
    pub(crate) thinking: Option<String>,
    pub(crate) text: Option<String>,
    pub(crate) calls: Vec<FixtureCall>,
    pub(crate) stop: FixtureStop,
    pub(crate) usage: Option<FixtureUsage>,
    pub(crate) chunk: usize,
    pub(crate) delay: Duration,
    /// What goes wrong this time.
    pub(crate) fault: Option<FaultKind>,
}

#[derive(Debug)]
pub(crate) struct Turns {
    script: FixtureScript,
    progress: Mutex<TurnProgress>,
}

/// Only used where turns come one after the other.
#[derive(Debug, Default)]
struct TurnProgress {
    next: usize,
    captured: BTreeMap<String, String>,
}

impl Turns {
    pub(crate) fn new(script: FixtureScript) -> Self {
        Self { script, progress: Mutex::default() }
    }

    /// Whether the model's message with this number came with thoughts, where that can be known.
    pub(crate) fn thought(&self, message: usize) -> bool {
        let turn = self
            .script
            .turns
            .get(message)
            .filter(|_| self.script.order == FixtureTurnOrder::History);
        turn.is_some_and(|turn| turn.thinking.is_some())
    }

    pub(crate) fn answer(&self, said: &[ScriptMessage]) -> Result<FilledTurn, VendorProblem> {
        let stretches = stretches(said);
        let mut progress = self.progress.lock().expect(LOCK);
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
        for capture in &turn.captures {
            let found = capture.find(newest).ok_or_else(|| {
                VendorProblem::request(format!(
                    "turn {} captures `{}` after `{}`, which is not in: {}",
                    index + 1,
                    capture.name,
                    capture.after,
                    beginning(newest)
                ))
            })?;
            captured.insert(capture.name.clone(), found.to_owned());
        }
        let answer = self.fill(index, turn, &captured)?;
        if answer.fault.is_none() && self.script.order == FixtureTurnOrder::Sequence {
            *progress = TurnProgress { next: index + 1, captured };
        }
        Ok(answer)
    }

    fn captured_before(&self, index: usize, stretches: &[String]) -> BTreeMap<String, String> {
        let mut captured = BTreeMap::new();
        for (turn, message) in self.script.turns.iter().zip(stretches).take(index) {
            let found = turn.captures.iter().filter_map(|capture| {
                Some((capture.name.clone(), capture.find(message)?.to_owned()))
            });
            captured.extend(found);
        }
        captured
    }

    fn fill(
        &self,
        index: usize,
        turn: &FixtureTurn,
        captured: &BTreeMap<String, String>,
    ) -> Result<FilledTurn, VendorProblem> {
        let fill_text = |text: &String| self.fill_text(text, captured);
        let calls = turn.calls.iter().map(|call| {
            let arguments = self.fill_value(&call.arguments, captured)?;
            Ok(FixtureCall { name: call.name.clone(), arguments })
        });
        Ok(FilledTurn {
            turn: index,
            thinking: turn.thinking.as_ref().map(fill_text).transpose()?,
            text: turn.text.as_ref().map(fill_text).transpose()?,
            calls: calls.collect::<Result<_, VendorProblem>>()?,
            stop: turn.stop,
            usage: turn.usage,
            chunk: turn.chunk,
            delay: turn.delay,
            fault: turn.fault.as_ref().filter(|fault| fault.strikes()).map(|f| f.kind.clone()),
        })
    }

    fn fill_text(
        &self,
        text: &str,
        captured: &BTreeMap<String, String>,
    ) -> Result<String, VendorProblem> {
        let mut filled = text.to_owned();
        let captures = self.script.turns.iter().flat_map(|turn| &turn.captures);
        for name in captures.map(|capture| &capture.name) {
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

/// What was said to the model before its first message, between its messages, and after the last.
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
