//! One request of a server to a model: read, counted, shown to the person, asked, told.

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};
use switchboard_config::SamplingSettings;
use switchboard_core::{
    ChosenModel, ModelPreferences, SampleMedia, SampleMessage, SamplePart, SampleRequest,
    SampleResult, SampleRole, SampleStop, Sampler, ToolUse,
};
use switchboard_fleet::ServerRequest;
use switchboard_text::excerpt_text;
use switchboard_wire::RpcError;

use crate::review::ask::BadAsk;
use crate::review::ask::{Ask, AskKind};
use crate::review::sampling_budget::{SamplingBudget, SamplingGrant};
use crate::review::sampling_request;

/// The protocol's code for a request that the person does not want.
const REJECTED_CODE: i64 = -1;
/// The most that is shown of one message, in characters.
const MAX_SHOWN_CHARS: usize = 8_000;

/// What a server would have a model be asked, for the person. All texts are the server's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SamplingAsk {
    /// The model that would answer.
    pub model: String,
    /// What it would be told first.
    pub system: String,
    /// What it would be told: who says it, and what.
    pub messages: Vec<(SampleRole, String)>,
    /// The tools that it could ask the server to run.
    pub tools: Vec<String>,
    /// The most tokens that the answer may have.
    pub max_tokens: usize,
}

/// Asks models for servers, within their budgets.
pub(super) struct SamplingService {
    sampler: Arc<dyn Sampler>,
    budget: SamplingBudget,
}

/// A request that may be put to the person and then to the model.
#[derive(Debug)]
pub(super) struct PreparedSample {
    pub ask: Ask,
    request: SampleRequest,
    grant: SamplingGrant,
}

impl SamplingAsk {
    /// All that a person decides about.
    pub fn as_json(&self) -> Value {
        let role = |role: &SampleRole| match role {
            SampleRole::User => "user",
            SampleRole::Assistant => "assistant",
        };
        let said = |(by, text): &(SampleRole, String)| json!({"role": role(by), "text": text});
        json!({
            "model": self.model,
            "system": self.system,
            "messages": self.messages.iter().map(said).collect::<Vec<_>>(),
            "tools": self.tools,
            "maxTokens": self.max_tokens,
        })
    }
}

impl SamplingService {
    pub(crate) fn new(sampler: Arc<dyn Sampler>) -> Self {
        Self { sampler, budget: SamplingBudget::default() }
    }

    /// What a server with these settings is told that it can ask for; nothing without a model.
    pub(crate) fn capability(&self, settings: &SamplingSettings) -> Option<Value> {
        let only = settings.model.clone();
        let chosen =
            self.sampler.choose(&ModelPreferences { only, ..ModelPreferences::default() })?;
        Some(match chosen.tools {
            ToolUse::Native => json!({"tools": {}}),
            ToolUse::None => json!({}),
        })
    }

    /// Reads a request and counts it; nobody has been asked yet.
    pub(crate) fn prepare(
        &self,
        asking: ServerRequest<'_>,
        settings: &SamplingSettings,
    ) -> Result<PreparedSample, BadAsk> {
        let wanted = sampling_request::parse_request(asking.params)?;
        let wishes = ModelPreferences { only: settings.model.clone(), ..wanted.preferences };
        let chosen = self.sampler.choose(&wishes);
        let chosen = chosen.ok_or_else(|| BadAsk::new_unsafe("there is no model to ask"))?;
        if !wanted.tools.is_empty() && chosen.tools == ToolUse::None {
            let why = format!("the model `{}` cannot be given tools", chosen.profile);
            return Err(BadAsk::new_malformed(why));
        }
        let granted = self
            .budget
            .grant(asking.server, asking.call, settings, Instant::now())
            .map_err(BadAsk::new_unsafe)?;
        let request = SampleRequest {
            server: asking.server.to_owned(),
            profile: chosen.profile.clone(),
            system: wanted.system,
            messages: wanted.messages,
            tools: wanted.tools,
            tool_choice: wanted.tool_choice,
            max_tokens: wanted.max_tokens.min(granted.tokens),
            temperature: wanted.temperature,
            stop_sequences: wanted.stop_sequences,
        };
        let ask = build_ask(asking, &request, &chosen);
        Ok(PreparedSample { ask, request, grant: granted })
    }

