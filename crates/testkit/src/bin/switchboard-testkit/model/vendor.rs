//! The three vendors, and what each has of its own.

use serde_json::Value;

use super::problem::{VendorProblem, VendorProblemKind};
use super::request::{Delivery, GenerateRequest, requested_model};
use super::turns::{FilledTurn, ScriptMessage, Turns};
use super::wire::VendorEvent;
use super::{anthropic, gemini, openai};
use crate::http::{FixtureReply, FixtureRequest};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FixtureVendor {
    OpenAi,
    Anthropic,
    Gemini,
}

/// Where a request for an answer went, before its body is looked at.
#[derive(Debug)]
pub(crate) enum GenerateTarget {
    /// The body names the model and says whether to stream.
    InBody,
    /// The path has named both.
    InPath(String, Delivery),
}

impl GenerateTarget {
    pub(crate) fn with(self, body: Value) -> Result<GenerateRequest, VendorProblem> {
        match self {
            Self::InPath(model, delivery) => Ok(GenerateRequest { model, body, delivery }),
            Self::InBody => {
                let model = requested_model(&body);
                let model = model.ok_or_else(|| VendorProblem::request("`model` is missing"))?;
                let streams = body["stream"] == Value::Bool(true);
                let delivery = if streams { Delivery::Events } else { Delivery::Whole };
                Ok(GenerateRequest { model, body, delivery })
            }
        }
    }
}

impl FixtureVendor {
    pub(crate) fn from_name(name: &str) -> Self {
        match name {
            "openai" => Self::OpenAi,
            "anthropic" => Self::Anthropic,
            "gemini" => Self::Gemini,
            other => panic!("unknown vendor `{other}`; vendors are openai, anthropic, gemini"),
        }
    }

    /// What a client's configuration has behind the address.
    pub(crate) fn base_path(self) -> &'static str {
        match self {
            Self::OpenAi => "/v1",
            Self::Anthropic => "",
            Self::Gemini => "/v1beta",
        }
    }

    pub(crate) fn models_path(self) -> &'static str {
        match self {
            Self::OpenAi | Self::Anthropic => "/v1",
            Self::Gemini => "/v1beta",
        }
    }

    pub(crate) fn target(self, asked: &FixtureRequest) -> Option<GenerateTarget> {
        match self {
            Self::OpenAi => {
                (asked.path == "/v1/chat/completions").then_some(GenerateTarget::InBody)
            }
            Self::Anthropic => (asked.path == "/v1/messages").then_some(GenerateTarget::InBody),
            Self::Gemini => gemini::target(asked),
        }
    }

    /// The key a request carries.
    pub(crate) fn key(self, asked: &FixtureRequest) -> Option<&str> {
        match self {
            Self::OpenAi => asked.header("authorization")?.strip_prefix("Bearer "),
            Self::Anthropic => asked.header("x-api-key"),
            Self::Gemini => asked.header("x-goog-api-key").or_else(|| asked.query("key")),
        }
    }

    pub(crate) fn check_headers(self, asked: &FixtureRequest) -> Result<(), VendorProblem> {
        match self {
            Self::Anthropic if asked.header("anthropic-version").is_none() => {
                Err(VendorProblem::request("anthropic-version: the header is required"))
            }
            Self::OpenAi | Self::Anthropic | Self::Gemini => Ok(()),
        }
    }

    /// What the vendor finds wrong with a request.
    pub(crate) fn check(
        self,
        generate: &GenerateRequest,
        turns: &Turns,
    ) -> Result<(), VendorProblem> {
        match self {
            Self::OpenAi => openai::check(&generate.body),
            Self::Anthropic => anthropic::check(&generate.body, turns),
            Self::Gemini => gemini::check(&generate.body),
        }
    }

    /// The messages of a request that passed the check.
    pub(crate) fn messages(self, body: &Value) -> Vec<ScriptMessage> {
        match self {
            Self::OpenAi => openai::messages(body),
            Self::Anthropic => anthropic::messages(body),
            Self::Gemini => gemini::messages(body),
        }
    }

    pub(crate) fn events(
        self,
        generate: &GenerateRequest,
        answer: &FilledTurn,
    ) -> Vec<VendorEvent> {
        match self {
            Self::OpenAi => openai::events(generate, answer),
            Self::Anthropic => anthropic::events(generate, answer),
            Self::Gemini => gemini::events(generate, answer),
        }
    }

    pub(crate) fn whole(self, generate: &GenerateRequest, answer: &FilledTurn) -> Value {
        match self {
            Self::OpenAi => openai::whole(generate, answer),
            Self::Anthropic => anthropic::whole(generate, answer),
            Self::Gemini => gemini::whole(generate, answer),
        }
    }

    pub(crate) fn models(self) -> Value {
        match self {
            Self::OpenAi => openai::models(),
            Self::Anthropic => anthropic::models(),
            Self::Gemini => gemini::models(),
        }
    }

    pub(crate) fn model(self, id: &str) -> Value {
        match self {
            Self::OpenAi => openai::model(id),
            Self::Anthropic => anthropic::model(id),
            Self::Gemini => gemini::model(id),
        }
    }

    pub(crate) fn no_such_model(self, id: &str) -> String {
        match self {
            Self::OpenAi => format!("The model `{id}` does not exist or is not open to you."),
            Self::Anthropic => format!("model: {id}"),
            Self::Gemini => format!("models/{id} is not found for API version v1beta."),
        }
    }

    pub(crate) fn refusal(self, problem: &VendorProblem) -> FixtureReply {
        let (status, body) = match self {
            Self::OpenAi => openai::refusal(problem),
            Self::Anthropic => anthropic::refusal(problem),
            Self::Gemini => gemini::refusal(problem),
        };
        let (name, value) = self.request_id();
        FixtureReply::json(status, body.to_string()).with(name, value)
    }

    /// What the vendor says when it fails on its own side.
    pub(crate) fn failure(self) -> VendorProblem {
        let status = match self {
            Self::OpenAi => 500,
            Self::Anthropic => 529,
            Self::Gemini => 503,
        };
        let kind = VendorProblemKind::Scripted(status, None);
        VendorProblem::new(kind, "the script ends this answer with an error")
    }

    /// The event by which a stream says that it failed.
    pub(crate) fn error_event(self) -> VendorEvent {
        let (name, (_, body)) = match self {
            Self::OpenAi => (None, openai::refusal(&self.failure())),
            Self::Anthropic => (Some("error"), anthropic::refusal(&self.failure())),
            Self::Gemini => (None, gemini::refusal(&self.failure())),
        };
        VendorEvent { name, data: body.to_string() }
    }

    pub(crate) fn encode(self, event: &VendorEvent) -> String {
        let name = event.name.map(|name| format!("event: {name}\n")).unwrap_or_default();
        match self {
            Self::OpenAi | Self::Anthropic => format!("{name}data: {}\n\n", event.data),
            // Google ends its lines the way HTTP does.
            Self::Gemini => format!("data: {}\r\n\r\n", event.data),
        }
    }

    pub(crate) fn event_stream_type(self) -> &'static str {
        match self {
            Self::OpenAi | Self::Anthropic => "text/event-stream; charset=utf-8",
            Self::Gemini => "text/event-stream",
        }
    }

    /// The header by which the vendor names a request.
    pub(crate) fn request_id(self) -> (&'static str, &'static str) {
        match self {
            Self::OpenAi => ("x-request-id", "req_scripted"),
            Self::Anthropic => ("request-id", "req_scripted"),
            Self::Gemini => ("server-timing", "gfet4t7; dur=1"),
        }
    }
}
