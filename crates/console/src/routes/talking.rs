//! What the API says of conversations, and how they are held.

use axum::routing::{get, post};

use super::route::{ACTS, PLAIN, Proof, Route};
use crate::{actions, api};

pub(super) const TALKING: &[Route] = &[
    Route {
        path: "/api/v1/sessions",
        about: "Conversations, the newest first",
        serve: || get(api::sessions),
        ..PLAIN
    },
    Route {
        path: "/api/v1/sessions/{session}",
        about: "One conversation with its steps",
        serve: || get(api::session),
        ..PLAIN
    },
    Route {
        path: "/api/v1/sessions",
        about: "Begins a conversation with a model",
        body: &[
            ("model", "the profile of the model, or `provider:model`; the usual one unless told"),
            ("text", "the first words"),
        ],
        serve: || post(actions::begin_session),
        ..ACTS
    },
    Route {
        path: "/api/v1/sessions/{session}/say",
        about: "Says something in a conversation, and takes it up if nobody holds it",
        body: &[("text", "the words")],
        serve: || post(actions::say),
        ..ACTS
    },
    Route {
        path: "/api/v1/sessions/{session}/direct",
        about: "Gives up what runs in a conversation, or answers whether it goes on",
        body: &[("what", "`cancel`, `retry`, `go_on` or `stop`")],
        serve: || post(actions::direct),
        ..ACTS
    },
    Route {
        path: "/api/v1/sessions/{session}/events",
        about: "What happens in a conversation, as server-sent events",
        proof: Proof::Token,
        kind: "text/event-stream",
        serve: || get(actions::hear),
        ..PLAIN
    },
];