    /// Nobody asked the model after all.
    pub(crate) fn release(&self, prepared: &PreparedSample) {
        self.budget.record_cost(&prepared.request.server, prepared.grant, 0);
    }

    /// Asks the model and gives its answer as the protocol spells it.
    pub(crate) async fn run(&self, prepared: &PreparedSample) -> Result<String, RpcError> {
        let PreparedSample { request, grant: granted, .. } = prepared;
        match self.sampler.sample(request).await {
            Ok(sampled) => {
                self.budget.record_cost(&request.server, *granted, sampled.tokens);
                Ok(sample_json(sampled).to_string())
            }
            Err(why) => {
                let why = format!("the model has no answer: {}", excerpt_text(&why, 400));
                Err(RpcError::new(RpcError::INTERNAL_ERROR, why))
            }
        }
    }
}

/// What a server is told that asked for more than it gets.
pub(super) fn rejection(why: &str) -> RpcError {
    RpcError::new(REJECTED_CODE, format!("User rejected sampling request: {why}"))
}

fn build_ask(asking: ServerRequest<'_>, request: &SampleRequest, chosen: &ChosenModel) -> Ask {
    let model = match chosen.model.as_str() {
        "" => chosen.profile.clone(),
        model if model == chosen.profile => model.to_owned(),
        model => format!("{} ({model})", chosen.profile),
    };
    let messages: Vec<(SampleRole, String)> =
        request.messages.iter().map(|message| (message.role, message_text(message))).collect();
    let newest = messages.last().map(|(_, text)| text.clone()).unwrap_or_default();
    let kind = SamplingAsk {
        model,
        system: truncate(&request.system),
        messages,
        tools: request.tools.iter().map(|tool| tool.name.clone()).collect(),
        max_tokens: request.max_tokens,
    };
    Ask {
        server: asking.server.to_owned(),
        tool: asking.target.map(str::to_owned),
        call: asking.call.map(|call| call.to_string()),
        reference: None,
        message: newest,
        kind: AskKind::Sampling(kind),
    }
}

fn message_text(message: &SampleMessage) -> String {
    let media = |what: &str, media: &SampleMedia| {
        let kilobytes = media.data.len() * 3 / 4 / 1_024;
        format!("[{what} {}, {kilobytes} KiB]", media.mime)
    };
    let part = |part: &SamplePart| match part {
        SamplePart::Text(text) => truncate(text),
        SamplePart::Image(image) => media("image", image),
        SamplePart::Audio(audio) => media("audio", audio),
        SamplePart::Call { name, input, .. } => truncate(&format!("[call of {name}: {input}]")),
        SamplePart::Result { text, images, .. } => {
            let images: String = images.iter().map(|image| media("image", image)).collect();
            truncate(&format!("[result: {text}]{images}"))
        }
    };
    message.parts.iter().map(part).collect::<Vec<_>>().join("\n")
}

fn truncate(text: &str) -> String {
    let mut shown: String = text.chars().take(MAX_SHOWN_CHARS).collect();
    let left = text.len() - shown.len();
    if left > 0 {
        shown.push_str(&format!("… ({left} more bytes would be sent)"));
    }
    shown
}

fn sample_json(sampled: SampleResult) -> Value {
    let mut content = Vec::new();
    if !sampled.text.is_empty() || sampled.calls.is_empty() {
        content.push(json!({"type": "text", "text": sampled.text}));
    }
    for (id, name, input) in sampled.calls {
        content.push(json!({"type": "tool_use", "id": id, "name": name, "input": input}));
    }
    // Before 2025-11-25 there is one part and no list.
    let content = match <[Value; 1]>::try_from(content) {
        Ok([only]) => only,
        Err(several) => Value::Array(several),
    };
    let stop = match sampled.stop {
        SampleStop::End => "endTurn",
        SampleStop::Sequence => "stopSequence",
        SampleStop::Length => "maxTokens",
        SampleStop::Calls => "toolUse",
    };
    json!({"role": "assistant", "content": content, "model": sampled.model, "stopReason": stop})
}

#[cfg(test)]
#[path = "sampling_tests.rs"]
mod tests;
