//! A conversation made fit to be sent: every call has a result, every result a call, nothing is
//! empty, and pictures are there only for a model that can look at them.

use std::borrow::Cow;
use std::collections::VecDeque;

use serde_json::Value;
use switchboard_prompting::{About, AskedCall, CallResult, Image, Message};

/// What stands where a conversation begins in the middle.
pub(crate) const BEGINNING: &str = "(The beginning of this conversation is not shown.)";
const NO_RESULT: &str = "Error:\nThis call was not made, or its result is lost.";

/// The kinds of pictures that vendors take, by the names that are used for them.
const KINDS: [(&str, &str); 5] = [
    ("image/png", "image/png"),
    ("image/jpeg", "image/jpeg"),
    ("image/jpg", "image/jpeg"),
    ("image/gif", "image/gif"),
    ("image/webp", "image/webp"),
];

/// A picture that a vendor takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Picture<'a> {
    pub(crate) mime: &'static str,
    /// Base64.
    pub(crate) data: &'a str,
}

/// One message, ready for a vendor.
#[derive(Debug, PartialEq)]
pub(crate) enum Turn<'a> {
    /// What a person said: text, pictures or both.
    User { text: Cow<'a, str>, images: Vec<Picture<'a>> },
    /// What the model said: text, calls, the vendor's own form, or several of them.
    Assistant { text: &'a str, calls: &'a [AskedCall], kept: Option<&'a Value> },
    /// One result for each call of the turn before, in their order.
    Results(Vec<Answered<'a>>),
}

/// The result of a call.
#[derive(Debug, PartialEq)]
pub(crate) struct Answered<'a> {
    pub(crate) id: &'a str,
    pub(crate) name: &'a str,
    pub(crate) text: Cow<'a, str>,
    pub(crate) images: Vec<Picture<'a>>,
    pub(crate) failed: bool,
}

/// The turns of a conversation.
pub(crate) fn turns<'a>(messages: &'a [Message], about: &About) -> Vec<Turn<'a>> {
    let mut turns = Vec::with_capacity(messages.len() + 1);
    let mut open: &[AskedCall] = &[];
    for message in messages {
        if let Message::Results { results } = message {
            take_results(&mut turns, std::mem::take(&mut open), results, about);
            continue;
        }
        close(&mut turns, std::mem::take(&mut open));
        match message {
            Message::User { text, images } => {
                let (text, images) = seen(text, images, about);
                if !text.trim().is_empty() || !images.is_empty() {
                    turns.push(Turn::User { text, images });
                }
            }
            Message::Assistant { text, calls, kept } => {
                let kept = kept.as_ref().filter(|kept| kept.provider == about.provider);
                let kept = kept.map(|kept| &kept.content);
                if !text.trim().is_empty() || !calls.is_empty() || kept.is_some() {
                    turns.push(Turn::Assistant { text, calls, kept });
                }
                open = calls;
            }
            Message::Results { .. } => {}
        }
    }
    close(&mut turns, open);
    if !matches!(turns.first(), Some(Turn::User { .. })) {
        turns.insert(0, Turn::User { text: BEGINNING.into(), images: Vec::new() });
    }
    turns
}

/// Gives the calls the results that belong to them; what belongs to none is told as text.
fn take_results<'a>(
    turns: &mut Vec<Turn<'a>>,
    calls: &'a [AskedCall],
    results: &'a [CallResult],
    about: &About,
) {
    let mut left: VecDeque<&CallResult> = results.iter().collect();
    let mut answered = Vec::with_capacity(calls.len());
    for call in calls {
        let place = left.iter().position(|result| result.id == call.id);
        answered.push(match place.and_then(|place| left.remove(place)) {
            Some(result) => {
                let (text, images) = seen(&result.text, &result.images, about);
                Answered { id: &call.id, name: &call.name, text, images, failed: result.failed }
            }
            None => lost(call),
        });
    }
    if !answered.is_empty() {
        turns.push(Turn::Results(answered));
    }
    for result in left {
        let (text, images) = seen(&result.text, &result.images, about);
        let text = format!("Result of an earlier call of `{}`:\n{text}", result.name);
        turns.push(Turn::User { text: text.into(), images });
    }
}

/// Calls that nobody answered, because the conversation was broken off there.
fn close<'a>(turns: &mut Vec<Turn<'a>>, calls: &'a [AskedCall]) {
    if !calls.is_empty() {
        turns.push(Turn::Results(calls.iter().map(lost).collect()));
    }
}

fn lost(call: &AskedCall) -> Answered<'_> {
    Answered {
        id: &call.id,
        name: &call.name,
        text: NO_RESULT.into(),
        images: Vec::new(),
        failed: true,
    }
}

/// Text and pictures as this model can take them, with a line about what it cannot take.
fn seen<'a>(text: &'a str, images: &'a [Image], about: &About) -> (Cow<'a, str>, Vec<Picture<'a>>) {
    let (shown, why): (Vec<_>, _) = if about.images {
        (images.iter().filter_map(Picture::of).collect(), "no model can look at this kind")
    } else {
        (Vec::new(), "this model cannot look at pictures")
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
    /// The picture, if it is of a kind that every vendor takes. Any other makes vendors refuse the
    /// whole conversation, now and ever after.
    fn of(image: &'a Image) -> Option<Self> {
        let known = KINDS.iter().find(|(name, _)| image.mime.eq_ignore_ascii_case(name));
        let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
        let is_base64 = !image.data.is_empty() && image.data.bytes().all(is_digit);
        let (_, mime) = known.filter(|_| is_base64)?;
        Some(Self { mime, data: &image.data })
    }
}

/// The arguments of a call as an object; what is none becomes an empty one.
pub(crate) fn arguments(call: &AskedCall) -> Value {
    let read: Result<Value, _> = serde_json::from_str(&call.arguments);
    read.ok().filter(Value::is_object).unwrap_or_else(|| Value::Object(serde_json::Map::new()))
}

/// The definitions of a request, unless there are none.
pub(crate) fn tools(tools: &Value) -> Option<&Vec<Value>> {
    tools.as_array().filter(|tools| !tools.is_empty())
}

/// Adds the members that a profile wants in every body. Null takes a member away.
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
