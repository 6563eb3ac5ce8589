//! What a request wants of a model server, whatever the vendor.

use serde_json::Value;

use super::script::FixtureUsage;
use super::turns::FilledTurn;

#[derive(Debug)]
pub(crate) enum VendorRequest {
    Models,
    Model(String),
    Answer(GenerateRequest),
}

/// A request for an answer of the model.
#[derive(Debug)]
pub(crate) struct GenerateRequest {
    pub(crate) model: String,
    pub(crate) body: Value,
    pub(crate) delivery: Delivery,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// Server-sent events.
    Events,
    Whole,
    /// The events as one JSON array, which is what Gemini does unless told otherwise.
    Array,
}

impl GenerateRequest {
    /// What the script says was used, or an estimate, because vendors always say something.
    pub(crate) fn usage(&self, answer: &FilledTurn) -> FixtureUsage {
        let estimate = || {
            let written =
                [&answer.thinking, &answer.text].map(|text| text.as_ref().map_or(0, String::len));
            let called =
                answer.calls.iter().map(|call| call.name.len() + call.arguments.to_string().len());
            let output = written.iter().sum::<usize>() + called.sum::<usize>();
            let tokens = |length: usize| u64::try_from(length / 4).unwrap_or(u64::MAX).max(1);
            FixtureUsage {
                input: tokens(self.body.to_string().len()),
                output: tokens(output),
                cached: 0,
            }
        };
        answer.usage.unwrap_or_else(estimate)
    }
}

/// The model's parameter of a request whose body names it.
pub(crate) fn requested_model(body: &Value) -> Option<String> {
    body["model"].as_str().filter(|model| !model.is_empty()).map(str::to_owned)
}

/// The items of a list; none when it is absent or something else.
pub(crate) fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// A name of 1 to so many letters, digits, underscores and dashes.
pub(crate) fn is_name(name: &str, longest: usize) -> bool {
    let fits = |character: char| character.is_ascii_alphanumeric() || "_-".contains(character);
    (1..=longest).contains(&name.len()) && name.chars().all(fits)
}
