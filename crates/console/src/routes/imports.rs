//! What the API says of servers that could be added: typed, pasted, of other products, of registries.

use axum::routing::post;

use super::route::{ACTION_ROUTE, ConsoleRoute, ResponseKind};
use super::schemas::schema_for;
use crate::actions;
use crate::actions::{AddedFromRegistry, RegistryWords, ServerAdded, Taken, WhichInRegistry};
use crate::entry::TypedEntry;
use crate::views::Proposal;
use crate::views::registry::{Chosen, FilledIn, RegistryFound, RegistryShown};

pub(super) const IMPORTS: &[ConsoleRoute] = &[
    ConsoleRoute {
        path: "/api/v1/configurations/read",
        about: "Says what would be added by a text or a form, and what is dangerous about it",
        takes: Some(schema_for::<TypedEntry>),
        gives: ResponseKind::Json(schema_for::<Proposal>),
        serve: || post(actions::preview),
        ..ACTION_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/configurations/installed",
        about: "Says which servers other products have on this machine, and what would be taken",
        gives: ResponseKind::Json(schema_for::<Proposal>),
        serve: || post(actions::discover),
        ..ACTION_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/configurations/take",
        about: "Takes a server over from the file of another product, exactly as it was shown",
        takes: Some(schema_for::<Taken>),
        gives: ResponseKind::Json(schema_for::<ServerAdded>),
        serve: || post(actions::import),
        ..ACTION_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/registry/search",
        about: "Searches the registries of the settings, or the official one",
        takes: Some(schema_for::<RegistryWords>),
        gives: ResponseKind::Json(schema_for::<RegistryFound>),
        serve: || post(actions::search_registry),
        ..ACTION_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/registry/show",
        about: "The ways in which a server of a registry can be added, with what each would run",
        takes: Some(schema_for::<WhichInRegistry>),
        gives: ResponseKind::Json(schema_for::<RegistryShown>),
        serve: || post(actions::show_registry),
        ..ACTION_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/registry/look",
        about: "Says exactly what would be run or visited with these answers",
        takes: Some(schema_for::<Chosen>),
        gives: ResponseKind::Json(schema_for::<FilledIn>),
        serve: || post(actions::preview_registry),
        ..ACTION_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/registry/add",
        about: "Adds a server of a registry, exactly what was shown",
        takes: Some(schema_for::<AddedFromRegistry>),
        gives: ResponseKind::Json(schema_for::<ServerAdded>),
        serve: || post(actions::add_from_registry),
        ..ACTION_ROUTE
    },
];
