//! Converts outcomes of calls to results of the schema.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use switchboard_core::{Item, Outcome, OutcomeKind, Reply};
use switchboard_prompting::Vision;
use tonic::Status;

use crate::generated::agent::v1::mcp_result::Result as Ended;
use crate::generated::agent::v1::mcp_tool_result_content_item::Content;
use crate::generated::agent::v1::{
    FileLocation, McpError, McpImageContent, McpPermissionDenied, McpRejected, McpResult,
    McpSuccess, McpTextContent, McpToolResultContentItem,
};
use crate::outputs::{Outputs, SpilledTexts, file_notice};
use crate::values::to_struct;

/// The converted outcome of a tool call.
pub(crate) struct ToolReply {
    pub(crate) result: McpResult,
    /// The server's result, with notices where texts were moved to files.
    pub(crate) value: Option<Value>,
}

/// Converts the outcome of a tool call; long texts are moved to files.
pub(crate) fn tool_reply(outcome: &Outcome, outputs: &Outputs) -> Result<ToolReply, Status> {
    let ended = match EditorStatus::from(outcome.kind) {
        EditorStatus::Success => return success(outcome, outputs),
        EditorStatus::Error => Ended::Error(McpError {
            error: failure_text(outcome),
            needs_auth: outcome.reason.as_deref() == Some("needs_login"),
        }),
        EditorStatus::Rejected => Ended::Rejected(McpRejected {
            reason: outcome.message.clone().unwrap_or_else(|| DEFAULT_REJECTION.to_owned()),
            is_readonly: false,
        }),
        EditorStatus::PermissionDenied => Ended::PermissionDenied(McpPermissionDenied {
            error: failure_text(outcome),
            is_readonly: outcome.is_read_only(),
        }),
    };
    Ok(ToolReply { result: McpResult { result: Some(ended) }, value: None })
}

/// The reason of a rejection if the user gave none.
const DEFAULT_REJECTION: &str = "the user rejected the call";

pub(crate) fn failure_text(outcome: &Outcome) -> String {
    let message = outcome.message.clone();
    message.unwrap_or_else(|| format!("the call ended as `{}`", outcome.kind.as_str()))
}

fn success(outcome: &Outcome, outputs: &Outputs) -> Result<ToolReply, Status> {
    let text = result_text(outcome);
    let mut value: Value = serde_json::from_str(&text)
        .map_err(|error| Status::internal(format!("the result is not JSON: {error}")))?;
    let moved = outputs.spill_long_texts(&mut value).map_err(|error| {
        // The call has run, so the error must say that only its result was lost.
        Status::internal(format!("the call ran, but its output cannot be stored: {error}"))
    })?;
    let reply = Reply::from_json(&value.to_string())
        .map_err(|error| Status::internal(error.to_string()))?;
    let structured = value.get("structuredContent").and_then(Value::as_object);
    let success = McpSuccess {
        content: content(&reply, moved),
        is_error: reply.is_error,
        structured_content: structured.map(to_struct),
    };
    let result = McpResult { result: Some(Ended::Success(success)) };
    Ok(ToolReply { result, value: Some(value) })
}

pub(crate) fn result_text(outcome: &Outcome) -> String {
    let bytes = outcome.result.as_deref().unwrap_or_default();
    String::from_utf8_lossy(bytes).into_owned()
}

fn content(reply: &Reply, moved: SpilledTexts) -> Vec<McpToolResultContentItem> {
    let places = moved.places.into_iter().chain(std::iter::repeat(None));
    let mut content: Vec<_> =
        reply.items.iter().zip(places).map(|(item, place)| content_item(item, place)).collect();
    if let Some(location) = moved.structured {
        content.push(text_item(file_notice(&location), Some(location)));
    // Editors show the content, so a result that is only structured would look empty.
    } else if content.is_empty()
        && let Some(structured) = &reply.structured
    {
        content.push(text_item(structured.clone(), None));
    }
    content
}

/// Converts a content item. Kinds without a form in the schema become text, as for a model.
pub(crate) fn content_item(item: &Item, place: Option<FileLocation>) -> McpToolResultContentItem {
    // An image that does not decode is described in words below.
    if let Item::Image { mime, data } = item
        && let Ok(data) = STANDARD.decode(data.trim())
    {
        let image = McpImageContent { data, mime_type: mime.clone() };
        return McpToolResultContentItem { content: Some(Content::Image(image)) };
    }
    match item {
        Item::Text(said) => text_item(said.clone(), place),
        // The text is the notice about the file; nothing needs to be added.
        Item::Resource { text: Some(said), .. } if place.is_some() => {
            text_item(said.clone(), place)
        }
        other => {
            let alone = Reply { items: vec![other.clone()], ..Reply::default() };
            text_item(switchboard_prompting::for_model(&alone, Vision::No).text, place)
        }
    }
}

