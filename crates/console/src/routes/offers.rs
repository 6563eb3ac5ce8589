//! What the API says of tools, resources and prompts, and does with them.

use axum::routing::{get, post};

use super::route::{ACTS, PLAIN, Route};
use crate::{actions, api};

const SEARCH: &[(&str, &str)] = &[("q", "words to search for"), ("server", "only of this server")];

const CATALOG: &[(&str, &str)] = &[
    ("q", "words to search for"),
    ("server", "only of this server"),
    ("limit", "at most so many that fit the words; 10 unless told"),
    ("all", "`true` for what a rule forbids to everybody, too"),
];

const OF_SERVER: &[(&str, &str)] = &[("server", "only of this server")];

pub(super) const OFFERS: &[Route] = &[
    Route {
        path: "/api/v1/tools",
        about: "Tools, all or those that fit the words best",
        query: SEARCH,
        serve: || get(api::tools),
        ..PLAIN
    },
    Route {
        path: "/api/v1/tools/{server}/{tool}",
        about: "One tool with its definition",
        serve: || get(api::tool),
        ..PLAIN
    },
    Route {
        path: "/api/v1/tools/{server}/{tool}/call",
        about: "Calls a tool, as the person who is signed in",
        body: &[
            ("watch", "a word under which the events tell how far it is"),
            ("arguments", "an object: the arguments of the tool"),
        ],
        serve: || post(actions::call_tool),
        ..ACTS
    },
    Route {
        path: "/api/v1/tools/{server}/{tool}/app",
        about: "Reads the page of a tool's app and gives the address of a frame for it",
        serve: || post(actions::open_app),
        ..ACTS
    },
    Route {
        path: "/api/v1/tools/{server}/{tool}/app/call",
        about: "Calls a tool of the same server for an app, by the rules for clients",
        body: &[("name", "the tool"), ("arguments", "an object: its arguments")],
        serve: || post(actions::call_for_app),
        ..ACTS
    },
    Route {
        path: "/api/v1/tools/{server}/{tool}/app/read",
        about: "Reads a resource of the same server for an app, by the rules for clients",
        body: &[("uri", "the address of the resource")],
        serve: || post(actions::read_for_app),
        ..ACTS
    },
    Route {
        path: "/api/v1/catalog/tools",
        about: "Tools with their definitions to the letter, all or those that fit the words",
        query: CATALOG,
        serve: || get(api::catalog_tools),
        ..PLAIN
    },
    Route {
        path: "/api/v1/catalog/tools/{server}/{tool}",
        about: "One tool with its definition to the letter, also one that is held",
        serve: || get(api::catalog_tool),
        ..PLAIN
    },
    Route {
        path: "/api/v1/catalog/resources",
        about: "Resources and templates with their definitions to the letter",
        query: OF_SERVER,
        serve: || get(api::catalog_resources),
        ..PLAIN
    },
    Route {
        path: "/api/v1/catalog/prompts",
        about: "Prompts with their definitions to the letter",
        query: OF_SERVER,
        serve: || get(api::catalog_prompts),
        ..PLAIN
    },
    Route {
        path: "/api/v1/resources",
        about: "Resources, templates and prompts of all servers",
        serve: || get(api::resources),
        ..PLAIN
    },
    Route {
        path: "/api/v1/resources/read",
        about: "Reads a resource, as the person who is signed in",
        body: &[
            ("watch", "a word under which the events tell how far it is"),
            ("server", "the server"),
            ("uri", "the address of the resource"),
        ],
        serve: || post(actions::read_resource),
        ..ACTS
    },
    Route {
        path: "/api/v1/complete",
        about: "Says how the value of an argument may go on, as its server knows",
        body: &[
            ("server", "the server"),
            ("prompt", "the prompt that has the argument"),
            ("template", "or the template that has it"),
            ("argument", "its name"),
            ("value", "what is written of it"),
            ("context", "an object: the other arguments"),
        ],
        serve: || post(actions::complete),
        ..ACTS
    },
    Route {
        path: "/api/v1/prompts/{server}/{prompt}",
        about: "One prompt with its arguments",
        serve: || get(api::prompt),
        ..PLAIN
    },
    Route {
        path: "/api/v1/prompts/{server}/{prompt}/get",
        about: "Fetches a prompt, as the person who is signed in",
        body: &[
            ("watch", "a word under which the events tell how far it is"),
            ("arguments", "an object of texts: the arguments of the prompt"),
        ],
        serve: || post(actions::get_prompt),
        ..ACTS
    },
];
