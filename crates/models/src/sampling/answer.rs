//! Converts a model's answer into a sampling result.

use serde_json::Value;
use switchboard_core::{SampleResult, SampleStop};
use switchboard_prompting::{
    ChatMessage, Definitions, ModelAnswer, ModelInfo, ModelRequest, StopReason, estimate_tokens,
};

pub(super) fn sample_result(
    said: ModelAnswer,
    about: &ModelInfo,
    asked: &ModelRequest,
    definitions: Option<&Definitions>,
) -> Result<SampleResult, String> {
    if said.stop == StopReason::Refused {
        return Err("the vendor refused to answer".to_owned());
    }
    let mut text = said.text;
    let stop_text = stop_position(&text, &asked.options.stop);
    if let Some(end) = stop_text {
        text.truncate(end);
    }
    let mut calls = Vec::new();
    for (number, call) in said.calls.into_iter().enumerate() {
        let arguments = call.arguments.map_err(|error| format!("invalid tool call: {error}"))?;
        let arguments: Value = serde_json::from_str(&arguments.text)
            .map_err(|error| format!("invalid arguments of a tool call: {error}"))?;
        let (name, arguments) = match definitions {
            Some(known) => {
                (known.model_name(&call.name).to_owned(), known.restore(&call.name, arguments))
            }
            None => (call.name, arguments),
        };
        calls.push((call.id.unwrap_or_else(|| format!("call_{}", number + 1)), name, arguments));
    }
    let stop = match said.stop {
        _ if !calls.is_empty() => SampleStop::Calls,
        _ if stop_text.is_some() => SampleStop::Sequence,
        StopReason::Length => SampleStop::Length,
        StopReason::End | StopReason::Calls | StopReason::Refused | StopReason::Other(_) => {
            SampleStop::End
        }
    };
    let counted = said.usage.input + said.usage.output;
    let tokens = match usize::try_from(counted).unwrap_or(usize::MAX) {
        // Estimate if the vendor reports no usage: servers have a token budget.
        0 => estimate_tokens(&request_text(asked)) + estimate_tokens(&text),
        counted => counted,
    };
    let model = if about.model.is_empty() { &about.profile } else { &about.model };
    Ok(SampleResult { model: model.clone(), text, calls, stop, tokens })
}

/// Returns the position of the first stop sequence, for vendors that do not support them.
fn stop_position(text: &str, stops: &[String]) -> Option<usize> {
    let stops = stops.iter().filter(|stop| !stop.is_empty());
    stops.filter_map(|stop| text.find(stop.as_str())).min()
}

fn request_text(asked: &ModelRequest) -> String {
    let mut words = asked.system.clone();
    for message in &asked.messages {
        match message {
            ChatMessage::User { text, .. } | ChatMessage::Assistant { text, .. } => {
                words.push_str(text);
            }
            ChatMessage::Results { results } => {
                results.iter().for_each(|result| words.push_str(&result.text));
            }
        }
    }
    words
}
