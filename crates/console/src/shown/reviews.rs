//! What waits for a person: calls to be decided and questions of servers.

use serde::Serialize;
use serde_json::Value;
use switchboard_host::review::{AskedFor, Entry, Matter};

use crate::console::Console;
use crate::reply::Problem;

/// Something that waits.
#[derive(Debug, Serialize)]
pub(crate) struct ReviewShown {
    pub(crate) id: String,
    /// What an answer has to quote.
    pub(crate) digest: String,
    /// `review`, `form`, `url` or what else is wanted.
    pub(crate) kind: String,
    pub(crate) server: String,
    pub(crate) target: Option<String>,
    pub(crate) caller: Option<String>,
    pub(crate) call: Option<String>,
    pub(crate) created_at: String,
    pub(crate) seconds_left: u64,
    #[serde(flatten)]
    pub(crate) wanted: Wanted,
}

/// What is to be decided.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Wanted {
    /// Whether a call may run.
    Call {
        /// The exact text of its arguments.
        arguments: String,
        why: String,
        problem: Option<String>,
        /// Whether it can be allowed for good.
        can_always: bool,
    },
    /// What to fill in.
    Form { message: String, schema: Value },
    /// Where to go.
    Address { message: String, url: String },
    /// Whether something may be done.
    Consent { message: String, details: Value },
}

/// What waits, the oldest first.
pub(crate) async fn reviews(console: &Console) -> Result<Vec<ReviewShown>, Problem> {
    let listed = console.host.waiting().list().await;
    let listed = listed.map_err(|error| Problem::trouble(error.to_string()))?;
    Ok(listed.into_iter().map(shown).collect())
}

fn shown(entry: Entry) -> ReviewShown {
    let seconds_left = entry.left().as_secs();
    let matter = entry.asked.matter;
    let (kind, server) = (matter.word().to_owned(), matter.server().to_owned());
    let target = matter.target().map(str::to_owned);
    let wanted = match matter {
        Matter::Review(review) => Wanted::Call {
            can_always: review.is_tool(),
            arguments: review.arguments,
            why: review.why,
            problem: review.problem,
        },
        Matter::Ask(ask) => {
            let message = ask.message;
            match ask.wanted {
                AskedFor::Form { schema } => {
                    let schema = serde_json::from_str(&schema).unwrap_or_default();
                    Wanted::Form { message, schema }
                }
                AskedFor::Url { url } => Wanted::Address { message, url },
                AskedFor::Consent { details, .. } => Wanted::Consent { message, details },
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
        wanted,
    }
}
