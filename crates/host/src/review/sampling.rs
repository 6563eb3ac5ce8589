//! Sampling requests of servers: checked against a budget, reviewed, and sent to a model.

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

use crate::review::ask::{Ask, AskKind, BadAsk};
use crate::review::sampling_budget::{SamplingBudget, SamplingGrant};
use crate::review::sampling_request;

/// The protocol's error code for a request that the user rejected.
const REJECTED_CODE: i64 = -1;
/// Maximum number of characters shown of one message.
const MAX_SHOWN_CHARS: usize = 8_000;

/// A sampling request as it is shown to a person. All texts come from the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SamplingAsk {
    /// The model that would answer.
    pub model: String,
    pub system: String,
    pub messages: Vec<(SampleRole, String)>,
    /// The names of the tools that the model may call.
    pub tools: Vec<String>,
    /// Maximum number of tokens of the answer.
    pub max_tokens: usize,
}

/// Sends requests of servers to models, within their budgets.
pub(super) struct SamplingService {
    sampler: Arc<dyn Sampler>,
    budget: SamplingBudget,
}

/// A request that is ready to be reviewed and sent to the model.
#[derive(Debug)]
pub(super) struct PreparedSample {
    pub ask: Ask,
    request: SampleRequest,
    grant: SamplingGrant,
}

impl SamplingAsk {
    /// Returns everything that the person decides about, as JSON.
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

    /// Returns the sampling capability of a server with these settings; `None` without a model.
    pub(crate) fn capability(&self, settings: &SamplingSettings) -> Option<Value> {
        let only = settings.model.clone();
        let chosen =
            self.sampler.choose(&ModelPreferences { only, ..ModelPreferences::default() })?;
        Some(match chosen.tools {
            ToolUse::Native => json!({"tools": {}}),
            ToolUse::None => json!({}),
        })
    }

    /// Parses a request and reserves its budget, before it is reviewed or sent.
    pub(crate) fn prepare(
        &self,
        asking: ServerRequest<'_>,
        settings: &SamplingSettings,
    ) -> Result<PreparedSample, BadAsk> {
        let wanted = sampling_request::parse_request(asking.params)?;
        let wishes = ModelPreferences { only: settings.model.clone(), ..wanted.preferences };
        let chosen = self.sampler.choose(&wishes);
        let chosen = chosen.ok_or_else(|| BadAsk::new_unsafe("no model is available"))?;
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

    /// Releases the budget of a request that was not sent to the model.
    pub(crate) fn release(&self, prepared: &PreparedSample) {
        self.budget.record_cost(&prepared.request.server, prepared.grant, 0);
    }

    /// Sends the request to the model, and returns its answer in the form of the protocol.
    pub(crate) async fn run(&self, prepared: &PreparedSample) -> Result<String, RpcError> {
        let PreparedSample { request, grant: granted, .. } = prepared;
        match self.sampler.sample(request).await {
            Ok(sampled) => {
                self.budget.record_cost(&request.server, *granted, sampled.tokens);
                Ok(sample_json(sampled).to_string())
            }
            // The reserved tokens stay counted: the vendor may charge for a failed request too.
            Err(why) => {
                let why = format!("the model did not answer: {}", excerpt_text(&why, 400));
                Err(RpcError::new(RpcError::INTERNAL_ERROR, why))
            }
        }
    }
}

/// Returns the error for a rejected sampling request, in the words of the protocol.
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
    // Before 2025-11-25, the content is a single part instead of a list.
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
