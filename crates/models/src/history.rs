//! Normalizes a conversation for vendors, which reject calls without results and empty messages.

use std::borrow::Cow;
use std::collections::VecDeque;

use serde_json::Value;
use switchboard_prompting::{CallResult, ChatMessage, Image, ModelInfo, RequestedCall};

// Some vendors require a message of the user first.
pub(crate) const CUT_BEGINNING: &str = "(The beginning of this conversation is not shown.)";
const NO_RESULT: &str = "Error:\nThis call was not made, or its result is lost.";

// The image types that all vendors accept, with their canonical names.
const IMAGE_TYPES: [(&str, &str); 5] = [
    ("image/png", "image/png"),
    ("image/jpeg", "image/jpeg"),
    ("image/jpg", "image/jpeg"),
    ("image/gif", "image/gif"),
    ("image/webp", "image/webp"),
];

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Picture<'a> {
    pub(crate) mime: &'static str,
    pub(crate) data: &'a str,
}

/// A normalized message; none is empty.
#[derive(Debug, PartialEq)]
pub(crate) enum VendorTurn<'a> {
    User { text: Cow<'a, str>, images: Vec<Picture<'a>> },
    // `kept` is the original message, if it is from the same vendor.
    Assistant { text: &'a str, calls: &'a [RequestedCall], kept: Option<&'a Value> },
    // One result for each call of the previous turn, in order.
    Results(Vec<AnsweredCall<'a>>),
}

/// A call of a conversation, with its result.
#[derive(Debug, PartialEq)]
pub(crate) struct AnsweredCall<'a> {
    pub(crate) id: &'a str,
    pub(crate) name: &'a str,
    pub(crate) text: Cow<'a, str>,
    pub(crate) images: Vec<Picture<'a>>,
    pub(crate) failed: bool,
}

pub(crate) fn turns<'a>(messages: &'a [ChatMessage], about: &ModelInfo) -> Vec<VendorTurn<'a>> {
    let mut turns = Vec::with_capacity(messages.len() + 1);
    let mut open: &[RequestedCall] = &[];
    for message in messages {
        if let ChatMessage::Results { results } = message {
            attach_results(&mut turns, std::mem::take(&mut open), results, about);
            continue;
        }
        close_calls(&mut turns, std::mem::take(&mut open));
        match message {
            ChatMessage::User { text, images } => {
                let (text, images) = fit_images(text, images, about);
                if !text.trim().is_empty() || !images.is_empty() {
                    turns.push(VendorTurn::User { text, images });
                }
            }
            ChatMessage::Assistant { text, calls, kept } => {
                // Another vendor cannot read this format, and its signatures would not verify.
                let kept = kept.as_ref().filter(|kept| kept.provider == about.provider);
                let kept = kept.map(|kept| &kept.content);
                if !text.trim().is_empty() || !calls.is_empty() || kept.is_some() {
                    turns.push(VendorTurn::Assistant { text, calls, kept });
                }
                open = calls;
            }
            ChatMessage::Results { .. } => {}
        }
    }
    close_calls(&mut turns, open);
    if !matches!(turns.first(), Some(VendorTurn::User { .. })) {
        turns.insert(0, VendorTurn::User { text: CUT_BEGINNING.into(), images: Vec::new() });
    }
    turns
}

/// Attaches results to their calls, and converts results without a call into text.
fn attach_results<'a>(
    turns: &mut Vec<VendorTurn<'a>>,
    calls: &'a [RequestedCall],
    results: &'a [CallResult],
    about: &ModelInfo,
) {
    let mut left: VecDeque<&CallResult> = results.iter().collect();
    let mut answered = Vec::with_capacity(calls.len());
    for call in calls {
        let place = left.iter().position(|result| result.id == call.id);
        answered.push(match place.and_then(|place| left.remove(place)) {
            Some(result) => {
                let (text, images) = fit_images(&result.text, &result.images, about);
                AnsweredCall { id: &call.id, name: &call.name, text, images, failed: result.failed }
            }
            None => missing_result(call),
        });
    }
    if !answered.is_empty() {
        turns.push(VendorTurn::Results(answered));
    }
    for result in left {
        let (text, images) = fit_images(&result.text, &result.images, about);
        let text = format!("Result of an earlier call of `{}`:\n{text}", result.name);
        turns.push(VendorTurn::User { text: text.into(), images });
    }
}

/// Adds error results for calls without one, such as those of an interrupted conversation.
fn close_calls<'a>(turns: &mut Vec<VendorTurn<'a>>, calls: &'a [RequestedCall]) {
    if !calls.is_empty() {
        turns.push(VendorTurn::Results(calls.iter().map(missing_result).collect()));
    }
}

fn missing_result(call: &RequestedCall) -> AnsweredCall<'_> {
    AnsweredCall {
        id: &call.id,
        name: &call.name,
        text: NO_RESULT.into(),
        images: Vec::new(),
        failed: true,
    }
}

/// Filters images by what the model accepts, and adds a note about the ones left out.
fn fit_images<'a>(
    text: &'a str,
    images: &'a [Image],
    about: &ModelInfo,
) -> (Cow<'a, str>, Vec<Picture<'a>>) {
    let (shown, why): (Vec<_>, _) = if about.images {
        (images.iter().filter_map(Picture::from_image).collect(), "no vendor accepts this format")
    } else {
        (Vec::new(), "this model does not accept images")
    };
    let note = match images.len() - shown.len() {
        0 => return (text.into(), shown),
        1 => format!("(A picture was left out: {why}.)"),
        many => format!("({many} pictures were left out: {why}.)"),
    };
    let text = if text.is_empty() { note } else { format!("{text}\n{note}") };
    (text.into(), shown)
}

impl<'a> Picture<'a> {
    /// Converts an image of an accepted type.
    fn from_image(image: &'a Image) -> Option<Self> {
        // Any other image makes vendors reject the conversation, in every later request too.
        let known = IMAGE_TYPES.iter().find(|(name, _)| image.mime.eq_ignore_ascii_case(name));
        let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
        let is_base64 = !image.data.is_empty() && image.data.bytes().all(is_digit);
        let (_, mime) = known.filter(|_| is_base64)?;
        Some(Self { mime, data: &image.data })
    }
}

/// Returns the arguments of a call, or an empty object if they are not an object.
pub(crate) fn arguments(call: &RequestedCall) -> Value {
    let read: Result<Value, _> = serde_json::from_str(&call.arguments);
    read.ok().filter(Value::is_object).unwrap_or_else(|| Value::Object(serde_json::Map::new()))
}

/// Returns the tool definitions of a request, or `None` if there are none.
pub(crate) fn tools(tools: &Value) -> Option<&Vec<Value>> {
    tools.as_array().filter(|tools| !tools.is_empty())
}

/// Merges the extra members of a profile into a body. `null` removes a member.
pub(crate) fn merge(body: &mut Value, extra: &serde_json::Map<String, Value>) {
    let Some(members) = body.as_object_mut() else { return };
    for (name, value) in extra {
        if value.is_null() {
            members.remove(name);
        } else {
            members.insert(name.clone(), value.clone());
        }
    }
}

#[cfg(test)]
#[path = "history_tests.rs"]
pub(crate) mod tests;
