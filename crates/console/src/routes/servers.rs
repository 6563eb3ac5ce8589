//! What the API says of servers and does with them.

use axum::routing::{get, post};

use super::route::{ACTS, PLAIN, Route};
use crate::{actions, api};

pub(super) const SERVERS: &[Route] = &[
    Route {
        path: "/api/v1/servers",
        about: "All servers with their states",
        serve: || get(api::servers),
        ..PLAIN
    },
    Route {
        path: "/api/v1/servers/{server}",
        about: "One server: what it offers, its log and its messages",
        serve: || get(api::server),
        ..PLAIN
    },
    Route {
        path: "/api/v1/servers/{server}/restart",
        about: "Starts a server afresh",
        serve: || post(actions::restart),
        ..ACTS
    },
    Route {
        path: "/api/v1/servers/{server}/enable",
        about: "Switches a server on, in its configuration file",
        serve: || post(actions::enable),
        ..ACTS
    },
    Route {
        path: "/api/v1/servers/{server}/disable",
        about: "Switches a server off, in its configuration file",
        serve: || post(actions::disable),
        ..ACTS
    },
    Route {
        path: "/api/v1/servers",
        about: "Adds a server to the user's configuration file",
        body: &[
            ("name", "the name of the server"),
            ("entry", "its entry: an object, or the JSON text of one"),
            ("replace", "`true` to replace a server of that name"),
            ("agreed", "the words of the dangers that were agreed to"),
        ],
        serve: || post(actions::add),
        ..ACTS
    },
    Route {
        path: "/api/v1/servers/{server}/entry",
        about: "The entry of a server as its file has it, with values that may be secret left out",
        serve: || get(api::entry),
        ..PLAIN
    },
    Route {
        path: "/api/v1/servers/{server}/edit",
        about: "Changes the entry of a server where it stands; `[kept]` keeps a value",
        body: &[
            ("entry", "the new entry: an object, or the JSON text of one"),
            ("agreed", "the words of the dangers that were agreed to"),
        ],
        serve: || post(actions::edit),
        ..ACTS
    },
    Route {
        path: "/api/v1/servers/{server}/remove",
        about: "Removes a server from its configuration file",
        serve: || post(actions::remove),
        ..ACTS
    },
    Route {
        path: "/api/v1/servers/{server}/approve",
        about: "Agrees to run the entry of a project, or one that is dangerous, as it is",
        body: &[("digest", "the `approval_digest` of what was shown")],
        serve: || post(actions::approve),
        ..ACTS
    },
    Route {
        path: "/api/v1/servers/{server}/login",
        about: "Begins a login and gives the address that a person has to visit for it",
        serve: || post(actions::log_in),
        ..ACTS
    },
    Route {
        path: "/api/v1/servers/{server}/logout",
        about: "Ends the login of a server, here and at who gave it",
        serve: || post(actions::log_out),
        ..ACTS
    },
];
