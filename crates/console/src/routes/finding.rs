//! What the API says of servers that could be added: typed, pasted, of other products, of registries.

use axum::routing::post;

use super::route::{ACTS, Route};
use crate::actions;

pub(super) const FINDING: &[Route] = &[
    Route {
        path: "/api/v1/configurations/read",
        about: "Says what would be added by a text or a form, and what is dangerous about it",
        body: &[
            ("text", "a file of any known product, a link that installs a server, or one entry"),
            ("product", "whose file it is, such as `codex`; guessed unless told"),
            ("name", "the name of a server, where the text has none"),
            ("target", "instead of the text: a command with its arguments, or an address"),
            ("environment", "with a command: a line `NAME=value` for each variable"),
            ("headers", "with an address: a line `Name: value` for each header"),
        ],
        serve: || post(actions::look),
        ..ACTS
    },
    Route {
        path: "/api/v1/configurations/installed",
        about: "Says which servers other products have on this machine, and what would be taken",
        serve: || post(actions::look_around),
        ..ACTS
    },
    Route {
        path: "/api/v1/configurations/take",
        about: "Takes a server over from the file of another product, exactly as it was shown",
        body: &[
            ("place", "the file that has it"),
            ("name", "its name there"),
            ("digest", "the `digest` of what was shown"),
            ("under", "its name here"),
            ("agreed", "the words of the dangers that were agreed to"),
        ],
        serve: || post(actions::take),
        ..ACTS
    },
    Route {
        path: "/api/v1/registry/search",
        about: "Searches the registries of the settings, or the official one",
        body: &[("words", "what to look for")],
        serve: || post(actions::search_registry),
        ..ACTS
    },
    Route {
        path: "/api/v1/registry/show",
        about: "The ways in which a server of a registry can be added, with what each would run",
        body: &[("name", "its name in the registry"), ("version", "the newest unless told")],
        serve: || post(actions::show_registry),
        ..ACTS
    },
    Route {
        path: "/api/v1/registry/look",
        about: "Says exactly what would be run or visited with these answers",
        body: &[
            ("name", "its name in the registry"),
            ("version", "its version"),
            ("way", "the number of the way"),
            ("answers", "an object: what was answered to what is asked"),
        ],
        serve: || post(actions::look_at_registry),
        ..ACTS
    },
    Route {
        path: "/api/v1/registry/add",
        about: "Adds a server of a registry, exactly what was shown",
        body: &[
            ("name", "its name in the registry"),
            ("version", "its version"),
            ("way", "the number of the way"),
            ("answers", "an object: what was answered to what is asked"),
            ("digest", "the `digest` of what was shown"),
            ("under", "its name here"),
            ("replace", "`true` to replace a server of that name"),
            ("agreed", "the words of the dangers that were agreed to"),
        ],
        serve: || post(actions::add_from_registry),
        ..ACTS
    },
];
