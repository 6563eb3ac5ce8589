//! The pages, what they are made with, and how to come in.

use axum::routing::{get, post};

use super::route::{PLAIN, Proof, Route};
use crate::{actions, apps, assets, pages};

pub(super) const PAGES: &[Route] = &[
    PLAIN,
    Route { path: "/servers", serve: || get(pages::servers), ..PLAIN },
    Route { path: "/servers/{server}", serve: || get(pages::server), ..PLAIN },
    Route { path: "/add-server", serve: || get(pages::add_server), ..PLAIN },
    Route { path: "/servers/{server}/edit", serve: || get(pages::edit_server), ..PLAIN },
    Route { path: "/tools", serve: || get(pages::tools), ..PLAIN },
    Route { path: "/tools/{server}/{tool}", serve: || get(pages::tool), ..PLAIN },
    Route { path: "/resources", serve: || get(pages::resources), ..PLAIN },
    Route { path: "/prompts/{server}/{prompt}", serve: || get(pages::prompt), ..PLAIN },
    Route { path: "/calls", serve: || get(pages::calls), ..PLAIN },
    Route { path: "/calls/{id}", serve: || get(pages::call), ..PLAIN },
    Route { path: "/reviews", serve: || get(pages::reviews), ..PLAIN },
    Route { path: "/sessions", serve: || get(pages::sessions), ..PLAIN },
    Route { path: "/sessions/{session}", serve: || get(pages::session), ..PLAIN },
    Route { path: "/policy", serve: || get(pages::policy), ..PLAIN },
    Route { path: "/callback", proof: Proof::Nothing, serve: || get(actions::logged_in), ..PLAIN },
    Route { path: "/frame/{word}", proof: Proof::Nothing, serve: || get(apps::frame), ..PLAIN },
    Route { path: "/assets/{file}", proof: Proof::Nothing, serve: || get(assets::asset), ..PLAIN },
    Route {
        method: "post",
        path: "/sign-in/link",
        proof: Proof::Nothing,
        serve: || post(actions::new_link),
        ..PLAIN
    },
];
