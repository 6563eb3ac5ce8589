//! What the API says of what waits and of the rules, and how it is decided.

use axum::routing::{get, post};

use super::route::{ACTS, PLAIN, Route};
use crate::{actions, api};

pub(super) const DECIDING: &[Route] = &[
    Route {
        path: "/api/v1/reviews",
        about: "What waits for a person, the oldest first",
        serve: || get(api::reviews),
        ..PLAIN
    },
    Route {
        path: "/api/v1/reviews/{id}/answer",
        about: "Answers something that waits; the first answer counts",
        body: &[
            ("digest", "the digest of what was shown"),
            (
                "answer",
                "`run`, `session`, `always`, `skip`, `reject`, `accept`, `decline` or `cancel`",
            ),
            ("words", "with `reject`: what to do instead"),
            ("arguments", "with `run`: the text of a JSON object to use instead"),
            ("content", "with `accept`: what was filled into the form"),
        ],
        serve: || post(actions::answer_review),
        ..ACTS
    },
    Route {
        path: "/api/v1/policy",
        about: "The rules in effect, level by level, with where they are written",
        serve: || get(api::policy),
        ..PLAIN
    },
    Route {
        path: "/api/v1/policy/explain",
        about: "Says what would be decided about a call, and by which rule; nothing is called",
        body: &[
            ("server", "the server"),
            ("name", "the tool or prompt, or the address of the resource"),
            ("kind", "`tool`, `resource` or `prompt`; a tool unless told"),
            ("arguments", "an object, or the JSON text of one"),
            ("caller", "`person`, `model` or `client`; a model unless told"),
            ("after", "as if something had come from this server before"),
        ],
        serve: || post(actions::explain),
        ..ACTS
    },
    Route {
        path: "/api/v1/policy/what-if",
        about: "Says what changed rules would have decided otherwise about recorded calls",
        body: &[
            ("text", "the text of the changed rules"),
            ("level", "the level whose rules they replace; `user` unless told"),
            ("hours", "as many hours are looked back; 24 unless told"),
        ],
        serve: || post(actions::what_if),
        ..ACTS
    },
    Route {
        path: "/api/v1/pins",
        about: "Definitions that are held until a person approves them, with what is different",
        serve: || get(api::pins),
        ..PLAIN
    },
    Route {
        path: "/api/v1/pins/approve",
        about: "Approves held definitions, exactly those that were shown",
        body: &[
            ("server", "whose they are"),
            ("definitions", "a list of objects with `kind`, `name` and `digest`"),
        ],
        serve: || post(actions::approve_pins),
        ..ACTS
    },
    Route {
        path: "/api/v1/pins/revoke",
        about: "Takes the approval of a tool back: it is held until it is approved again",
        body: &[("server", "the server"), ("name", "the tool")],
        serve: || post(actions::revoke_pin),
        ..ACTS
    },
];
