//! One thing that can be asked for, and the one table of all of them.

use axum::routing::{MethodRouter, get};

use super::deciding::DECIDING;
use super::finding::FINDING;
use super::happening::HAPPENING;
use super::offers::OFFERS;
use super::pages::PAGES;
use super::servers::SERVERS;
use super::talking::TALKING;
use crate::console::Shared;
use crate::pages;

/// All routes. Those of the API are described in its document by what they say here.
pub(crate) fn all() -> impl Iterator<Item = &'static Route> {
    [PAGES, SERVERS, FINDING, OFFERS, DECIDING, HAPPENING, TALKING].into_iter().flatten()
}

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
    /// What kind of answer it gives.
    pub(crate) kind: &'static str,
    pub(crate) serve: fn() -> MethodRouter<Shared>,
}

/// What a caller has to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Proof {
    /// Nothing: it tells nothing and does nothing, or brings a proof of its own.
    Nothing,
    /// The cookie of a browser that is signed in.
    Session,
    /// That, and the token of a page of ours.
    Token,
}

/// A page.
pub(super) const PLAIN: Route = Route {
    method: "get",
    path: "/",
    proof: Proof::Session,
    about: "",
    query: &[],
    body: &[],
    kind: "application/json",
    serve: || get(pages::overview),
};

/// What acts.
pub(super) const ACTS: Route = Route { method: "post", proof: Proof::Token, ..PLAIN };
