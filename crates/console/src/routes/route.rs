//! One thing that can be asked for, and the one table of all of them.

use axum::routing::{MethodRouter, get};

use super::calls::CALLS;
use super::decisions::DECISIONS;
use super::imports::IMPORTS;
use super::offers::OFFERS;
use super::pages::PAGES;
use super::schemas::SchemaFn;
use super::servers::SERVERS;
use super::sessions::SESSIONS;
use crate::console::SharedConsole;
use crate::pages;

/// All routes. Those of the API are described in its document by what they say here.
pub(crate) fn all() -> impl Iterator<Item = &'static ConsoleRoute> {
    [PAGES, SERVERS, IMPORTS, OFFERS, DECISIONS, CALLS, SESSIONS].into_iter().flatten()
}

/// One thing that can be asked for.
pub(crate) struct ConsoleRoute {
    /// `get` or `post`.
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    /// What a caller has to show.
    pub(crate) proof: RequiredAuth,
    /// What it is for, in a sentence; pages have none of their own.
    pub(crate) about: &'static str,
    /// What may be said in the query.
    pub(crate) query: Option<SchemaFn>,
    /// What may be said in the body.
    pub(crate) takes: Option<SchemaFn>,
    /// What it answers.
    pub(crate) gives: ResponseKind,
    pub(crate) serve: fn() -> MethodRouter<SharedConsole>,
}

/// What a route answers when all is well.
#[derive(Clone, Copy)]
pub(crate) enum ResponseKind {
    /// What the API says nothing of.
    Page,
    /// A JSON text.
    Json(SchemaFn),
    /// A JSON text in each line.
    Lines(SchemaFn),
    /// Server-sent events with a JSON text as the data of each.
    Events(SchemaFn),
    /// A file of this kind.
    File(&'static str),
}

/// What a caller has to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequiredAuth {
    /// Nothing: it tells nothing and does nothing, or brings a proof of its own.
    Nothing,
    /// The cookie of a browser that is signed in.
    Session,
    /// That, and the token of a page of ours.
    Token,
}

/// A page.
pub(super) const PAGE_ROUTE: ConsoleRoute = ConsoleRoute {
    method: "get",
    path: "/",
    proof: RequiredAuth::Session,
    about: "",
    query: None,
    takes: None,
    gives: ResponseKind::Page,
    serve: || get(pages::overview),
};

/// What acts.
pub(super) const ACTION_ROUTE: ConsoleRoute =
    ConsoleRoute { method: "post", proof: RequiredAuth::Token, ..PAGE_ROUTE };
