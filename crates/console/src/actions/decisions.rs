//! Actions that approve quarantined definitions, revoke approvals and answer reviews.

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::Deserialize;
use switchboard_trust::{PinKind, Pins, QuarantineReason, QuarantinedDefinition, quarantine_book};
use switchboard_views::{PersonAnswer, can_be_approved};
use tokio::time::{Instant, timeout_at};

use super::body::{ApiResult, blocking, no_server, parse_body};
use super::responses::{PinRevoked, PinsApproved, ReviewAnswered};
use crate::console::{Console, ConsoleState};
use crate::reply::{self, ApiError};

const RELOAD_TIMEOUT: Duration = Duration::from_secs(5);

/// Quarantined definitions to approve.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct ApprovedPins {
    /// Server that has the definitions.
    server: String,
    /// Definitions exactly as they were shown.
    definitions: Vec<ShownDefinition>,
}

/// A definition that was shown to the user.
#[derive(Deserialize, JsonSchema)]
struct ShownDefinition {
    /// Kind of the definition.
    kind: PinKind,
    /// Name of the definition; empty for instructions.
    name: String,
    /// `digest` of the definition.
    digest: String,
}

/// Approves exactly the definitions that were shown. One that has changed since stays quarantined.
pub(crate) async fn approve_pins(State(console): ConsoleState, body: Bytes) -> ApiResult {
    let ApprovedPins { server, definitions } = parse_body(&body)?;
    let identity = console.pin_identity(&server)?;
    let quarantine = console.host.quarantine().load();
    let of_server = quarantine.servers.get(server.as_str());
    let held = of_server.map(|held| held.definitions.as_slice()).unwrap_or_default();
    let is_shown = |held: &QuarantinedDefinition| {
        let same = |shown: &ShownDefinition| {
            shown.kind == held.kind && shown.name == held.name && shown.digest == held.digest
        };
        definitions.iter().any(same)
    };
    let wanted: Vec<QuarantinedDefinition> =
        held.iter().filter(|held| is_shown(held)).cloned().collect();
    // A new server may offer only resources, which have no pins.
    let is_bare =
        held.is_empty() && of_server.is_some_and(|it| it.whole == Some(QuarantineReason::FirstUse));
    if wanted.is_empty() && !is_bare || wanted.len() < definitions.len() {
        let why = "the quarantined definitions have changed since they were shown";
        return Err(ApiError::new(StatusCode::CONFLICT, why).with_hint("review them again"));
    }
    if wanted.iter().any(|held| !can_be_approved(&held.why)) {
        let why = "an approval has no effect on these definitions";
        return Err(ApiError::unprocessable(why).with_hint("run `switchboard lock --check`"));
    }
    let state = console.places.state.clone();
    let book = quarantine_book(&wanted);
    let count = wanted.len();
    blocking(move || {
        Pins::edit(&state, &identity, |pins| {
            // Approves by digest: another process may have recorded other definitions since.
            pins.approve_exact(&book);
        })
    })
    .await?;
    console.wait_for_release(&server, &wanted).await;
    Ok(reply::json(&PinsApproved { server, approved: count }))
}

/// A tool whose approval is revoked.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct RevokedPin {
    /// Name of the server.
    server: String,
    /// Name of the tool on its server.
    name: String,
}

pub(crate) async fn revoke_pin(State(console): ConsoleState, body: Bytes) -> ApiResult {
    let RevokedPin { server, name } = parse_body(&body)?;
    let identity = console.pin_identity(&server)?;
    let state = console.places.state.clone();
    let tool = name.clone();
    let mut count = 0;
    // The host watches the pin files and quarantines the tool when this one changes.
    let count = blocking(move || {
        Pins::edit(&state, &identity, |pins| {
            count = pins.revoke(|kind, name| kind == PinKind::Tool && name == tool);
        })?;
        Ok(count)
    })
    .await?;
    if count == 0 {
        return Err(ApiError::unprocessable(format!("no approved tool named `{name}`")));
    }
    Ok(reply::json(&PinRevoked { server, revoked: name }))
}

impl Console {
    /// Waits until the approved definitions leave the quarantine, so that the next page shows it.
    async fn wait_for_release(&self, server: &str, approved: &[QuarantinedDefinition]) {
        let mut changes = self.host.quarantine().changes();
        let until = Instant::now() + RELOAD_TIMEOUT;
        loop {
            let quarantine = changes.load();
            let held = quarantine.servers.get(server);
            let still = held.map(|held| held.definitions.as_slice()).unwrap_or_default();
            if !approved.iter().any(|one| still.contains(one))
                || timeout_at(until, changes.changed()).await.is_err()
            {
                return;
            }
        }
    }

    /// Returns the identity under which the pins of a server are stored.
    fn pin_identity(&self, server: &str) -> Result<String, ApiError> {
        let config = self.host.config().load();
        let server = config.servers.get(server).ok_or_else(|| no_server(server))?;
        Ok(server.identity())
    }
}

/// An answer to a review queue entry.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct AnswerGiven {
    /// `digest` of the entry that was shown.
    digest: String,
    #[serde(flatten)]
    said: PersonAnswer,
}

pub(crate) async fn answer_review(
    State(console): ConsoleState,
    Path(id): Path<String>,
    body: Bytes,
) -> ApiResult {
    let AnswerGiven { digest, said } = parse_body(&body)?;
    let given = said.into_decision()?;
    let word = given.word();
    // The queue compares the digest: the person decided about exactly this question.
    let answered = console.host.reviews().answer(&id, &digest, given, "the console").await;
    answered.map_err(|error| ApiError::new(StatusCode::CONFLICT, error.to_string()))?;
    Ok(reply::json(&ReviewAnswered { id, answered: word }))
}
