//! Approves definitions that are held, and takes approvals back.

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::Deserialize;
use switchboard_trust::{Held, PinKind, Pins, Why, book_of};
use tokio::time::{Instant, timeout_at};

use super::body::{Answer, blocking, no_server, read};
use super::done::{PinRevoked, PinsApproved};
use crate::console::{Console, Shared};
use crate::reply;
use crate::reply::Problem;

/// As long a change of a file may take to be followed.
const FOLLOWING: Duration = Duration::from_secs(5);

/// What is approved.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct ApprovedPins {
    /// Whose they are.
    server: String,
    /// The definitions as they were shown.
    definitions: Vec<ShownDefinition>,
}

/// A definition as it was shown.
#[derive(Deserialize, JsonSchema)]
struct ShownDefinition {
    /// What it describes.
    kind: PinKind,
    /// Its name; empty for instructions.
    name: String,
    /// Its `digest`.
    digest: String,
}

/// Approves exactly what was shown: what has changed since stays held.
pub(crate) async fn approve_pins(State(console): State<Shared>, body: Bytes) -> Answer {
    let ApprovedPins { server, definitions } = read(&body)?;
    let identity = console.identity_of(&server)?;
    let quarantine = console.host.held().load();
    let of_server = quarantine.servers.get(server.as_str());
    let held = of_server.map(|held| held.definitions.as_slice()).unwrap_or_default();
    let is_shown = |held: &Held| {
        let same = |shown: &ShownDefinition| {
            shown.kind == held.kind && shown.name == held.name && shown.digest == held.digest
        };
        definitions.iter().any(same)
    };
    let wanted: Vec<Held> = held.iter().filter(|held| is_shown(held)).cloned().collect();
    // A new server may offer nothing but resources.
    let is_bare = held.is_empty() && of_server.is_some_and(|it| it.whole == Some(Why::FirstUse));
    if wanted.is_empty() && !is_bare || wanted.len() < definitions.len() {
        let why = "that is not what is held any more";
        return Err(Problem::new(StatusCode::CONFLICT, why).with_hint("look at it again"));
    }
    if wanted.iter().any(|held| !can_be_approved(&held.why)) {
        let why = "an approval would not count here";
        return Err(Problem::unusable(why).with_hint("run `switchboard lock --check`"));
    }
    let (state, book, count) = (console.places.state.clone(), book_of(&wanted), wanted.len());
    blocking(move || {
        Pins::change(&state, &identity, |pins| {
            // Another process may have seen, and noted, something else.
            pins.stand_by(&book);
        })
    })
    .await?;
    console.no_longer_held(&server, &wanted).await;
    Ok(reply::json(&PinsApproved { server, approved: count }))
}

/// Of what the approval is taken back.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct RevokedPin {
    /// The server.
    server: String,
    /// The tool.
    name: String,
}

/// Takes the approval of a tool back.
pub(crate) async fn revoke_pin(State(console): State<Shared>, body: Bytes) -> Answer {
    let RevokedPin { server, name } = read(&body)?;
    let identity = console.identity_of(&server)?;
    let (state, tool) = (console.places.state.clone(), name.clone());
    let mut count = 0;
    let count = blocking(move || {
        Pins::change(&state, &identity, |pins| {
            count = pins.revoke(|kind, name| kind == PinKind::Tool && name == tool);
        })?;
        Ok(count)
    })
    .await?;
    if count == 0 {
        return Err(Problem::unusable(format!("nothing called `{name}` is approved")));
    }
    Ok(reply::json(&PinRevoked { server, revoked: name }))
}

/// Whether a person's approval is what it waits for.
pub(crate) const fn can_be_approved(why: &Why) -> bool {
    match why {
        Why::FirstUse
        | Why::New
        | Why::Changed
        | Why::Renamed { .. }
        | Why::Instructions
        | Why::Gone
        | Why::Revoked
        | Why::Turned { .. } => true,
        Why::NotKept(_) | Why::NotLocked => false,
    }
}

impl Console {
    /// Waits until what was approved passes, for a while: the page that comes next shows it so.
    async fn no_longer_held(&self, server: &str, approved: &[Held]) {
        let mut changes = self.host.held().changes();
        let until = Instant::now() + FOLLOWING;
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

    /// What the pins of a server are kept under.
    fn identity_of(&self, server: &str) -> Result<String, Problem> {
        let config = self.host.config().load();
        let server = config.servers.get(server).ok_or_else(|| no_server(server))?;
        Ok(server.identity())
    }
}