fn text_item(text: String, output_location: Option<FileLocation>) -> McpToolResultContentItem {
    let text = McpTextContent { text, output_location };
    McpToolResultContentItem { content: Some(Content::Text(text)) }
}

/// The four outcomes that editors distinguish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EditorStatus {
    /// There is a result, which may report a tool error.
    Success,
    Error,
    /// Rejected by a person.
    Rejected,
    /// Denied by a rule.
    PermissionDenied,
}

impl From<OutcomeKind> for EditorStatus {
    fn from(kind: OutcomeKind) -> Self {
        match kind {
            // A tool that reports an error has run, and its report is the result.
            OutcomeKind::Ok | OutcomeKind::ToolError => Self::Success,
            OutcomeKind::Rejected => Self::Rejected,
            OutcomeKind::Denied => Self::PermissionDenied,
            OutcomeKind::NotSent
            | OutcomeKind::Refused
            | OutcomeKind::Failed
            | OutcomeKind::Unknown
            | OutcomeKind::Cancelled
            | OutcomeKind::InvalidOutput => Self::Error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::EditorStatus::{Error, PermissionDenied, Rejected, Success};
    use super::*;

    fn outputs() -> Outputs {
        Outputs { folder: "/nowhere".into(), threshold_bytes: 1_000, name: "1".to_owned() }
    }

    fn told(outcome: &Outcome) -> Ended {
        tool_reply(outcome, &outputs()).unwrap().result.result.unwrap()
    }

    #[test]
    fn every_outcome_is_one_of_four() {
        let denied = Outcome::denied("rule", "`deny x` says no");
        let read_only = Outcome::denied(Outcome::READ_ONLY, "it may change something");
        let login = Outcome::refused("needs_login", "a login is needed");
        let error = |error: &str, needs_auth| {
            Ended::Error(McpError { error: error.to_owned(), needs_auth })
        };
        let denial = |error: &str, is_readonly| {
            Ended::PermissionDenied(McpPermissionDenied { error: error.to_owned(), is_readonly })
        };
        let rejected = |reason: &str| {
            Ended::Rejected(McpRejected { reason: reason.to_owned(), is_readonly: false })
        };
        let cases = [
            (denied, denial("`deny x` says no", false)),
            (read_only, denial("it may change something", true)),
            (login, error("a login is needed", true)),
            (Outcome::new(OutcomeKind::Cancelled), error("the call ended as `cancelled`", false)),
            (Outcome::rejected(None), rejected("the user rejected the call")),
            (Outcome::rejected(Some("use the copy".to_owned())), rejected("use the copy")),
        ];
        for (outcome, expected) in cases {
            assert_eq!(told(&outcome), expected);
        }
    }

    #[test]
    fn a_result_becomes_texts_and_pictures() {
        let json = r#"{"content":[{"type":"text","text":"a"},
        {"type":"image","data":"iVBO","mimeType":"image/png"},
        {"type":"audio","data":"AAAA","mimeType":"audio/wav"}],
        "structuredContent":{"n":1},"isError":true}"#;
        let outcome = Outcome::tool_error(json.into());
        let image = McpImageContent { data: b"\x89PN".into(), mime_type: "image/png".to_owned() };
        let expected = McpSuccess {
            content: vec![
                text_item("a".to_owned(), None),
                McpToolResultContentItem { content: Some(Content::Image(image)) },
                text_item(
                    "[audio, audio/wav, 3 B: it was kept for the user and is not shown here]"
                        .to_owned(),
                    None,
                ),
            ],
            is_error: true,
            structured_content: crate::values::parse_struct(r#"{"n":1}"#),
        };
        assert_eq!(told(&outcome), Ended::Success(expected));
    }

    #[test]
    fn an_editor_sees_four_states() {
        let seen = OutcomeKind::ALL.map(EditorStatus::from);
        assert_eq!(
            seen,
            [
                Success, Success, PermissionDenied, Rejected, Error, Error, Error, Error, Error,
                Error
            ]
        );
    }
}
