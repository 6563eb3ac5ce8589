//! What the API says of what happened and happens.

use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};

use super::route::{ACTION_ROUTE, ConsoleRoute, PAGE_ROUTE, RequiredAuth, ResponseKind};
use super::schemas::{query_schema, schema_for, sent_result, this_document};
use crate::actions::{AnswerTaken, CallGivenUp, QuestionAnswered, SignedOut};
use crate::programs::{Told, WantedCall};
use crate::{actions, api, live, openapi, views};
use switchboard_views::{CallQuery, CallShown, CallsShown, OverviewShown, Ran};

/// As long a call of a program may be.
const MAX_CALL_BYTES: usize = 64 << 20;

pub(super) const CALLS: &[ConsoleRoute] = &[
    ConsoleRoute {
        path: "/api/v1/openapi.json",
        about: "This document",
        gives: ResponseKind::Json(this_document),
        serve: || get(openapi::document),
        ..PAGE_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/overview",
        about: "Servers by state, what waits, and how busy the last hour was",
        gives: ResponseKind::Json(schema_for::<OverviewShown>),
        serve: || get(api::overview),
        ..PAGE_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/calls",
        about: "Recorded calls, the newest first",
        query: Some(query_schema::<CallQuery>),
        gives: ResponseKind::Json(schema_for::<CallsShown>),
        serve: || get(api::calls),
        ..PAGE_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/calls/export",
        about: "Recorded calls with their arguments and results, a JSON text in each line",
        query: Some(query_schema::<CallQuery>),
        gives: ResponseKind::Lines(views::export_schema),
        serve: || get(api::export),
        ..PAGE_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/calls",
        about: "Calls something for a program and tells what happens, a JSON text in each line",
        takes: Some(schema_for::<WantedCall>),
        gives: ResponseKind::Lines(schema_for::<Told>),
        serve: || post(actions::make_call).layer(DefaultBodyLimit::max(MAX_CALL_BYTES)),
        ..ACTION_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/calls/{id}/answer",
        about: "Answers what a call asks whose program was told of it; the first answer counts",
        takes: Some(schema_for::<QuestionAnswered>),
        gives: ResponseKind::Json(schema_for::<AnswerTaken>),
        serve: || post(actions::answer_call),
        ..ACTION_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/calls/{id}/give-up",
        about: "Gives up a call whose program was told its name when it began",
        gives: ResponseKind::Json(schema_for::<CallGivenUp>),
        serve: || post(actions::give_up_call),
        ..ACTION_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/calls/{id}/again",
        about: "Calls once more what was called, as the person who is signed in",
        gives: ResponseKind::Json(schema_for::<Ran>),
        serve: || post(actions::call_again),
        ..ACTION_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/calls/{id}/result",
        about: "The result of a call as it was sent, to be kept in a file",
        gives: ResponseKind::Json(sent_result),
        serve: || get(api::call_result),
        ..PAGE_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/calls/{id}/parts/{number}",
        about: "One part of a result as a file: a picture, a sound, or what a resource holds",
        gives: ResponseKind::File("application/octet-stream"),
        serve: || get(api::call_part),
        ..PAGE_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/calls/{id}",
        about: "Everything about one call",
        gives: ResponseKind::Json(schema_for::<CallShown>),
        serve: || get(api::call),
        ..PAGE_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/events",
        about: "What happens, as server-sent events; goes on after `Last-Event-ID`",
        proof: RequiredAuth::Token,
        gives: ResponseKind::Events(live::event_schema),
        serve: || get(live::events),
        ..PAGE_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/sign-out",
        about: "Signs this browser out",
        gives: ResponseKind::Json(schema_for::<SignedOut>),
        serve: || post(actions::sign_out),
        ..ACTION_ROUTE
    },
];
