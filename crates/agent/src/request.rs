//! The messages of a conversation, put so that a given model can read them.

use switchboard_prompting::{AskedCall, CallResult, Message, Request};

use crate::offer::Offer;
use crate::turn::words::fenced;

/// What the model is asked, with what it is offered.
pub(crate) fn request(offer: &Offer, messages: &[Message]) -> Request {
    let messages =
        if offer.native { messages.to_vec() } else { messages.iter().map(in_text).collect() };
    Request { system: offer.system.clone(), messages, tools: offer.tools(), ..Request::default() }
}

/// A message for a model that calls in text. Calls that another model made through its vendor's API
/// become words.
fn in_text(message: &Message) -> Message {
    match message {
        Message::Assistant { text, calls, .. } if !calls.is_empty() => {
            let mut parts: Vec<String> = calls.iter().map(written).collect();
            if !text.is_empty() {
                parts.insert(0, text.clone());
            }
            Message::Assistant { text: parts.join("\n\n"), calls: Vec::new(), kept: None }
        }
        Message::Results { results } => Message::User {
            text: results.iter().map(reported).collect::<Vec<_>>().join("\n\n"),
            images: results.iter().flat_map(|result| result.images.clone()).collect(),
        },
        other => other.clone(),
    }
}

fn written(call: &AskedCall) -> String {
    format!("[called {} with {}]", call.name, call.arguments)
}

fn reported(result: &CallResult) -> String {
    format!("[{}] Result:\n{}", result.name, fenced(&result.text))
}

/// A conversation as plain text, for a summary or for reading what was cut.
pub(crate) fn transcript(messages: &[Message]) -> String {
    let part = |message: &Message| match (message, in_text(message)) {
        // What servers sent is not what the person said, however it reads.
        (Message::Results { .. }, Message::User { text, .. }) => {
            format!("Results from servers:\n{text}\n")
        }
        (_, Message::User { text, .. }) => format!("User:\n{text}\n"),
        (_, Message::Assistant { text, .. }) => format!("Assistant:\n{text}\n"),
        (_, Message::Results { .. }) => String::new(),
    };
    messages.iter().map(part).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn native_calls_of_another_model_become_words() {
        let messages = [
            Message::User { text: "hi".to_owned(), images: Vec::new() },
            Message::Assistant {
                text: "I look.".to_owned(),
                calls: vec![AskedCall {
                    id: "1".to_owned(),
                    name: "files__read".to_owned(),
                    arguments: "{\"path\":\"a\"}".to_owned(),
                }],
                kept: None,
            },
            Message::Results {
                results: vec![CallResult {
                    id: "1".to_owned(),
                    name: "files__read".to_owned(),
                    text: "text".to_owned(),
                    images: Vec::new(),
                    failed: false,
                }],
            },
        ];
        assert_eq!(
            transcript(&messages),
            "User:\nhi\n\nAssistant:\nI look.\n\n[called files__read with {\"path\":\"a\"}]\n\n\
             Results from servers:\n[files__read] Result:\n```\ntext\n```\n"
        );
    }
}
