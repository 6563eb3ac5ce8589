//! What the API says of what happened and happens.

use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};

use super::route::{ACTS, Gives, PLAIN, Proof, Route};
use super::shape::{of, query, sent_result, this_document};
use crate::actions::{AnswerTaken, CallGivenUp, QuestionAnswered, SignedOut};
use crate::programs::{Told, WantedCall};
use crate::shown::{CallQuery, CallShown, CallsShown, OverviewShown, Ran};
use crate::{actions, api, live, openapi, shown};

/// As long a call of a program may be.
const LONGEST_CALL: usize = 64 << 20;

pub(super) const HAPPENING: &[Route] = &[
    Route {
        path: "/api/v1/openapi.json",
        about: "This document",
        gives: Gives::Json(this_document),
        serve: || get(openapi::document),
        ..PLAIN
    },
    Route {
        path: "/api/v1/overview",
        about: "Servers by state, what waits, and how busy the last hour was",
        gives: Gives::Json(of::<OverviewShown>),
        serve: || get(api::overview),
        ..PLAIN
    },
    Route {
        path: "/api/v1/calls",
        about: "Recorded calls, the newest first",
        query: Some(query::<CallQuery>),
        gives: Gives::Json(of::<CallsShown>),
        serve: || get(api::calls),
        ..PLAIN
    },
    Route {
        path: "/api/v1/calls/export",
        about: "Recorded calls with their arguments and results, a JSON text in each line",
        query: Some(query::<CallQuery>),
        gives: Gives::Lines(shown::exported),
        serve: || get(api::export),
        ..PLAIN
    },
    Route {
        path: "/api/v1/calls",
        about: "Calls something for a program and tells what happens, a JSON text in each line",
        takes: Some(of::<WantedCall>),
        gives: Gives::Lines(of::<Told>),
        serve: || post(actions::make_call).layer(DefaultBodyLimit::max(LONGEST_CALL)),
        ..ACTS
    },
    Route {
        path: "/api/v1/calls/{id}/answer",
        about: "Answers what a call asks whose program was told of it; the first answer counts",
        takes: Some(of::<QuestionAnswered>),
        gives: Gives::Json(of::<AnswerTaken>),
        serve: || post(actions::answer_call),
        ..ACTS
    },
    Route {
        path: "/api/v1/calls/{id}/give-up",
        about: "Gives up a call whose program was told its name when it began",
        gives: Gives::Json(of::<CallGivenUp>),
        serve: || post(actions::give_up_call),
        ..ACTS
    },
    Route {
        path: "/api/v1/calls/{id}/again",
        about: "Calls once more what was called, as the person who is signed in",
        gives: Gives::Json(of::<Ran>),
        serve: || post(actions::call_again),
        ..ACTS
    },
    Route {
        path: "/api/v1/calls/{id}/result",
        about: "The result of a call as it was sent, to be kept in a file",
        gives: Gives::Json(sent_result),
        serve: || get(api::call_result),
        ..PLAIN
    },
    Route {
        path: "/api/v1/calls/{id}/parts/{number}",
        about: "One part of a result as a file: a picture, a sound, or what a resource holds",
        gives: Gives::File("application/octet-stream"),
        serve: || get(api::call_part),
        ..PLAIN
    },
    Route {
        path: "/api/v1/calls/{id}",
        about: "Everything about one call",
        gives: Gives::Json(of::<CallShown>),
        serve: || get(api::call),
        ..PLAIN
    },
    Route {
        path: "/api/v1/events",
        about: "What happens, as server-sent events; goes on after `Last-Event-ID`",
        proof: Proof::Token,
        gives: Gives::Events(live::told),
        serve: || get(live::events),
        ..PLAIN
    },
    Route {
        path: "/api/v1/sign-out",
        about: "Signs this browser out",
        gives: Gives::Json(of::<SignedOut>),
        serve: || post(actions::sign_out),
        ..ACTS
    },
];
