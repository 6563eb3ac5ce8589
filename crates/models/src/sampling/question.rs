//! Converts a sampling request into a model request.

use std::collections::BTreeMap;

use serde_json::Value;
use switchboard_core::{
    SampleMedia, SampleMessage, SamplePart, SampleRequest, SampleRole, SampleToolChoice,
};
use switchboard_prompting::{
    CallMode, CallResult, ChatMessage, Definitions, Image, ModelInfo, ModelOptions, ModelRequest,
    ModelToolChoice, PromptOptions, RequestedCall, ShownServer, ShownTool, definitions,
};

const AUDIO_LEFT_OUT: &str = "(A recording was left out: this model does not accept audio.)";

/// Converts a request. The tool definitions map names back.
pub(super) fn question(
    request: &SampleRequest,
    about: &ModelInfo,
) -> Result<(ModelRequest, Option<Definitions>), String> {
    let definitions = tools(request, about)?;
    // Vendors restrict tool names, so a tool may have another name in the request.
    let shown = |name: &str| {
        let names = definitions.iter().flat_map(|definitions| &definitions.names);
        names.clone().find(|(_, given)| *given == name).map_or(name, |(shown, _)| shown).to_owned()
    };
    let mut names = BTreeMap::new();
    let mut messages = Vec::new();
    for message in &request.messages {
        push_message(message, &shown, &mut names, &mut messages);
    }
    let call = match request.tool_choice {
        SampleToolChoice::Auto => ModelToolChoice::Auto,
        SampleToolChoice::Required => ModelToolChoice::Required,
        SampleToolChoice::None => ModelToolChoice::None,
    };
    let wishes = ModelOptions {
        max_tokens: Some(request.max_tokens),
        temperature: request.temperature,
        stop: request.stop_sequences.clone(),
        tool_choice: if definitions.is_some() { call } else { ModelToolChoice::Auto },
    };
    let tools = definitions.as_ref().map_or(Value::Null, Definitions::request_value);
    let system = request.system.clone();
    Ok((ModelRequest { system, messages, tools, options: wishes }, definitions))
}

fn tools(request: &SampleRequest, about: &ModelInfo) -> Result<Option<Definitions>, String> {
    if request.tools.is_empty() {
        return Ok(None);
    }
    let CallMode::Native(vendor) = about.calls else {
        return Err(format!("the model `{}` cannot be given tools", about.profile));
    };
    let tools = request.tools.iter().map(|tool| ShownTool {
        name: &tool.name,
        model_name: &tool.name,
        description: tool.description.as_deref(),
        input_schema: tool.input_schema.as_deref(),
        ..ShownTool::default()
    });
    let server =
        ShownServer { name: &request.server, tools: tools.collect(), ..ShownServer::default() };
    Ok(Some(definitions(&[server], vendor, &PromptOptions::default())))
}

/// Converts a message. Results become a separate message.
fn push_message(
    message: &SampleMessage,
    shown: &impl Fn(&str) -> String,
    names: &mut BTreeMap<String, String>,
    messages: &mut Vec<ChatMessage>,
) {
    let mut texts = Vec::new();
    let mut images = Vec::new();
    let mut calls = Vec::new();
    let mut results = Vec::new();
    for part in &message.parts {
        match part {
            SamplePart::Text(text) => texts.push(text.clone()),
            SamplePart::Image(media) => images.push(image(media)),
            SamplePart::Audio(_) => texts.push(AUDIO_LEFT_OUT.to_owned()),
            SamplePart::Call { id, name, input } => {
                let name = shown(name);
                names.insert(id.clone(), name.clone());
                calls.push(RequestedCall { id: id.clone(), name, arguments: input.to_string() });
            }
            SamplePart::Result { id, text, images, failed } => results.push(CallResult {
                id: id.clone(),
                name: names.get(id).cloned().unwrap_or_default(),
                text: text.clone(),
                images: images.iter().map(image).collect(),
                failed: *failed,
            }),
        }
    }
    // Before the text: vendors expect results right after the calls.
    if !results.is_empty() {
        messages.push(ChatMessage::Results { results });
    }
    let text = texts.join("\n");
    if text.is_empty() && images.is_empty() && calls.is_empty() {
        return;
    }
    messages.push(match message.role {
        SampleRole::User => ChatMessage::User { text, images },
        // No vendor accepts images in assistant messages.
        SampleRole::Assistant => ChatMessage::Assistant { text, calls, kept: None },
    });
}

fn image(media: &SampleMedia) -> Image {
    Image { mime: media.mime.clone(), data: media.data.clone() }
}
