//! Calls that a server runs only after the user has visited a URL (error -32042).

use std::collections::BTreeSet;
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use switchboard_core::{Event, EventKind, Outcome};
use switchboard_fleet::ServerRequest;
use switchboard_wire::{Era, Json, Peer, RpcError};
use tokio::sync::broadcast;
use tokio::time::timeout;

use crate::call::execute::exchange::Destination;
use crate::call::execute::run::ExecContext;

/// Error code "URL elicitation required".
const URL_REQUIRED_CODE: i64 = -32_042;
/// Delays before a repetition of the call, unless the server announces completion earlier.
const RETRY_DELAYS: [Duration; 3] =
    [Duration::from_secs(1), Duration::from_secs(5), Duration::from_secs(20)];
/// Maximum number of URLs per error, each of which interrupts the user.
const MAX_URLS: usize = 5;

/// Returns whether the error asks for a URL to be visited first; only revision 2025-11-25 has it.
pub(super) fn is_url_required(error: &RpcError, peer: &Peer) -> bool {
    error.code == URL_REQUIRED_CODE
        && peer.protocol().revision.era() == Era::Legacy
        && error.data.is_some()
}

/// The URLs that the user has agreed to visit during one call.
#[derive(Default)]
pub(super) struct UrlVisits {
    agreed: BTreeSet<String>,
    pauses: usize,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UrlElicitation {
    elicitation_id: Option<String>,
    mode: Option<String>,
    url: Option<String>,
}

impl UrlVisits {
    /// Asks the user to visit the URLs. Returns when the call may be repeated, or else its outcome.
    pub(super) async fn visit(
        &mut self,
        error: &RpcError,
        whom: Destination<'_>,
        reach: &ExecContext<'_>,
    ) -> Result<(), Outcome> {
        // Subscribed before the user is asked: completion may be announced while they answer.
        let mut news = reach.events.watch_without_calls();
        let asked = parse_elicitations(error).map_err(|why| protocol_outcome(whom.server, &why))?;
        let mut new = BTreeSet::new();
        for (id, params) in asked {
            // A server repeats its URLs until the visit is complete; ask about each only once.
            if self.agreed.contains(&id) || new.contains(&id) {
                continue;
            }
            ask_consent(&params, whom, reach).await?;
            new.insert(id);
        }
        // Without a new URL the server is still waiting for an earlier visit: back off.
        let pause = if new.is_empty() {
            let pause =
                RETRY_DELAYS.get(self.pauses).ok_or_else(|| not_visited_outcome(whom.server))?;
            self.pauses += 1;
            *pause
        } else {
            self.pauses = 1;
            RETRY_DELAYS.first().copied().unwrap_or_default()
        };
        self.agreed.extend(new);
        // Some servers never announce completion; the next attempt shows.
        _ = timeout(pause, wait_for_completion(&mut news, whom.server, &self.agreed)).await;
        Ok(())
    }
}

/// Returns the requested elicitations by id, with the parameters as raw JSON.
fn parse_elicitations(error: &RpcError) -> Result<Vec<(String, Json)>, String> {
    #[derive(Deserialize)]
    struct RequiredElicitations<'a> {
        #[serde(borrow)]
        elicitations: Vec<&'a RawValue>,
    }
    let none = || "it names no URL to visit".to_owned();
    let needed = error.data.as_ref().and_then(|data| data.read::<RequiredElicitations<'_>>().ok());
    let needed = needed.ok_or_else(none)?.elicitations;
    if needed.is_empty() {
        return Err(none());
    }
    if needed.len() > MAX_URLS {
        return Err(format!("it names more than {MAX_URLS} URLs to visit"));
    }
    let one = |raw: &RawValue| {
        let address: UrlElicitation =
            serde_json::from_str(raw.get()).map_err(|error| error.to_string())?;
        match (address.mode.as_deref(), address.url) {
            (Some("url"), Some(url)) => {
                Ok((address.elicitation_id.unwrap_or(url), Json::from(raw)))
            }
            _ => Err("it requests something other than a URL visit".to_owned()),
        }
    };
    needed.into_iter().map(one).collect()
}

async fn ask_consent(
    params: &Json,
    whom: Destination<'_>,
    reach: &ExecContext<'_>,
) -> Result<(), Outcome> {
    #[derive(Deserialize)]
    struct VisitReply {
        action: String,
    }
    let asking = ServerRequest {
        key: None,
        server: whom.server,
        target: Some(whom.name),
        call: Some(reach.tag),
        method: "elicitation/create",
        params: Some(params),
    };
    let answer = reach.answer(asking).await;
    let answer = answer.map_err(|error| protocol_outcome(whom.server, &error.to_string()))?;
    let action = serde_json::from_str::<VisitReply>(&answer).map(|reply| reply.action);
    if action.is_ok_and(|action| action == "accept") {
        return Ok(());
    }
    let message =
        format!("server `{}` requires a visit to a URL first, which was not approved", whom.server);
    Err(Outcome::refused("url_declined", message))
}

/// Waits until the server announces that one of the elicitations is complete.
async fn wait_for_completion(
    news: &mut broadcast::Receiver<Event>,
    server: &str,
    ids: &BTreeSet<String>,
) {
    loop {
        match news.recv().await {
            Ok(Event { what: EventKind::ElicitationComplete { server: by, id }, .. })
                if by == server && ids.contains(&id) =>
            {
                return;
            }
            Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => {}
            Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
        }
    }
}

fn protocol_outcome(server: &str, why: &str) -> Outcome {
    let message = format!("server `{server}` requires a visit to a URL first, but {why}");
    Outcome::refused("url_required", message)
}

fn not_visited_outcome(server: &str) -> Outcome {
    let message = format!("server `{server}` still waits for the visit to its URL to be completed");
    Outcome::refused("url_required", message)
        .with_hint("complete the steps on the page, then repeat the call")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use switchboard_wire::{Json, RpcError};

    use super::parse_elicitations;

    fn check(data: &Value, expected: Result<&[&str], &str>) {
        let mut error = RpcError::new(super::URL_REQUIRED_CODE, "an address first");
        error.data = Some(Json::from(data));
        let asked = parse_elicitations(&error)
            .map(|asked| asked.into_iter().map(|(id, _)| id).collect::<Vec<_>>());
        let expected = expected.map(|ids| ids.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(asked, expected.map_err(str::to_owned), "{data}");
    }

    #[test]
    fn only_addresses_are_asked_about_and_not_too_many() {
        let one =
            |id: &str| json!({"mode": "url", "elicitationId": id, "url": "https://a.example"});
        check(&json!({"elicitations": [one("x"), one("y")]}), Ok(&["x", "y"]));
        let nameless = json!({"mode": "url", "url": "https://a.example"});
        check(&json!({"elicitations": [nameless]}), Ok(&["https://a.example"]));
        check(&json!({"elicitations": []}), Err("it names no URL to visit"));
        check(&json!({}), Err("it names no URL to visit"));
        let form = json!({"mode": "form", "elicitationId": "x", "requestedSchema": {}});
        let other = "it requests something other than a URL visit";
        check(&json!({"elicitations": [form]}), Err(other));
        let many: Vec<Value> = (0..6).map(|n| one(&n.to_string())).collect();
        let too_many = "it names more than 5 URLs to visit";
        check(&json!({ "elicitations": many }), Err(too_many));
    }
}
