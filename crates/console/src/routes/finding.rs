//! What the API says of servers that could be added: typed, pasted, of other products, of registries.

use axum::routing::post;

use super::route::{ACTS, Gives, Route};
use super::shape::of;
use crate::actions;
use crate::actions::{AddedFromRegistry, RegistryWords, ServerAdded, Taken, WhichInRegistry};
use crate::entry::Typed;
use crate::shown::Proposal;
use crate::shown::registry::{Chosen, FilledIn, RegistryFound, RegistryShown};

pub(super) const FINDING: &[Route] = &[
    Route {
        path: "/api/v1/configurations/read",
        about: "Says what would be added by a text or a form, and what is dangerous about it",
        takes: Some(of::<Typed>),
        gives: Gives::Json(of::<Proposal>),
        serve: || post(actions::look),
        ..ACTS
    },
    Route {
        path: "/api/v1/configurations/installed",
        about: "Says which servers other products have on this machine, and what would be taken",
        gives: Gives::Json(of::<Proposal>),
        serve: || post(actions::look_around),
        ..ACTS
    },
    Route {
        path: "/api/v1/configurations/take",
        about: "Takes a server over from the file of another product, exactly as it was shown",
        takes: Some(of::<Taken>),
        gives: Gives::Json(of::<ServerAdded>),
        serve: || post(actions::take),
        ..ACTS
    },
    Route {
        path: "/api/v1/registry/search",
        about: "Searches the registries of the settings, or the official one",
        takes: Some(of::<RegistryWords>),
        gives: Gives::Json(of::<RegistryFound>),
        serve: || post(actions::search_registry),
        ..ACTS
    },
    Route {
        path: "/api/v1/registry/show",
        about: "The ways in which a server of a registry can be added, with what each would run",
        takes: Some(of::<WhichInRegistry>),
        gives: Gives::Json(of::<RegistryShown>),
        serve: || post(actions::show_registry),
        ..ACTS
    },
    Route {
        path: "/api/v1/registry/look",
        about: "Says exactly what would be run or visited with these answers",
        takes: Some(of::<Chosen>),
        gives: Gives::Json(of::<FilledIn>),
        serve: || post(actions::look_at_registry),
        ..ACTS
    },
    Route {
        path: "/api/v1/registry/add",
        about: "Adds a server of a registry, exactly what was shown",
        takes: Some(of::<AddedFromRegistry>),
        gives: Gives::Json(of::<ServerAdded>),
        serve: || post(actions::add_from_registry),
        ..ACTS
    },
];
