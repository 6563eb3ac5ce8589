//! What the API says of tools, resources and prompts, and does with them.

use axum::routing::{get, post};

use super::route::{ACTS, Gives, PLAIN, Route};
use super::shape::{of, query, sent_result};
use crate::actions::{
    AppOpened, CallForApp, Completion, ReadForApp, ToComplete, WhichResource, WithArguments,
};
use crate::shown::{
    CatalogItem, CatalogQuery, CatalogTool, OfferedPrompt, Ran, ResourcesShown, ServerQuery,
    ToolQuery, ToolRow, ToolShown,
};
use crate::{actions, api};

pub(super) const OFFERS: &[Route] = &[
    Route {
        path: "/api/v1/tools",
        about: "Tools, all or those that fit the words best",
        query: Some(query::<ToolQuery>),
        gives: Gives::Json(of::<Vec<ToolRow>>),
        serve: || get(api::tools),
        ..PLAIN
    },
    Route {
        path: "/api/v1/tools/{server}/{tool}",
        about: "One tool with its definition",
        gives: Gives::Json(of::<ToolShown>),
        serve: || get(api::tool),
        ..PLAIN
    },
    Route {
        path: "/api/v1/tools/{server}/{tool}/call",
        about: "Calls a tool, as the person who is signed in",
        takes: Some(of::<WithArguments>),
        gives: Gives::Json(of::<Ran>),
        serve: || post(actions::call_tool),
        ..ACTS
    },
    Route {
        path: "/api/v1/tools/{server}/{tool}/app",
        about: "Reads the page of a tool's app and gives the address of a frame for it",
        gives: Gives::Json(of::<AppOpened>),
        serve: || post(actions::open_app),
        ..ACTS
    },
    Route {
        path: "/api/v1/tools/{server}/{tool}/app/call",
        about: "Calls a tool of the same server for an app, by the rules for clients",
        takes: Some(of::<CallForApp>),
        gives: Gives::Json(sent_result),
        serve: || post(actions::call_for_app),
        ..ACTS
    },
    Route {
        path: "/api/v1/tools/{server}/{tool}/app/read",
        about: "Reads a resource of the same server for an app, by the rules for clients",
        takes: Some(of::<ReadForApp>),
        gives: Gives::Json(sent_result),
        serve: || post(actions::read_for_app),
        ..ACTS
    },
    Route {
        path: "/api/v1/catalog/tools",
        about: "Tools with their definitions to the letter, all or those that fit the words",
        query: Some(query::<CatalogQuery>),
        gives: Gives::Json(of::<Vec<CatalogTool>>),
        serve: || get(api::catalog_tools),
        ..PLAIN
    },
    Route {
        path: "/api/v1/catalog/tools/{server}/{tool}",
        about: "One tool with its definition to the letter, also one that is held",
        gives: Gives::Json(of::<CatalogTool>),
        serve: || get(api::catalog_tool),
        ..PLAIN
    },
    Route {
        path: "/api/v1/catalog/resources",
        about: "Resources and templates with their definitions to the letter",
        query: Some(query::<ServerQuery>),
        gives: Gives::Json(of::<Vec<CatalogItem>>),
        serve: || get(api::catalog_resources),
        ..PLAIN
    },
    Route {
        path: "/api/v1/catalog/prompts",
        about: "Prompts with their definitions to the letter",
        query: Some(query::<ServerQuery>),
        gives: Gives::Json(of::<Vec<CatalogItem>>),
        serve: || get(api::catalog_prompts),
        ..PLAIN
    },
    Route {
        path: "/api/v1/resources",
        about: "Resources, templates and prompts of all servers",
        gives: Gives::Json(of::<ResourcesShown>),
        serve: || get(api::resources),
        ..PLAIN
    },
    Route {
        path: "/api/v1/resources/read",
        about: "Reads a resource, as the person who is signed in",
        takes: Some(of::<WhichResource>),
        gives: Gives::Json(of::<Ran>),
        serve: || post(actions::read_resource),
        ..ACTS
    },
    Route {
        path: "/api/v1/complete",
        about: "Says how the value of an argument may go on, as its server knows",
        takes: Some(of::<ToComplete>),
        gives: Gives::Json(of::<Completion>),
        serve: || post(actions::complete),
        ..ACTS
    },
    Route {
        path: "/api/v1/prompts/{server}/{prompt}",
        about: "One prompt with its arguments",
        gives: Gives::Json(of::<OfferedPrompt>),
        serve: || get(api::prompt),
        ..PLAIN
    },
    Route {
        path: "/api/v1/prompts/{server}/{prompt}/get",
        about: "Fetches a prompt, as the person who is signed in",
        takes: Some(of::<WithArguments>),
        gives: Gives::Json(of::<Ran>),
        serve: || post(actions::get_prompt),
        ..ACTS
    },
];
