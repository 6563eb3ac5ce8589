//! Puts what a server asks into the form that our models take.

use std::collections::BTreeMap;

use serde_json::Value;
use switchboard_core::{
    SampleMedia, SampleMessage, SamplePart, SampleRequest, SampleRole, SampleToolChoice,
};
use switchboard_prompting::{
    About, AskedCall, CallResult, CallWish, Calls, Definitions, Image, Message, Options, Request,
    ShownServer, ShownTool, Wishes, definitions,
};

const NOT_HEARD: &str = "(A recording was left out: this model cannot listen.)";

/// The request for the model, and its tools with the way back to their names.
pub(super) fn question(
    request: &SampleRequest,
    about: &About,
) -> Result<(Request, Option<Definitions>), String> {
    let definitions = tools(request, about)?;
    // A tool may have to be called by another name with this vendor.
    let shown = |name: &str| {
        let names = definitions.iter().flat_map(|definitions| &definitions.names);
        names.clone().find(|(_, given)| *given == name).map_or(name, |(shown, _)| shown).to_owned()
    };
    let mut names = BTreeMap::new();
    let mut messages = Vec::new();
    for message in &request.messages {
        put(message, &shown, &mut names, &mut messages);
    }
    let call = match request.tool_choice {
        SampleToolChoice::Auto => CallWish::Maybe,
        SampleToolChoice::Required => CallWish::Must,
        SampleToolChoice::None => CallWish::Never,
    };
    let wishes = Wishes {
        most_tokens: Some(request.max_tokens),
        temperature: request.temperature,
        stop: request.stop_sequences.clone(),
        call: if definitions.is_some() { call } else { CallWish::Maybe },
    };
    let tools = definitions.as_ref().map_or(Value::Null, Definitions::request_value);
    let system = request.system.clone();
    Ok((Request { system, messages, tools, wishes }, definitions))
}

fn tools(request: &SampleRequest, about: &About) -> Result<Option<Definitions>, String> {
    if request.tools.is_empty() {
        return Ok(None);
    }
    let Calls::Native(vendor) = about.calls else {
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
    Ok(Some(definitions(&[server], vendor, &Options::default())))
}

/// One message of the server's becomes one or two of ours: results stand by themselves.
fn put(
    message: &SampleMessage,
    shown: &impl Fn(&str) -> String,
    names: &mut BTreeMap<String, String>,
    messages: &mut Vec<Message>,
) {
    let (mut texts, mut images) = (Vec::new(), Vec::new());
    let (mut calls, mut results) = (Vec::new(), Vec::new());
    for part in &message.parts {
        match part {
            SamplePart::Text(text) => texts.push(text.clone()),
            SamplePart::Image(media) => images.push(image(media)),
            SamplePart::Audio(_) => texts.push(NOT_HEARD.to_owned()),
            SamplePart::Call { id, name, input } => {
                let name = shown(name);
                names.insert(id.clone(), name.clone());
                calls.push(AskedCall { id: id.clone(), name, arguments: input.to_string() });
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
    if !results.is_empty() {
        messages.push(Message::Results { results });
    }
    let text = texts.join("\n");
    if text.is_empty() && images.is_empty() && calls.is_empty() {
        return;
    }
    messages.push(match message.role {
        SampleRole::User => Message::User { text, images },
        // No vendor takes pictures of its own model's.
        SampleRole::Assistant => Message::Assistant { text, calls, kept: None },
    });
}

fn image(media: &SampleMedia) -> Image {
    Image { mime: media.mime.clone(), data: media.data.clone() }
}
