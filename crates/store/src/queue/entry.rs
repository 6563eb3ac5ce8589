//! One thing that waits for a person: what it is about, what binds an answer to it, how it stands.

use std::time::Duration;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use switchboard_core::{Risk, TargetKind};
use switchboard_text::Digest;

/// One thing that waits, or waited, for a person.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueEntry {
    /// A short name, to be typed.
    pub id: String,
    /// What an answer has to quote: the fingerprint of everything that it decides about.
    pub digest: String,
    pub asked: QueuedQuestion,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    /// The process that waits for the answer.
    pub owner: String,
    /// Whether that process has ended: the answer is kept for when the same is asked again.
    pub is_left: bool,
    pub state: EntryState,
}

/// How an entry stands. It leaves `Waiting` once, and for good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryState {
    /// Nobody has answered yet.
    Waiting,
    Answered {
        by: String,
        /// What they said, in one word.
        word: String,
    },
    /// The answer is of no use any more.
    Withdrawn { why: String },
    /// Nobody answered in time.
    Expired,
}

/// What waits, and whose it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Asked")]
pub struct QueuedQuestion {
    /// What it is about.
    pub matter: Matter,
    /// The number of the call, where that is known.
    pub call: Option<String>,
    /// The caller's own name for that call.
    pub reference: Option<String>,
    /// Who wants the call.
    pub caller: Option<String>,
}

impl QueuedQuestion {
    /// Whether its call may be made again after the process that asks has ended: a conversation is
    /// resumed, and a client comes back. So it goes on waiting, and the answer is kept for it.
    #[must_use]
    pub fn outlives_its_process(&self) -> bool {
        let origin = self.caller.as_deref().and_then(|caller| caller.split_once(", "));
        let is_of_client = origin.is_some_and(|(_, origin)| origin.starts_with("client:"));
        matches!(self.matter, Matter::Review(_)) && (self.reference.is_some() || is_of_client)
    }

    /// Whether it is the same question of the same caller; the digest tells what it is about.
    #[must_use]
    pub fn repeats(&self, earlier: &Self) -> bool {
        self.reference == earlier.reference && self.caller == earlier.caller
    }
}

/// What is to be decided. All texts are those of models and servers: escape them to show them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Matter {
    /// Whether a call may run.
    Review(ReviewMatter),
    /// What a server asks.
    Ask(AskMatter),
}

/// A call that may or may not run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewMatter {
    /// The server.
    pub server: String,
    /// Which kind of thing is called, in one word.
    pub kind: String,
    /// The tool, resource or prompt.
    pub target: String,
    /// The exact text of the arguments.
    pub arguments: String,
    /// The fingerprint of the definition that was shown to the model.
    pub definition: String,
    /// Why it is asked.
    pub why: String,
    /// What was wrong with the answer before.
    pub problem: Option<String>,
    /// How much harm it could do.
    #[serde(default)]
    pub risk: Risk,
}

/// What a server asks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AskMatter {
    /// The server.
    pub server: String,
    /// The tool, resource or prompt whose call needs it, where that is known.
    pub tool: Option<String>,
    /// What the server says about it.
    pub message: String,
    /// What it wants.
    pub wanted: AskedFor,
}

/// What a server wants.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AskedFor {
    /// A form to be filled in.
    Form {
        /// The very text of its schema.
        schema: String,
    },
    /// An address to be visited.
    Url {
        /// The whole address.
        url: String,
    },
    /// Something that only a yes or a no is needed for.
    Consent {
        /// What, in one word.
        name: String,
        /// All of it.
        details: Value,
    },
}

impl QueueEntry {
    /// How long it still waits.
    #[must_use]
    pub fn time_left(&self) -> Duration {
        let left = self.expires_at.as_microsecond() - Timestamp::now().as_microsecond();
        Duration::from_micros(u64::try_from(left).unwrap_or(0))
    }

    /// The id of the process that waits for the answer.
    #[must_use]
    pub fn process_id(&self) -> Option<u32> {
        self.owner.split('-').next()?.parse().ok()
    }
}

impl Matter {
    /// The fingerprint of everything that an answer decides about.
    #[must_use]
    pub fn digest(&self) -> String {
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

    /// The server that it is about.
    #[must_use]
    pub fn server(&self) -> &str {
        match self {
            Self::Review(review) => &review.server,
            Self::Ask(ask) => &ask.server,
        }
    }

    /// The tool, resource or prompt that it is about, where that is known.
    #[must_use]
    pub fn target(&self) -> Option<&str> {
        match self {
            Self::Review(review) => Some(&review.target),
            Self::Ask(ask) => ask.tool.as_deref(),
        }
    }

    /// What it is, in one word.
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
    /// Whether it is about a tool, which can be allowed once and for all.
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
