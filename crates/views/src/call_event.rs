//! Updates that a running instance sends about a call: one JSON object per line.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use switchboard_core::OutcomeKind;
use switchboard_store::{Matter, QueuedQuestion, Record};
use switchboard_text::redact_text;

/// One thing that happened. Whoever reads it passes over what it does not know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Told")]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum CallUpdate {
    /// The call is under way; this comes first.
    Began {
        /// Its name for answers and for giving it up.
        call: String,
    },
    /// How far the server says it is.
    Progress {
        /// The server's report.
        report: Value,
    },
    /// A person is asked.
    Asked {
        /// Its number, for the answer.
        question: u64,
        /// What is asked.
        asked: QueuedQuestion,
        /// Why it will be asked again all the same, whatever is said for the future.
        anyway: Option<String>,
    },
    /// A question is not asked any more.
    Over {
        /// Its number.
        question: u64,
    },
    /// Something waits for a person at another face.
    Waits {
        /// Its name in the queue.
        id: String,
        /// What it is about.
        matter: Matter,
    },
    /// A question was answered at another face.
    AnsweredElsewhere {
        /// Who.
        by: String,
        /// What they said, in one word.
        word: String,
    },
    /// Nobody answered in time.
    Expired,
    /// A server asked something, and nobody can be asked.
    Declined {
        /// The server.
        server: String,
        /// What it asked.
        message: String,
    },
    /// What a server asked was turned down unasked.
    TurnedDown {
        /// The server.
        server: String,
        /// Why.
        why: String,
    },
    /// What a server wanted done at an address is done, as it says.
    Completed {
        /// The server.
        server: String,
    },
    /// Nothing happened for a while.
    Alive,
    /// The call has ended; nothing comes after it.
    Ended(CallEnded),
    /// Something that only a newer program tells.
    #[serde(other)]
    Unknown,
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CallEnded {
    /// Its number in the record.
    pub id: Option<String>,
    /// Whether it is in the record.
    pub recorded: bool,
    /// The one word.
    pub outcome: OutcomeKind,
    /// A machine word that narrows it down.
    pub reason: Option<String>,
    /// A sentence for a person.
    pub message: Option<String>,
    /// What to do next.
    pub hint: Option<String>,
    /// How long it took.
    pub microseconds: u64,
    /// The JSON text of the result, to the letter as the server sent it.
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
