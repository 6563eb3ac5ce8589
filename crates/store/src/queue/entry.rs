//! Entries of the review queue: the question, the digest that binds an answer to it, and the state.

use std::time::Duration;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use switchboard_core::{Risk, TargetKind};
use switchboard_text::Digest;

/// A question to a person, pending or ended.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueEntry {
    /// Short id that a person can type.
    pub id: String,
    /// Digest of everything that an answer decides about. An answer must quote it.
    pub digest: String,
    pub asked: QueuedQuestion,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    /// The process that waits for the answer.
    pub owner: String,
    /// Whether that process has ended; an answer is then stored until the question is asked again.
    pub is_left: bool,
    pub state: EntryState,
}

/// The state of an entry. `Waiting` is left once, and never entered again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryState {
    Waiting,
    Answered {
        by: String,
        /// The decision as one word.
        word: String,
    },
    /// The answer is no longer needed.
    Withdrawn {
        why: String,
    },
    /// The entry was not answered in time.
    Expired,
}

/// A question that waits for a person, and its origin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Asked")]
pub struct QueuedQuestion {
    /// The decision that the person has to make.
    pub matter: Matter,
    /// The number of the call, if known.
    pub call: Option<String>,
    /// The caller's own name for that call.
    pub reference: Option<String>,
    /// The caller that wants the call.
    pub caller: Option<String>,
}

impl QueuedQuestion {
    /// Returns whether the call may be repeated after the asking process has ended: a conversation
    /// is resumed, or a client retries. The entry then stays pending, and its answer is stored.
    #[must_use]
    pub fn outlives_its_process(&self) -> bool {
        let origin = self.caller.as_deref().and_then(|caller| caller.split_once(", "));
        let is_of_client = origin.is_some_and(|(_, origin)| origin.starts_with("client:"));
        matches!(self.matter, Matter::Review(_)) && (self.reference.is_some() || is_of_client)
    }

    /// Returns whether the caller and the reference are the same; digests compare the content.
    #[must_use]
    pub fn repeats(&self, earlier: &Self) -> bool {
        self.reference == earlier.reference && self.caller == earlier.caller
    }
}

/// The decision to make. All texts come from models and servers, so escape them for display.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Matter {
    /// Whether a call may run.
    Review(ReviewMatter),
    /// The answer to a server's question.
    Ask(AskMatter),
}

/// A call that needs approval before it runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewMatter {
    /// Name of the server that the call is sent to.
    pub server: String,
    /// The kind of the target as one word.
    pub kind: String,
    /// Name of the tool or prompt, or URI of the resource.
    pub target: String,
    /// The exact text of the arguments.
    pub arguments: String,
    /// The fingerprint of the definition that was shown to the model.
    pub definition: String,
    /// Why the call needs approval.
    pub why: String,
    /// Why the previous answer was rejected.
    pub problem: Option<String>,
    /// The estimated risk of the call.
    #[serde(default)]
    pub risk: Risk,
}

/// A question of a server to the user (elicitation).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AskMatter {
    /// Name of the server that asks.
    pub server: String,
    /// The tool, resource or prompt whose call needs the answer, if known.
    pub tool: Option<String>,
    /// The server's explanation of the question.
    pub message: String,
    /// The kind of answer that the server wants.
    pub wanted: AskedFor,
}

/// The kind of answer that a server wants.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AskedFor {
    /// A form to fill in.
    Form {
        /// The schema of the form, exactly as sent.
        schema: String,
    },
    /// A URL to visit.
    Url {
        /// The full URL to visit.
        url: String,
    },
    /// A request to confirm with yes or no.
    Consent {
        /// The kind of request as one word.
        name: String,
        /// The full request as JSON.
        details: Value,
    },
}

impl QueueEntry {
    /// Returns the time until the entry expires.
    #[must_use]
    pub fn time_left(&self) -> Duration {
        let left = self.expires_at.as_microsecond() - Timestamp::now().as_microsecond();
        Duration::from_micros(u64::try_from(left).unwrap_or(0))
    }

    /// Returns the id of the process that waits for the answer.
    #[must_use]
    pub fn process_id(&self) -> Option<u32> {
        self.owner.split('-').next()?.parse().ok()
    }
}

impl Matter {
    /// Returns the digest of everything that an answer decides about.
    #[must_use]
    pub fn digest(&self) -> String {
        // The reason and the risk are left out: they do not change what is decided about.
        match self {
            Self::Review(review) => Digest::new("review")
                .with(&review.server)
                .with(&review.kind)
                .with(&review.target)
                .with(&review.definition)
                .with(&review.arguments)
                .hex(),
            Self::Ask(ask) => {
                let about = Digest::new("ask").with(&ask.server).with(&ask.message);
                match &ask.wanted {
                    AskedFor::Form { schema } => about.with("form").with(schema),
                    AskedFor::Url { url } => about.with("url").with(url),
                    AskedFor::Consent { name, details } => {
                        about.with("consent").with(name).with(&details.to_string())
                    }
                }
                .hex()
            }
        }
    }

    /// Returns the server of the call or question.
    #[must_use]
    pub fn server(&self) -> &str {
        match self {
            Self::Review(review) => &review.server,
            Self::Ask(ask) => &ask.server,
        }
    }

    /// Returns the tool, resource or prompt, if known.
    #[must_use]
    pub fn target(&self) -> Option<&str> {
        match self {
            Self::Review(review) => Some(&review.target),
            Self::Ask(ask) => ask.tool.as_deref(),
        }
    }

    /// Returns the kind of the question as one word.
    #[must_use]
    pub fn word(&self) -> &str {
        match self {
            Self::Review(_) => "review",
            Self::Ask(ask) => match &ask.wanted {
                AskedFor::Form { .. } => "form",
                AskedFor::Url { .. } => "url",
                AskedFor::Consent { name, .. } => name,
            },
        }
    }
}

impl ReviewMatter {
    /// Returns whether the call is to a tool. Only tools can be allowed permanently.
    #[must_use]
    pub fn is_tool(&self) -> bool {
        self.kind == TargetKind::Tool.as_str()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn review(target: &str, arguments: &str, definition: &str) -> Matter {
        Matter::Review(ReviewMatter {
            server: "files".to_owned(),
            kind: "tool".to_owned(),
            target: target.to_owned(),
            arguments: arguments.to_owned(),
            definition: definition.to_owned(),
            why: "no rule allows it".to_owned(),
            problem: None,
            risk: Risk::default(),
        })
    }

    #[test]
    fn the_digest_holds_the_target_the_arguments_and_the_definition_together() {
        let all = [
            review("write", "{}", "d"),
            review("write", "{ }", "d"),
            review("write", "{}", "e"),
            review("writ", "e{}", "d"),
        ];
        let digests: Vec<String> = all.iter().map(Matter::digest).collect();
        for (at, digest) in digests.iter().enumerate() {
            assert!(!digests[..at].contains(digest), "{at}");
        }
        let mut other = review("write", "{}", "d");
        if let Matter::Review(review) = &mut other {
            review.why = "another reason".to_owned();
        }
        assert_eq!(other.digest(), digests[0], "why it is asked is not what is decided");
    }
}
