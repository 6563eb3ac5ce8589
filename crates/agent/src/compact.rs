//! Summarizes the beginning of a conversation that no longer fits into the context window.

use std::time::Duration;

use switchboard_prompting::{ChatMessage, ModelRequest};
use switchboard_store::SessionId;
use switchboard_text::truncate_middle;
use tokio::sync::mpsc;

use crate::conversation::ConversationParts;
use crate::request::transcript;
use crate::system::SUMMARISE;

/// How long the model may take for a summary.
const SUMMARY_TIMEOUT: Duration = Duration::from_secs(180);

/// Stores the full text under `handle` and summarizes it, with the model or, if that fails, from
/// the beginning of each message. Returns the handle only if the text was stored.
pub(crate) async fn summary(
    parts: &ConversationParts,
    session: &SessionId,
    handle: &str,
    messages: &[ChatMessage],
) -> (String, Option<String>) {
    let whole = transcript(messages);
    // A failure loses no data, since the steps are stored; only the model cannot read the text.
    let kept = parts.sessions.keep_text(session, handle, &whole).await.is_ok();
    let summary = summarise_with_model(parts, &whole).await.unwrap_or_else(|| beginnings(messages));
    (summary, kept.then(|| handle.to_owned()))
}

async fn summarise_with_model(parts: &ConversationParts, whole: &str) -> Option<String> {
    // A token is about four bytes, and half of the window is reserved for the summary.
    let room = parts.model.info().window * 2;
    let text =
        truncate_middle(whole, room).map_or_else(|| whole.to_owned(), |cut| cut.with_notice(None));
    let request = ModelRequest {
        system: SUMMARISE.to_owned(),
        messages: vec![ChatMessage::User { text, images: Vec::new() }],
        ..ModelRequest::default()
    };
    // The summary is not streamed, so the receiver is dropped at once.
    let (sender, _) = mpsc::channel(1);
    let answer = tokio::time::timeout(SUMMARY_TIMEOUT, parts.model.answer(&request, &sender)).await;
    let text = answer.ok()?.ok()?.text;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// Returns the beginning of each message. If there is not room for all, the newest are kept.
fn beginnings(messages: &[ChatMessage]) -> String {
    const MAX_LINE_CHARS: usize = 200;
    const MAX_SUMMARY_CHARS: usize = 6_000;
    let mut lines = Vec::new();
    let mut room = MAX_SUMMARY_CHARS;
    for message in messages.iter().rev() {
        let text = transcript(std::slice::from_ref(message)).replace('\n', " ");
        let line: String = text.chars().take(MAX_LINE_CHARS).collect();
        if line.len() > room {
            break;
        }
        room -= line.len();
        lines.push(format!("- {line}"));
    }
    lines.reverse();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_model_the_first_words_of_each_message_stand_for_it() {
        let user = |text: String| ChatMessage::User { text, images: Vec::new() };
        let short = [user("one".to_owned()), user("x".repeat(500))];
        let lines = beginnings(&short);
        assert_eq!(lines, format!("- User: one \n- User: {}", "x".repeat(194)));
        let many: Vec<ChatMessage> =
            (0..100).map(|number| user(format!("{number} {}", "y".repeat(500)))).collect();
        let lines = beginnings(&many);
        assert!(lines.len() < 7_000 && lines.contains("- User: 99 y") && !lines.contains(" 0 y"));
    }
}
