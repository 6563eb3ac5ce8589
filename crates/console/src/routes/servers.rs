//! What the API says of servers and does with them.

use axum::routing::{get, post};

use super::route::{ACTS, Gives, PLAIN, Route};
use super::shape::of;
use crate::actions::{
    ApprovedEntry, ChangedEntry, LoggedOut, LoginBegun, NewEntry, ServerAdded, ServerApproved,
    ServerChanged, ServerRemoved, ServerRestarting, ServerSwitched,
};
use crate::shown::{EntryShown, ServerRow, ServerShown};
use crate::{actions, api};

pub(super) const SERVERS: &[Route] = &[
    Route {
        path: "/api/v1/servers",
        about: "All servers with their states",
        gives: Gives::Json(of::<Vec<ServerRow>>),
        serve: || get(api::servers),
        ..PLAIN
    },
    Route {
        path: "/api/v1/servers/{server}",
        about: "One server: what it offers, its log and its messages",
        gives: Gives::Json(of::<ServerShown>),
        serve: || get(api::server),
        ..PLAIN
    },
    Route {
        path: "/api/v1/servers/{server}/restart",
        about: "Starts a server afresh",
        gives: Gives::Json(of::<ServerRestarting>),
        serve: || post(actions::restart),
        ..ACTS
    },
    Route {
        path: "/api/v1/servers/{server}/enable",
        about: "Switches a server on, in its configuration file",
        gives: Gives::Json(of::<ServerSwitched>),
        serve: || post(actions::enable),
        ..ACTS
    },
    Route {
        path: "/api/v1/servers/{server}/disable",
        about: "Switches a server off, in its configuration file",
        gives: Gives::Json(of::<ServerSwitched>),
        serve: || post(actions::disable),
        ..ACTS
    },
    Route {
        path: "/api/v1/servers",
        about: "Adds a server to the user's configuration file",
        takes: Some(of::<NewEntry>),
        gives: Gives::Json(of::<ServerAdded>),
        serve: || post(actions::add),
        ..ACTS
    },
    Route {
        path: "/api/v1/servers/{server}/entry",
        about: "The entry of a server as its file has it, with values that may be secret left out",
        gives: Gives::Json(of::<EntryShown>),
        serve: || get(api::entry),
        ..PLAIN
    },
    Route {
        path: "/api/v1/servers/{server}/edit",
        about: "Changes the entry of a server where it stands; `[kept]` keeps a value",
        takes: Some(of::<ChangedEntry>),
        gives: Gives::Json(of::<ServerChanged>),
        serve: || post(actions::edit),
        ..ACTS
    },
    Route {
        path: "/api/v1/servers/{server}/remove",
        about: "Removes a server from its configuration file",
        gives: Gives::Json(of::<ServerRemoved>),
        serve: || post(actions::remove),
        ..ACTS
    },
    Route {
        path: "/api/v1/servers/{server}/approve",
        about: "Agrees to run the entry of a project, or one that is dangerous, as it is",
        takes: Some(of::<ApprovedEntry>),
        gives: Gives::Json(of::<ServerApproved>),
        serve: || post(actions::approve),
        ..ACTS
    },
    Route {
        path: "/api/v1/servers/{server}/login",
        about: "Begins a login and gives the address that a person has to visit for it",
        gives: Gives::Json(of::<LoginBegun>),
        serve: || post(actions::log_in),
        ..ACTS
    },
    Route {
        path: "/api/v1/servers/{server}/logout",
        about: "Ends the login of a server, here and at who gave it",
        gives: Gives::Json(of::<LoggedOut>),
        serve: || post(actions::log_out),
        ..ACTS
    },
];
