//! What waits for a person: calls to be decided and questions of servers.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use switchboard_core::Risk;
use switchboard_host::{Host, UrlAsk};
use switchboard_json::property_names;
use switchboard_store::{AskedFor, Matter, QueueEntry};

use crate::error::ViewError;

/// Something that waits.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReviewShown {
    /// Its name in the queue.
    pub id: String,
    /// What an answer has to quote.
    pub digest: String,
    /// `review`, `form`, `url` or what else is wanted.
    pub kind: String,
    /// The server that it is about.
    pub server: String,
    /// What is called there, where that is known.
    pub target: Option<String>,
    /// Who called.
    pub caller: Option<String>,
    /// The number of the call in the record.
    pub call: Option<String>,
    /// Since when it waits.
    pub created_at: String,
    /// As long it waits yet.
    pub seconds_left: u64,
    /// Whether the program that asks has ended: the answer is kept for when the same is asked again.
    pub program_ended: bool,
    /// The question itself.
    #[serde(flatten)]
    pub wanted: ReviewSubject,
}

/// What is to be decided.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "Wanted")]
pub enum ReviewSubject {
    /// Whether a call may run.
    Call {
        /// The exact text of its arguments.
        arguments: String,
        /// Why a person is asked.
        why: String,
        /// What is wrong with the call.
        problem: Option<String>,
        /// How much harm it could do, from 0 to 100, and why.
        risk: Risk,
        /// Whether it can be allowed for good.
        can_always: bool,
    },
    /// What to fill in.
    Form {
        /// The server's words.
        message: String,
        /// The schema of what is to be filled in.
        schema: Value,
        /// The names of its fields in the server's order.
        order: Vec<String>,
    },
    /// Where to go.
    Address {
        /// The server's words.
        message: String,
        /// The address.
        url: String,
        /// The part of its name that somebody has registered.
        domain: Option<String>,
        /// What to beware of.
        warnings: Vec<String>,
    },
    /// Whether something may be done.
    Consent {
        /// What is asked.
        message: String,
        /// What it is about.
        details: Value,
    },
}

/// What waits, the oldest first.
pub async fn reviews(host: &Host) -> Result<Vec<ReviewShown>, ViewError> {
    Ok(host.reviews().list().await?.into_iter().map(review_view).collect())
}

fn review_view(entry: QueueEntry) -> ReviewShown {
    let seconds_left = entry.time_left().as_secs();
    let program_ended = entry.is_left;
    let matter = entry.asked.matter;
    let kind = matter.word().to_owned();
    let server = matter.server().to_owned();
    let target = matter.target().map(str::to_owned);
    let wanted = match matter {
        Matter::Review(review) => ReviewSubject::Call {
            can_always: review.is_tool(),
            arguments: review.arguments,
            why: review.why,
            problem: review.problem,
            risk: review.risk,
        },
        Matter::Ask(ask) => {
            let message = ask.message;
            match ask.wanted {
                AskedFor::Form { schema } => {
                    let order = property_names(&schema);
                    let schema = serde_json::from_str(&schema).unwrap_or_default();
                    ReviewSubject::Form { message, schema, order }
                }
                AskedFor::Url { url } => match UrlAsk::parse(&url) {
                    Ok(UrlAsk { domain, warnings, .. }) => {
                        ReviewSubject::Address { message, url, domain: Some(domain), warnings }
                    }
                    // Nobody should go there, so there is no way to.
                    Err(bad) => {
                        let warnings = vec![bad.to_string()];
                        ReviewSubject::Address { message, url, domain: None, warnings }
                    }
                },
                AskedFor::Consent { details, .. } => ReviewSubject::Consent { message, details },
            }
        }
    };
    ReviewShown {
        id: entry.id,
        digest: entry.digest,
        kind,
        server,
        target,
        caller: entry.asked.caller,
        call: entry.asked.call,
        created_at: entry.created_at.to_string(),
        seconds_left,
        program_ended,
        wanted,
    }
}
