//! The one table of everything that can be asked for: pages, the API, and what each asks of a caller.

use axum::routing::{MethodRouter, get, post};

use crate::console::Shared;
use crate::{actions, api, assets, live, openapi, pages};

/// One thing that can be asked for.
pub(crate) struct Route {
    /// `get` or `post`.
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    /// What a caller has to show.
    pub(crate) proof: Proof,
    /// What it is for, in a sentence; pages have none of their own.
    pub(crate) about: &'static str,
    /// What may be said in the query, with what it does.
    pub(crate) query: &'static [(&'static str, &'static str)],
    /// What may be said in the body, with what it is.
    pub(crate) body: &'static [(&'static str, &'static str)],
    pub(crate) serve: fn() -> MethodRouter<Shared>,
}

/// What a caller has to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Proof {
    /// Nothing: it tells nothing and does nothing.
    Nothing,
    /// The cookie of a browser that is signed in.
    Session,
    /// That, and the token of a page of ours.
    Token,
}

const PLAIN: Route = Route {
    method: "get",
    path: "/",
    proof: Proof::Session,
    about: "",
    query: &[],
    body: &[],
    serve: || get(pages::overview),
};

const ACTS: Route = Route { method: "post", proof: Proof::Token, ..PLAIN };

const SEARCH: &[(&str, &str)] = &[("q", "words to search for"), ("server", "only of this server")];

const CALLS: &[(&str, &str)] = &[
    ("server", "only of this server"),
    ("outcome", "only those that ended so, such as `ok` or `tool_error`"),
    ("text", "only those whose target, caller or message has this in it"),
    ("before", "only those before this call, for the next page"),
    ("limit", "at most so many; 50 unless told, 500 at most"),
];

/// All routes. Those of the API are described in its document by what they say here.
pub(crate) const ROUTES: &[Route] = &[
    PLAIN,
    Route { path: "/servers", serve: || get(pages::servers), ..PLAIN },
    Route { path: "/servers/{server}", serve: || get(pages::server), ..PLAIN },
    Route { path: "/tools", serve: || get(pages::tools), ..PLAIN },
    Route { path: "/tools/{server}/{tool}", serve: || get(pages::tool), ..PLAIN },
    Route { path: "/resources", serve: || get(pages::resources), ..PLAIN },
    Route { path: "/prompts/{server}/{prompt}", serve: || get(pages::prompt), ..PLAIN },
    Route { path: "/calls", serve: || get(pages::calls), ..PLAIN },
    Route { path: "/calls/{id}", serve: || get(pages::call), ..PLAIN },
    Route { path: "/reviews", serve: || get(pages::reviews), ..PLAIN },
    Route { path: "/sessions", serve: || get(pages::sessions), ..PLAIN },
    Route { path: "/sessions/{session}", serve: || get(pages::session), ..PLAIN },
    Route { path: "/assets/{file}", proof: Proof::Nothing, serve: || get(assets::asset), ..PLAIN },
    Route {
        method: "post",
        path: "/sign-in/link",
        proof: Proof::Nothing,
        serve: || post(actions::new_link),
        ..PLAIN
    },
    Route {
        path: "/api/v1/openapi.json",
        about: "This document",
        serve: || get(openapi::document),
        ..PLAIN
    },
    Route {
        path: "/api/v1/overview",
        about: "Servers by state, what waits, and how busy the last hour was",
        serve: || get(api::overview),
        ..PLAIN
    },
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
        body: &[("arguments", "an object: the arguments of the tool")],
        serve: || post(actions::call_tool),
        ..ACTS
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
        body: &[("server", "the server"), ("uri", "the address of the resource")],
        serve: || post(actions::read_resource),
        ..ACTS
    },
    Route {
        path: "/api/v1/prompts/{server}/{prompt}/get",
        about: "Fetches a prompt, as the person who is signed in",
        body: &[("arguments", "an object of texts: the arguments of the prompt")],
        serve: || post(actions::get_prompt),
        ..ACTS
    },
    Route {
        path: "/api/v1/calls",
        about: "Recorded calls, the newest first",
        query: CALLS,
        serve: || get(api::calls),
        ..PLAIN
    },
    Route {
        path: "/api/v1/calls/{id}",
        about: "Everything about one call",
        serve: || get(api::call),
        ..PLAIN
    },
    Route {
        path: "/api/v1/reviews",
        about: "What waits for a person, the oldest first",
        serve: || get(api::reviews),
        ..PLAIN
    },
    Route {
        path: "/api/v1/reviews/{id}/answer",
        about: "Answers something that waits; the first answer counts",
        body: &[
            ("digest", "the digest of what was shown"),
            ("answer", "`run`, `always`, `skip`, `reject`, `accept`, `decline` or `cancel`"),
            ("words", "with `reject`: what to do instead"),
            ("arguments", "with `run`: the text of a JSON object to use instead"),
            ("content", "with `accept`: what was filled into the form"),
        ],
        serve: || post(actions::answer_review),
        ..ACTS
    },
    Route {
        path: "/api/v1/sessions",
        about: "Conversations, the newest first",
        serve: || get(api::sessions),
        ..PLAIN
    },
    Route {
        path: "/api/v1/sessions/{session}",
        about: "One conversation with its steps",
        serve: || get(api::session),
        ..PLAIN
    },
    Route {
        path: "/api/v1/events",
        about: "What happens, as server-sent events; goes on after `Last-Event-ID`",
        proof: Proof::Token,
        serve: || get(live::events),
        ..PLAIN
    },
    Route {
        path: "/api/v1/sign-out",
        about: "Signs this browser out",
        serve: || post(actions::sign_out),
        ..ACTS
    },
];
