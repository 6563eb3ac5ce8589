//! Updates that a running instance sends about a call: one JSON object per line.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use switchboard_core::OutcomeKind;
use switchboard_store::{Matter, QueuedQuestion, Record};
use switchboard_text::redact_text;

/// An update about a call in flight. Readers ignore events that they do not know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Told")]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum CallUpdate {
    /// The call has started. Always the first event.
    Began {
        /// Id of the call for answers and for cancelling it.
        call: String,
    },
    /// Progress that the server reported.
    Progress {
        /// Parameters of the server's progress notification.
        report: Value,
    },
    /// The call asks this program's user.
    Asked {
        /// Number of the question, which the answer quotes.
        question: u64,
        /// Question with its subject.
        asked: QueuedQuestion,
        /// Reason why an approval for the future has no effect here, if it has none.
        anyway: Option<String>,
    },
    /// A question no longer needs an answer.
    Over {
        /// Number of the question.
        question: u64,
    },
    /// A question waits in the review queue.
    Waits {
        /// Id of the entry in the review queue.
        id: String,
        /// Subject of the question.
        matter: Matter,
    },
    /// A question was answered at another face.
    AnsweredElsewhere {
        /// Face or person that answered.
        by: String,
        /// Answer in one word.
        word: String,
    },
    /// The question expired without an answer.
    Expired,
    /// An elicitation was declined because no person can be asked.
    Declined {
        /// Name of the server.
        server: String,
        /// Message of the elicitation.
        message: String,
    },
    /// An elicitation was rejected without asking a person.
    TurnedDown {
        /// Name of the server.
        server: String,
        /// Reason for the rejection.
        why: String,
    },
    /// The server reports that a URL elicitation is complete.
    Completed {
        /// Name of the server.
        server: String,
    },
    /// Heartbeat of a stream without other events.
    Alive,
    /// The call has ended. Always the last event.
    Ended(CallEnded),
    /// An event of a newer version.
    #[serde(other)]
    Unknown,
}

/// The outcome of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CallEnded {
    /// Id of the call in the record.
    pub id: Option<String>,
    /// Whether the call is recorded.
    pub recorded: bool,
    /// Outcome in one word.
    pub outcome: OutcomeKind,
    /// Machine-readable reason for the outcome.
    pub reason: Option<String>,
    /// Error message for a person.
    pub message: Option<String>,
    /// Suggested next step, if there is one.
    pub hint: Option<String>,
    /// Duration of the call in microseconds.
    pub microseconds: u64,
    /// JSON text of the result, exactly as the server sent it.
    pub result: Option<String>,
}

impl From<Record> for CallEnded {
    fn from(record: Record) -> Self {
        let outcome = record.outcome;
        // Redact here: the program at the other end does not know the secrets of this instance.
        let shown = |text: String| redact_text(&text).into_owned();
        Self {
            id: record.id.map(|id| id.to_string()),
            recorded: record.recorded,
            outcome: outcome.kind,
            reason: outcome.reason,
            message: outcome.message.map(shown),
            hint: outcome.hint,
            microseconds: u64::try_from(record.duration.as_micros()).unwrap_or(u64::MAX),
            // A string, not a JSON value: re-serializing could change numbers and key order.
            result: outcome.result.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_reads_back_to_the_letter_and_news_of_later_times_is_passed_over() {
        let ended = CallUpdate::Ended(CallEnded {
            id: Some("7".to_owned()),
            recorded: true,
            outcome: OutcomeKind::ToolError,
            reason: None,
            message: Some("it \"failed\"".to_owned()),
            hint: None,
            microseconds: 1_500,
            result: Some("{\n  \"a\" : 1.50, \"b\": \"\\u00e9\u{2028}\" }".to_owned()),
        });
        let line = serde_json::to_string(&ended).unwrap();
        assert!(!line.contains('\n'), "{line}");
        assert_eq!(serde_json::from_str::<CallUpdate>(&line).unwrap(), ended);
        let later = r#"{"event":"danced","with":"whom"}"#;
        assert_eq!(serde_json::from_str::<CallUpdate>(later).unwrap(), CallUpdate::Unknown);
    }
}
