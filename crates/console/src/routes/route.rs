//! One thing that can be asked for, and the one table of all of them.

use axum::routing::{MethodRouter, get};

use super::deciding::DECIDING;
use super::finding::FINDING;
use super::happening::HAPPENING;
use super::offers::OFFERS;
use super::pages::PAGES;
use super::servers::SERVERS;
use super::shape::Shape;
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
    /// What may be said in the query.
    pub(crate) query: Option<Shape>,
    /// What may be said in the body.
    pub(crate) takes: Option<Shape>,
    /// What it answers.
    pub(crate) gives: Gives,
    pub(crate) serve: fn() -> MethodRouter<Shared>,
}

/// What a route answers when all is well.
#[derive(Clone, Copy)]
pub(crate) enum Gives {
    /// What the API says nothing of.
    Page,
    /// A JSON text.
    Json(Shape),
    /// A JSON text in each line.
    Lines(Shape),
    /// Server-sent events with a JSON text as the data of each.
    Events(Shape),
    /// A file of this kind.
    File(&'static str),
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
    query: None,
    takes: None,
    gives: Gives::Page,
    serve: || get(pages::overview),
};

/// What acts.
pub(super) const ACTS: Route = Route { method: "post", proof: Proof::Token, ..PLAIN };
