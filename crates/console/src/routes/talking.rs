//! What the API says of conversations, and how they are held.

use axum::routing::{get, post};

use super::route::{ACTS, Gives, PLAIN, Proof, Route};
use super::shape::of;
use crate::actions::{Directed, InSession, NewSession, Said};
use crate::shown::{SessionRow, SessionShown};
use crate::{actions, api, live};

pub(super) const TALKING: &[Route] = &[
    Route {
        path: "/api/v1/sessions",
        about: "Conversations, the newest first",
        gives: Gives::Json(of::<Vec<SessionRow>>),
        serve: || get(api::sessions),
        ..PLAIN
    },
    Route {
        path: "/api/v1/sessions/{session}",
        about: "One conversation with its steps",
        gives: Gives::Json(of::<SessionShown>),
        serve: || get(api::session),
        ..PLAIN
    },
    Route {
        path: "/api/v1/sessions",
        about: "Begins a conversation with a model",
        takes: Some(of::<NewSession>),
        gives: Gives::Json(of::<InSession>),
        serve: || post(actions::begin_session),
        ..ACTS
    },
    Route {
        path: "/api/v1/sessions/{session}/say",
        about: "Says something in a conversation, and takes it up if nobody holds it",
        takes: Some(of::<Said>),
        gives: Gives::Json(of::<InSession>),
        serve: || post(actions::say),
        ..ACTS
    },
    Route {
        path: "/api/v1/sessions/{session}/direct",
        about: "Gives up what runs in a conversation, or answers whether it goes on",
        takes: Some(of::<Directed>),
        gives: Gives::Json(of::<InSession>),
        serve: || post(actions::direct),
        ..ACTS
    },
    Route {
        path: "/api/v1/sessions/{session}/events",
        about: "What happens in a conversation, as server-sent events",
        proof: Proof::Token,
        gives: Gives::Events(live::in_session),
        serve: || get(actions::hear),
        ..PLAIN
    },
];
