//! What the API says of what waits and of the rules, and how it is decided.

use axum::routing::{get, post};

use super::route::{ACTION_ROUTE, ConsoleRoute, PAGE_ROUTE, ResponseKind};
use super::schemas::schema_for;
use crate::actions::{
    AnswerGiven, ApprovedPins, ChangedRules, PinRevoked, PinsApproved, ReviewAnswered, RevokedPin,
    Tried,
};
use crate::{actions, api};
use switchboard_views::{ExplainedShown, HeldServerShown, PolicyShown, ReviewShown, WhatIfShown};

pub(super) const DECISIONS: &[ConsoleRoute] = &[
    ConsoleRoute {
        path: "/api/v1/reviews",
        about: "What waits for a person, the oldest first",
        gives: ResponseKind::Json(schema_for::<Vec<ReviewShown>>),
        serve: || get(api::reviews),
        ..PAGE_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/reviews/{id}/answer",
        about: "Answers something that waits; the first answer counts",
        takes: Some(schema_for::<AnswerGiven>),
        gives: ResponseKind::Json(schema_for::<ReviewAnswered>),
        serve: || post(actions::answer_review),
        ..ACTION_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/policy",
        about: "The rules in effect, level by level, with where they are written",
        gives: ResponseKind::Json(schema_for::<PolicyShown>),
        serve: || get(api::policy),
        ..PAGE_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/policy/explain",
        about: "Says what would be decided about a call, and by which rule; nothing is called",
        takes: Some(schema_for::<Tried>),
        gives: ResponseKind::Json(schema_for::<ExplainedShown>),
        serve: || post(actions::explain),
        ..ACTION_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/policy/what-if",
        about: "Says what changed rules would have decided otherwise about recorded calls",
        takes: Some(schema_for::<ChangedRules>),
        gives: ResponseKind::Json(schema_for::<WhatIfShown>),
        serve: || post(actions::what_if),
        ..ACTION_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/pins",
        about: "Definitions that are held until a person approves them, with what is different",
        gives: ResponseKind::Json(schema_for::<Vec<HeldServerShown>>),
        serve: || get(api::pins),
        ..PAGE_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/pins/approve",
        about: "Approves held definitions, exactly those that were shown",
        takes: Some(schema_for::<ApprovedPins>),
        gives: ResponseKind::Json(schema_for::<PinsApproved>),
        serve: || post(actions::approve_pins),
        ..ACTION_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/pins/revoke",
        about: "Takes the approval of a tool back: it is held until it is approved again",
        takes: Some(schema_for::<RevokedPin>),
        gives: ResponseKind::Json(schema_for::<PinRevoked>),
        serve: || post(actions::revoke_pin),
        ..ACTION_ROUTE
    },
];
