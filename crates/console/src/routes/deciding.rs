//! What the API says of what waits and of the rules, and how it is decided.

use axum::routing::{get, post};

use super::route::{ACTS, Gives, PLAIN, Route};
use super::shape::of;
use crate::actions::{
    AnswerGiven, ApprovedPins, ChangedRules, PinRevoked, PinsApproved, ReviewAnswered, RevokedPin,
    Tried,
};
use crate::shown::{ExplainedShown, HeldServerShown, PolicyShown, ReviewShown, WhatIfShown};
use crate::{actions, api};

pub(super) const DECIDING: &[Route] = &[
    Route {
        path: "/api/v1/reviews",
        about: "What waits for a person, the oldest first",
        gives: Gives::Json(of::<Vec<ReviewShown>>),
        serve: || get(api::reviews),
        ..PLAIN
    },
    Route {
        path: "/api/v1/reviews/{id}/answer",
        about: "Answers something that waits; the first answer counts",
        takes: Some(of::<AnswerGiven>),
        gives: Gives::Json(of::<ReviewAnswered>),
        serve: || post(actions::answer_review),
        ..ACTS
    },
    Route {
        path: "/api/v1/policy",
        about: "The rules in effect, level by level, with where they are written",
        gives: Gives::Json(of::<PolicyShown>),
        serve: || get(api::policy),
        ..PLAIN
    },
    Route {
        path: "/api/v1/policy/explain",
        about: "Says what would be decided about a call, and by which rule; nothing is called",
        takes: Some(of::<Tried>),
        gives: Gives::Json(of::<ExplainedShown>),
        serve: || post(actions::explain),
        ..ACTS
    },
    Route {
        path: "/api/v1/policy/what-if",
        about: "Says what changed rules would have decided otherwise about recorded calls",
        takes: Some(of::<ChangedRules>),
        gives: Gives::Json(of::<WhatIfShown>),
        serve: || post(actions::what_if),
        ..ACTS
    },
    Route {
        path: "/api/v1/pins",
        about: "Definitions that are held until a person approves them, with what is different",
        gives: Gives::Json(of::<Vec<HeldServerShown>>),
        serve: || get(api::pins),
        ..PLAIN
    },
    Route {
        path: "/api/v1/pins/approve",
        about: "Approves held definitions, exactly those that were shown",
        takes: Some(of::<ApprovedPins>),
        gives: Gives::Json(of::<PinsApproved>),
        serve: || post(actions::approve_pins),
        ..ACTS
    },
    Route {
        path: "/api/v1/pins/revoke",
        about: "Takes the approval of a tool back: it is held until it is approved again",
        takes: Some(of::<RevokedPin>),
        gives: Gives::Json(of::<PinRevoked>),
        serve: || post(actions::revoke_pin),
        ..ACTS
    },
];
