//! The pages, what they are made with, and how to come in.

use axum::routing::{get, post};

use super::route::{ConsoleRoute, PAGE_ROUTE, RequiredAuth};
use crate::{actions, apps, assets, pages};

pub(super) const PAGES: &[ConsoleRoute] = &[
    PAGE_ROUTE,
    ConsoleRoute { path: "/servers", serve: || get(pages::servers), ..PAGE_ROUTE },
    ConsoleRoute { path: "/servers/{server}", serve: || get(pages::server), ..PAGE_ROUTE },
    ConsoleRoute { path: "/add-server", serve: || get(pages::add_server), ..PAGE_ROUTE },
    ConsoleRoute {
        path: "/servers/{server}/edit",
        serve: || get(pages::edit_server),
        ..PAGE_ROUTE
    },
    ConsoleRoute { path: "/tools", serve: || get(pages::tools), ..PAGE_ROUTE },
    ConsoleRoute { path: "/tools/{server}/{tool}", serve: || get(pages::tool), ..PAGE_ROUTE },
    ConsoleRoute { path: "/resources", serve: || get(pages::resources), ..PAGE_ROUTE },
    ConsoleRoute { path: "/prompts/{server}/{prompt}", serve: || get(pages::prompt), ..PAGE_ROUTE },
    ConsoleRoute { path: "/calls", serve: || get(pages::calls), ..PAGE_ROUTE },
    ConsoleRoute { path: "/calls/{id}", serve: || get(pages::call), ..PAGE_ROUTE },
    ConsoleRoute { path: "/reviews", serve: || get(pages::reviews), ..PAGE_ROUTE },
    ConsoleRoute { path: "/sessions", serve: || get(pages::sessions), ..PAGE_ROUTE },
    ConsoleRoute { path: "/sessions/{session}", serve: || get(pages::session), ..PAGE_ROUTE },
    ConsoleRoute { path: "/policy", serve: || get(pages::policy), ..PAGE_ROUTE },
    ConsoleRoute {
        path: "/callback",
        proof: RequiredAuth::Nothing,
        serve: || get(actions::login_callback),
        ..PAGE_ROUTE
    },
    ConsoleRoute {
        path: "/frame/{word}",
        proof: RequiredAuth::Nothing,
        serve: || get(apps::frame),
        ..PAGE_ROUTE
    },
    ConsoleRoute {
        path: "/assets/{file}",
        proof: RequiredAuth::Nothing,
        serve: || get(assets::asset),
        ..PAGE_ROUTE
    },
    ConsoleRoute {
        method: "post",
        path: "/sign-in/link",
        proof: RequiredAuth::Nothing,
        serve: || post(actions::new_link),
        ..PAGE_ROUTE
    },
];
