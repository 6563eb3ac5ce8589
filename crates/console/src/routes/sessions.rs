//! What the API says of conversations, and how they are held.

use axum::routing::{get, post};

use super::route::{ACTION_ROUTE, ConsoleRoute, PAGE_ROUTE, RequiredAuth, ResponseKind};
use super::schemas::schema_for;
use crate::actions::{Directed, InSession, NewSession, Said};
use crate::views::{SessionRow, SessionShown};
use crate::{actions, api, live};

pub(super) const SESSIONS: &[ConsoleRoute] = &[
    ConsoleRoute {
        path: "/api/v1/sessions",
        about: "Conversations, the newest first",
        gives: ResponseKind::Json(schema_for::<Vec<SessionRow>>),
        serve: || get(api::sessions),
        ..PAGE_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/sessions/{session}",
        about: "One conversation with its steps",
        gives: ResponseKind::Json(schema_for::<SessionShown>),
        serve: || get(api::session),
        ..PAGE_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/sessions",
        about: "Begins a conversation with a model",
        takes: Some(schema_for::<NewSession>),
        gives: ResponseKind::Json(schema_for::<InSession>),
        serve: || post(actions::begin_session),
        ..ACTION_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/sessions/{session}/say",
        about: "Says something in a conversation, and takes it up if nobody holds it",
        takes: Some(schema_for::<Said>),
        gives: ResponseKind::Json(schema_for::<InSession>),
        serve: || post(actions::say),
        ..ACTION_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/sessions/{session}/direct",
        about: "Gives up what runs in a conversation, or answers whether it goes on",
        takes: Some(schema_for::<Directed>),
        gives: ResponseKind::Json(schema_for::<InSession>),
        serve: || post(actions::control_session),
        ..ACTION_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/sessions/{session}/events",
        about: "What happens in a conversation, as server-sent events",
        proof: RequiredAuth::Token,
        gives: ResponseKind::Events(live::session_event_schema),
        serve: || get(actions::stream_session),
        ..PAGE_ROUTE
    },
];
