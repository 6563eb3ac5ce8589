//! The parts of a vendor's wire format, and vendor-independent requests and problems.

use serde_json::{Value, json};

use super::script::{FixtureTurn, FixtureUsage, ScriptMessage, Turns};
use super::{anthropic, gemini, openai};
use crate::http::{FixtureReply, FixtureRequest};

const MODELS: [&str; 2] = ["scripted-large", "scripted-small"];

/// One vendor's paths, rules and formats.
pub(crate) struct Vendor {
    pub(crate) name: &'static str,
    /// Path of the base URL in a client's configuration.
    pub(crate) base_path: &'static str,
    pub(crate) models_path: &'static str,
    pub(crate) required_header: Option<&'static str>,
    /// Returns the key that a request carries.
    pub(crate) key: fn(&FixtureRequest) -> Option<&str>,
    /// Returns the target of a POST, or `None` if its path is unknown.
    pub(crate) target: fn(&FixtureRequest) -> Option<GenerateTarget>,
    pub(crate) check: fn(&Value, &Turns) -> Result<(), VendorProblem>,
    /// Returns the messages of a request that passed the check.
    pub(crate) messages: fn(&Value) -> Vec<ScriptMessage>,
    pub(crate) events: fn(&GenerateRequest, &FixtureTurn) -> Vec<VendorEvent>,
    pub(crate) whole: fn(&GenerateRequest, &FixtureTurn) -> Value,
    pub(crate) models: fn(Vec<Value>) -> Value,
    pub(crate) model: fn(&str) -> Value,
    pub(crate) no_such_model: fn(&str) -> String,
    pub(crate) refusal: fn(&VendorProblem) -> (u16, Value),
    /// HTTP status of a failure on the vendor's side.
    pub(crate) failure_status: u16,
    /// Name of the event by which a stream reports a failure.
    pub(crate) error_event: Option<&'static str>,
    pub(crate) event_end: &'static str,
    pub(crate) event_stream_type: &'static str,
    /// Name and value of the header with the request id.
    pub(crate) request_id: (&'static str, &'static str),
}

/// The target of a request for an answer, before its body is read.
pub(crate) enum GenerateTarget {
    /// The body names the model and the delivery.
    InBody,
    /// The path names the model and the delivery.
    InPath(String, Delivery),
}

/// A request for an answer of the model.
pub(crate) struct GenerateRequest {
    pub(crate) model: String,
    pub(crate) body: Value,
    pub(crate) delivery: Delivery,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delivery {
    Events,
    Whole,
    /// The events as one JSON array, which is Gemini's default.
    Array,
}

pub(crate) struct VendorEvent {
    pub(crate) name: Option<&'static str>,
    pub(crate) data: String,
}

/// The reason for a refusal, before it is rendered in a vendor's format.
#[derive(Debug)]
pub(crate) struct VendorProblem {
    pub(crate) kind: VendorProblemKind,
    pub(crate) message: String,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum VendorProblemKind {
    /// The request breaks a rule of the vendor or of the script.
    Request,
    NoKey,
    WrongKey,
    Model,
    /// The path is unknown.
    Route,
    /// A status from the script, with the seconds of its `Retry-After`.
    Scripted(u16, Option<u64>),
}

impl Vendor {
    pub(crate) fn from_name(name: &str) -> &'static Self {
        let all = [&openai::VENDOR, &anthropic::VENDOR, &gemini::VENDOR];
        let found = all.into_iter().find(|vendor| vendor.name == name);
        found.unwrap_or_else(|| {
            panic!("unknown vendor `{name}`; vendors are openai, anthropic, gemini")
        })
    }

    pub(crate) fn list_models(&self) -> Value {
        (self.models)(MODELS.map(self.model).into())
    }

    pub(crate) fn refuse(&self, problem: &VendorProblem) -> FixtureReply {
        let (status, body) = (self.refusal)(problem);
        let (name, value) = self.request_id;
        FixtureReply::json(status, body.to_string()).with(name, value)
    }

    /// Returns the problem of a failure on the vendor's side.
    pub(crate) fn failure(&self) -> VendorProblem {
        let kind = VendorProblemKind::Scripted(self.failure_status, None);
        VendorProblem::new(kind, "the script ends this answer with an error")
    }

    pub(crate) fn failure_event(&self) -> VendorEvent {
        let (_, body) = (self.refusal)(&self.failure());
        VendorEvent { name: self.error_event, data: body.to_string() }
    }

    pub(crate) fn encode(&self, event: &VendorEvent) -> String {
        let name = event.name.map(|name| format!("event: {name}\n")).unwrap_or_default();
        format!("{name}data: {}{}", event.data, self.event_end)
    }
}

impl GenerateTarget {
    pub(crate) fn with(self, body: Value) -> Result<GenerateRequest, VendorProblem> {
        match self {
            Self::InPath(model, delivery) => Ok(GenerateRequest { model, body, delivery }),
            Self::InBody => {
                let model = body["model"].as_str().filter(|model| !model.is_empty());
                let model = model.ok_or_else(|| VendorProblem::request("`model` is missing"))?;
                let model = model.to_owned();
                let streams = body["stream"] == json!(true);
                let delivery = if streams { Delivery::Events } else { Delivery::Whole };
                Ok(GenerateRequest { model, body, delivery })
            }
        }
    }
}

impl GenerateRequest {
    /// Returns the usage from the script, or an estimate, because vendors always report a usage.
    pub(crate) fn usage(&self, answer: &FixtureTurn) -> FixtureUsage {
        let estimate = || {
            let written =
                [&answer.thinking, &answer.text].map(|text| text.as_ref().map_or(0, String::len));
            let called =
                answer.calls.iter().map(|call| call.name.len() + call.arguments.to_string().len());
            let output = written.iter().sum::<usize>() + called.sum::<usize>();
            let tokens = |length: usize| u64::try_from(length / 4).unwrap_or(u64::MAX).max(1);
            let input = tokens(self.body.to_string().len());
            FixtureUsage { input, output: tokens(output), cached: 0 }
        };
        answer.usage.unwrap_or_else(estimate)
    }
}

impl VendorProblem {
    pub(crate) fn request(message: impl Into<String>) -> Self {
        Self::new(VendorProblemKind::Request, message)
    }

    pub(crate) fn new(kind: VendorProblemKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

/// Returns a problem with this message unless the rule holds.
pub(crate) fn ensure(holds: bool, message: impl FnOnce() -> String) -> Result<(), VendorProblem> {
    if holds { Ok(()) } else { Err(VendorProblem::request(message())) }
}

/// Returns the items of a list; empty if the value is absent or not a list.
pub(crate) fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Whether a name consists of 1 to `longest` letters, digits, underscores and dashes.
pub(crate) fn is_name(name: &str, longest: usize) -> bool {
    let fits = |character: char| character.is_ascii_alphanumeric() || "_-".contains(character);
    (1..=longest).contains(&name.len()) && name.chars().all(fits)
}
