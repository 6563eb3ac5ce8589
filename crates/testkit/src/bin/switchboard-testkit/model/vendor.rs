//! The three vendors, and what each has of its own.

use serde_json::Value;

use super::asked::{Delivery, Generate, model_of};
use super::problem::{Problem, ProblemKind};
use super::turns::{Answer, Said, Turns};
use super::wire::Event;
use super::{anthropic, gemini, openai};
use crate::http::{Asked, Reply};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vendor {
    OpenAi,
    Anthropic,
    Gemini,
}

/// Where a request for an answer went, before its body is looked at.
#[derive(Debug)]
pub(crate) enum Target {
    /// The body names the model and says whether to stream.
    InBody,
    /// The path has named both.
    InPath(String, Delivery),
}

impl Target {
    pub(crate) fn with(self, body: Value) -> Result<Generate, Problem> {
        match self {
            Self::InPath(model, delivery) => Ok(Generate { model, body, delivery }),
            Self::InBody => {
                let model = model_of(&body);
                let model = model.ok_or_else(|| Problem::request("`model` is missing"))?;
                let streams = body["stream"] == Value::Bool(true);
                let delivery = if streams { Delivery::Events } else { Delivery::Whole };
                Ok(Generate { model, body, delivery })
            }
        }
    }
}

impl Vendor {
    pub(crate) fn named(name: &str) -> Self {
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

    pub(crate) fn target(self, asked: &Asked) -> Option<Target> {
        match self {
            Self::OpenAi => (asked.path == "/v1/chat/completions").then_some(Target::InBody),
            Self::Anthropic => (asked.path == "/v1/messages").then_some(Target::InBody),
            Self::Gemini => gemini::target(asked),
        }
    }

    /// The key a request carries.
    pub(crate) fn key(self, asked: &Asked) -> Option<&str> {
        match self {
            Self::OpenAi => asked.header("authorization")?.strip_prefix("Bearer "),
            Self::Anthropic => asked.header("x-api-key"),
            Self::Gemini => asked.header("x-goog-api-key").or_else(|| asked.query("key")),
        }
    }

    pub(crate) fn check_headers(self, asked: &Asked) -> Result<(), Problem> {
        match self {
            Self::Anthropic if asked.header("anthropic-version").is_none() => {
                Err(Problem::request("anthropic-version: the header is required"))
            }
            Self::OpenAi | Self::Anthropic | Self::Gemini => Ok(()),
        }
    }

    /// What the vendor finds wrong with a request.
    pub(crate) fn check(self, generate: &Generate, turns: &Turns) -> Result<(), Problem> {
        match self {
            Self::OpenAi => openai::check(&generate.body),
            Self::Anthropic => anthropic::check(&generate.body, turns),
            Self::Gemini => gemini::check(&generate.body),
        }
    }

    /// The messages of a request that passed the check.
    pub(crate) fn said(self, body: &Value) -> Vec<Said> {
        match self {
            Self::OpenAi => openai::said(body),
            Self::Anthropic => anthropic::said(body),
            Self::Gemini => gemini::said(body),
        }
    }

    pub(crate) fn events(self, generate: &Generate, answer: &Answer) -> Vec<Event> {
        match self {
            Self::OpenAi => openai::events(generate, answer),
            Self::Anthropic => anthropic::events(generate, answer),
            Self::Gemini => gemini::events(generate, answer),
        }
    }

    pub(crate) fn whole(self, generate: &Generate, answer: &Answer) -> Value {
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

    pub(crate) fn refusal(self, problem: &Problem) -> Reply {
        let (status, body) = match self {
            Self::OpenAi => openai::refusal(problem),
            Self::Anthropic => anthropic::refusal(problem),
            Self::Gemini => gemini::refusal(problem),
        };
        let (name, value) = self.request_id();
        Reply::json(status, body.to_string()).with(name, value)
    }

    /// What the vendor says when it fails on its own side.
    pub(crate) fn failure(self) -> Problem {
        let status = match self {
            Self::OpenAi => 500,
            Self::Anthropic => 529,
            Self::Gemini => 503,
        };
        let kind = ProblemKind::Scripted(status, None);
        Problem::new(kind, "the script ends this answer with an error")
    }

    /// The event by which a stream says that it failed.
    pub(crate) fn error_event(self) -> Event {
        let (name, (_, body)) = match self {
            Self::OpenAi => (None, openai::refusal(&self.failure())),
            Self::Anthropic => (Some("error"), anthropic::refusal(&self.failure())),
            Self::Gemini => (None, gemini::refusal(&self.failure())),
        };
        Event { name, data: body.to_string() }
    }

    pub(crate) fn encode(self, event: &Event) -> String {
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
