//! View models of the review queue: calls that need approval, and elicitations.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use switchboard_core::Risk;
use switchboard_host::{Host, UrlAsk};
use switchboard_json::property_names;
use switchboard_store::{AskedFor, Matter, QueueEntry, QueuedQuestion, SessionId};

use crate::error::ViewError;

/// An entry in the review queue.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReviewShown {
    /// Id of the entry in the review queue.
    pub id: String,
    /// Digest that an answer must quote.
    pub digest: String,
    /// Kind of the entry, such as `review`, `form` or `url`.
    pub kind: String,
    /// Server that the entry is about.
    pub server: String,
    /// Name of the tool, prompt or resource, if known.
    pub target: Option<String>,
    /// Caller, as `kind:name`, if known.
    pub caller: Option<String>,
    /// Id of the call in the record.
    pub call: Option<String>,
    /// Id of the conversation whose call it is about.
    pub session: Option<String>,
    /// Time at which the entry was queued.
    pub created_at: String,
    /// Seconds until the entry expires.
    pub seconds_left: u64,
    /// Whether the asking program has ended. The answer is then stored for an identical call.
    pub program_ended: bool,
    #[serde(flatten)]
    pub wanted: ReviewSubject,
}

/// The subject of a review queue entry.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "Wanted")]
pub enum ReviewSubject {
    /// A call that needs approval.
    Call {
        /// Exact text of the arguments.
        arguments: String,
        /// Reason why approval is needed.
        why: String,
        /// Problem with the call, such as invalid arguments.
        problem: Option<String>,
        /// Risk from 0 to 100, with reasons.
        risk: Risk,
        /// Whether the answer `always` is possible.
        can_always: bool,
    },
    /// A form to fill in (form elicitation).
    Form {
        /// Message from the server.
        message: String,
        /// JSON Schema of the form.
        schema: Value,
        /// Names of the fields in the server's order.
        order: Vec<String>,
    },
    /// A URL to visit (URL elicitation).
    Address {
        /// Message from the server.
        message: String,
        /// URL that the server sent.
        url: String,
        /// Registrable domain of the URL; absent if the URL must not be opened.
        domain: Option<String>,
        /// Warnings to show with the URL.
        warnings: Vec<String>,
    },
    /// A request for consent.
    Consent {
        /// Question to the person.
        message: String,
        /// Details of the request.
        details: Value,
    },
}

/// Returns the review queue, oldest entry first.
pub async fn reviews(host: &Host) -> Result<Vec<ReviewShown>, ViewError> {
    Ok(host.reviews().list().await?.into_iter().map(review_view).collect())
}

fn review_view(entry: QueueEntry) -> ReviewShown {
    let seconds_left = entry.time_left().as_secs();
    let session = session_id(&entry.asked);
    let matter = entry.asked.matter;
    let kind = matter.word().to_owned();
    let server = matter.server().to_owned();
    let target = matter.target().map(str::to_owned);
    let wanted = match matter {
        Matter::Review(review) => ReviewSubject::Call {
            // Only tools have an entry in `autoApprove`.
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
                    // A parsed object loses the order of its members, which the form shows.
                    let order = property_names(&schema);
                    let schema = serde_json::from_str(&schema).unwrap_or_default();
                    ReviewSubject::Form { message, schema, order }
                }
                AskedFor::Url { url } => {
                    let (domain, warnings) = match UrlAsk::parse(&url) {
                        Ok(UrlAsk { domain, warnings, .. }) => (Some(domain), warnings),
                        // Without a domain, pages show the URL as text and offer no link to it.
                        Err(bad) => (None, vec![bad.to_string()]),
                    };
                    ReviewSubject::Address { message, url, domain, warnings }
                }
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
        session,
        caller: entry.asked.caller,
        call: entry.asked.call,
        created_at: entry.created_at.to_string(),
        seconds_left,
        program_ended: entry.is_left,
        wanted,
    }
}

/// Returns the conversation that made a call: its reference is `session/step/slot`.
fn session_id(asked: &QueuedQuestion) -> Option<String> {
    // Clients choose references too, and must not place their questions in a conversation.
    let (_face, origin) = asked.caller.as_deref()?.split_once(", ")?;
    origin.strip_prefix("model:")?;
    let (session, _) = asked.reference.as_deref()?.split_once('/')?;
    session.parse::<SessionId>().is_ok().then(|| session.to_owned())
}
