//! What the API says of servers and does with them.

use axum::routing::{get, post};

use super::route::{ACTION_ROUTE, ConsoleRoute, PAGE_ROUTE, ResponseKind};
use super::schemas::schema_for;
use crate::actions::{
    ApprovedEntry, ChangedEntry, LoggedOut, LoginBegun, NewEntry, ServerAdded, ServerApproved,
    ServerChanged, ServerRemoved, ServerRestarting, ServerSwitched,
};
use crate::views::EntryShown;
use crate::{actions, api};
use switchboard_views::{ServerRow, ServerShown};

pub(super) const SERVERS: &[ConsoleRoute] = &[
    ConsoleRoute {
        path: "/api/v1/servers",
        about: "All servers with their states",
        gives: ResponseKind::Json(schema_for::<Vec<ServerRow>>),
        serve: || get(api::servers),
        ..PAGE_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/servers/{server}",
        about: "One server: what it offers, its log and its messages",
        gives: ResponseKind::Json(schema_for::<ServerShown>),
        serve: || get(api::server),
        ..PAGE_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/servers/{server}/restart",
        about: "Starts a server afresh",
        gives: ResponseKind::Json(schema_for::<ServerRestarting>),
        serve: || post(actions::restart),
        ..ACTION_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/servers/{server}/enable",
        about: "Switches a server on, in its configuration file",
        gives: ResponseKind::Json(schema_for::<ServerSwitched>),
        serve: || post(actions::enable),
        ..ACTION_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/servers/{server}/disable",
        about: "Switches a server off, in its configuration file",
        gives: ResponseKind::Json(schema_for::<ServerSwitched>),
        serve: || post(actions::disable),
        ..ACTION_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/servers",
        about: "Adds a server to the user's configuration file",
        takes: Some(schema_for::<NewEntry>),
        gives: ResponseKind::Json(schema_for::<ServerAdded>),
        serve: || post(actions::add),
        ..ACTION_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/servers/{server}/entry",
        about: "The entry of a server as its file has it, with values that may be secret left out",
        gives: ResponseKind::Json(schema_for::<EntryShown>),
        serve: || get(api::entry),
        ..PAGE_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/servers/{server}/edit",
        about: "Changes the entry of a server where it stands; `[kept]` keeps a value",
        takes: Some(schema_for::<ChangedEntry>),
        gives: ResponseKind::Json(schema_for::<ServerChanged>),
        serve: || post(actions::edit),
        ..ACTION_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/servers/{server}/remove",
        about: "Removes a server from its configuration file",
        gives: ResponseKind::Json(schema_for::<ServerRemoved>),
        serve: || post(actions::remove),
        ..ACTION_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/servers/{server}/approve",
        about: "Agrees to run the entry of a project, or one that is dangerous, as it is",
        takes: Some(schema_for::<ApprovedEntry>),
        gives: ResponseKind::Json(schema_for::<ServerApproved>),
        serve: || post(actions::approve),
        ..ACTION_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/servers/{server}/login",
        about: "Begins a login and gives the address that a person has to visit for it",
        gives: ResponseKind::Json(schema_for::<LoginBegun>),
        serve: || post(actions::log_in),
        ..ACTION_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/servers/{server}/logout",
        about: "Ends the login of a server, here and at who gave it",
        gives: ResponseKind::Json(schema_for::<LoggedOut>),
        serve: || post(actions::log_out),
        ..ACTION_ROUTE
    },
];
