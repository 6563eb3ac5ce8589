//! Builds model requests from the messages of a conversation.

use switchboard_prompting::{CallResult, ChatMessage, ModelRequest, RequestedCall};

use crate::tool_offer::ToolOffer;
use crate::turn::texts::fence;

/// Builds a request with the tools offered to the model.
pub(crate) fn request(offer: &ToolOffer, messages: &[ChatMessage]) -> ModelRequest {
    let messages = if offer.native {
        messages.to_vec()
    } else {
        messages.iter().map(as_text_message).collect()
    };
    ModelRequest {
        system: offer.system.clone(),
        messages,
        tools: offer.tools(),
        ..ModelRequest::default()
    }
}

/// Converts a message for a model that calls tools in its text, with native calls as text.
fn as_text_message(message: &ChatMessage) -> ChatMessage {
    match message {
        ChatMessage::Assistant { text, calls, .. } if !calls.is_empty() => {
            let mut parts: Vec<String> = calls.iter().map(call_text).collect();
            if !text.is_empty() {
                parts.insert(0, text.clone());
            }
            // The vendor's own message would repeat the calls in its format.
            ChatMessage::Assistant { text: parts.join("\n\n"), calls: Vec::new(), kept: None }
        }
        ChatMessage::Results { results } => ChatMessage::User {
            text: results.iter().map(result_text).collect::<Vec<_>>().join("\n\n"),
            images: results.iter().flat_map(|result| result.images.clone()).collect(),
        },
        other => other.clone(),
    }
}

fn call_text(call: &RequestedCall) -> String {
    format!("[called {} with {}]", call.name, call.arguments)
}

fn result_text(result: &CallResult) -> String {
    format!("[{}] Result:\n{}", result.name, fence(&result.text))
}

/// Formats a conversation as plain text, for a summary or for reading the part that was cut.
pub(crate) fn transcript(messages: &[ChatMessage]) -> String {
    let part = |message: &ChatMessage| match (message, as_text_message(message)) {
        // Results are labelled as such, so that they cannot pass for the user's words.
        (ChatMessage::Results { .. }, ChatMessage::User { text, .. }) => {
            format!("Results from servers:\n{text}\n")
        }
        (_, ChatMessage::User { text, .. }) => format!("User:\n{text}\n"),
        (_, ChatMessage::Assistant { text, .. }) => format!("Assistant:\n{text}\n"),
        (_, ChatMessage::Results { .. }) => String::new(),
    };
    messages.iter().map(part).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn native_calls_of_another_model_become_words() {
        let messages = [
            ChatMessage::User { text: "hi".to_owned(), images: Vec::new() },
            ChatMessage::Assistant {
                text: "I look.".to_owned(),
                calls: vec![RequestedCall {
                    id: "1".to_owned(),
                    name: "files__read".to_owned(),
                    arguments: "{\"path\":\"a\"}".to_owned(),
                }],
                kept: None,
            },
            ChatMessage::Results {
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
