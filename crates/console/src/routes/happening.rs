//! What the API says of what happened and happens.

use axum::routing::{get, post};

use super::route::{ACTS, PLAIN, Proof, Route};
use crate::{actions, api, live, openapi};

const CALLS: &[(&str, &str)] = &[
    ("server", "only of this server"),
    ("tool", "only of this tool, prompt or resource"),
    ("caller", "only of this caller: `client:name`, or the name alone"),
    ("outcome", "only those that ended so, such as `ok` or `tool_error`"),
    ("since", "only since this time, or so long ago: `30m`, `24h`, `7d`"),
    ("until", "only before this time"),
    ("text", "only those whose target, caller or message has this in it"),
    ("before", "only those before this call, for the next page"),
    ("limit", "at most so many; 50 unless told, 500 at most"),
];

const EXPORTED: &[(&str, &str)] = &[
    ("server", "only of this server"),
    ("tool", "only of this tool, prompt or resource"),
    ("caller", "only of this caller"),
    ("outcome", "only those that ended so"),
    ("since", "only since this time, or so long ago: `30m`, `24h`, `7d`"),
    ("until", "only before this time"),
    ("text", "only those whose target, caller or message has this in it"),
];

pub(super) const HAPPENING: &[Route] = &[
    Route {
        path: "/api/v1/openapi.json",
        about: "This document",
        serve: || get(openapi::document),
        ..PLAIN
    },
    Route {
        path: "/api/v1/overview",
        about: "Servers by state, what waits, and how busy the last hour was",
        serve: || get(api::overview),
        ..PLAIN
    },
    Route {
        path: "/api/v1/calls",
        about: "Recorded calls, the newest first",
        query: CALLS,
        serve: || get(api::calls),
        ..PLAIN
    },
    Route {
        path: "/api/v1/calls/export",
        about: "Recorded calls with their arguments and results, a JSON text in each line",
        query: EXPORTED,
        kind: "application/jsonl",
        serve: || get(api::export),
        ..PLAIN
    },
    Route {
        path: "/api/v1/calls/{id}/again",
        about: "Calls once more what was called, as the person who is signed in",
        serve: || post(actions::call_again),
        ..ACTS
    },
    Route {
        path: "/api/v1/calls/{id}/result",
        about: "The result of a call as it was sent, to be kept in a file",
        kind: "application/json",
        serve: || get(api::call_result),
        ..PLAIN
    },
    Route {
        path: "/api/v1/calls/{id}/parts/{number}",
        about: "One part of a result as a file: a picture, a sound, or what a resource holds",
        kind: "application/octet-stream",
        serve: || get(api::call_part),
        ..PLAIN
    },
    Route {
        path: "/api/v1/calls/{id}",
        about: "Everything about one call",
        serve: || get(api::call),
        ..PLAIN
    },
    Route {
        path: "/api/v1/events",
        about: "What happens, as server-sent events; goes on after `Last-Event-ID`",
        proof: Proof::Token,
        kind: "text/event-stream",
        serve: || get(live::events),
        ..PLAIN
    },
    Route {
        path: "/api/v1/sign-out",
        about: "Signs this browser out",
        serve: || post(actions::sign_out),
        ..ACTS
    },
];
