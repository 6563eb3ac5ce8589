//! What the API says of tools, resources and prompts, and does with them.

use axum::routing::{get, post};

use super::route::{ACTION_ROUTE, ConsoleRoute, PAGE_ROUTE, ResponseKind};
use super::schemas::{query_schema, schema_for, sent_result};
use crate::actions::{
    AppOpened, CallForApp, Completion, ReadForApp, ToComplete, WhichResource, WithArguments,
};
use crate::{actions, api};
use switchboard_views::{
    CatalogItem, CatalogQuery, CatalogTool, OfferedPrompt, Ran, ResourcesShown, ServerQuery,
    ToolQuery, ToolRow, ToolShown,
};

pub(super) const OFFERS: &[ConsoleRoute] = &[
    ConsoleRoute {
        path: "/api/v1/tools",
        about: "Tools, all or those that fit the words best",
        query: Some(query_schema::<ToolQuery>),
        gives: ResponseKind::Json(schema_for::<Vec<ToolRow>>),
        serve: || get(api::tools),
        ..PAGE_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/tools/{server}/{tool}",
        about: "One tool with its definition",
        gives: ResponseKind::Json(schema_for::<ToolShown>),
        serve: || get(api::tool),
        ..PAGE_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/tools/{server}/{tool}/call",
        about: "Calls a tool, as the person who is signed in",
        takes: Some(schema_for::<WithArguments>),
        gives: ResponseKind::Json(schema_for::<Ran>),
        serve: || post(actions::call_tool),
        ..ACTION_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/tools/{server}/{tool}/app",
        about: "Reads the page of a tool's app and gives the address of a frame for it",
        gives: ResponseKind::Json(schema_for::<AppOpened>),
        serve: || post(actions::open_app),
        ..ACTION_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/tools/{server}/{tool}/app/call",
        about: "Calls a tool of the same server for an app, by the rules for clients",
        takes: Some(schema_for::<CallForApp>),
        gives: ResponseKind::Json(sent_result),
        serve: || post(actions::call_for_app),
        ..ACTION_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/tools/{server}/{tool}/app/read",
        about: "Reads a resource of the same server for an app, by the rules for clients",
        takes: Some(schema_for::<ReadForApp>),
        gives: ResponseKind::Json(sent_result),
        serve: || post(actions::read_for_app),
        ..ACTION_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/catalog/tools",
        about: "Tools with their definitions to the letter, all or those that fit the words",
        query: Some(query_schema::<CatalogQuery>),
        gives: ResponseKind::Json(schema_for::<Vec<CatalogTool>>),
        serve: || get(api::catalog_tools),
        ..PAGE_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/catalog/tools/{server}/{tool}",
        about: "One tool with its definition to the letter, also one that is held",
        gives: ResponseKind::Json(schema_for::<CatalogTool>),
        serve: || get(api::catalog_tool),
        ..PAGE_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/catalog/resources",
        about: "Resources and templates with their definitions to the letter",
        query: Some(query_schema::<ServerQuery>),
        gives: ResponseKind::Json(schema_for::<Vec<CatalogItem>>),
        serve: || get(api::catalog_resources),
        ..PAGE_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/catalog/prompts",
        about: "Prompts with their definitions to the letter",
        query: Some(query_schema::<ServerQuery>),
        gives: ResponseKind::Json(schema_for::<Vec<CatalogItem>>),
        serve: || get(api::catalog_prompts),
        ..PAGE_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/resources",
        about: "Resources, templates and prompts of all servers",
        gives: ResponseKind::Json(schema_for::<ResourcesShown>),
        serve: || get(api::resources),
        ..PAGE_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/resources/read",
        about: "Reads a resource, as the person who is signed in",
        takes: Some(schema_for::<WhichResource>),
        gives: ResponseKind::Json(schema_for::<Ran>),
        serve: || post(actions::read_resource),
        ..ACTION_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/complete",
        about: "Says how the value of an argument may go on, as its server knows",
        takes: Some(schema_for::<ToComplete>),
        gives: ResponseKind::Json(schema_for::<Completion>),
        serve: || post(actions::complete),
        ..ACTION_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/prompts/{server}/{prompt}",
        about: "One prompt with its arguments",
        gives: ResponseKind::Json(schema_for::<OfferedPrompt>),
        serve: || get(api::prompt),
        ..PAGE_ROUTE
    },
    ConsoleRoute {
        path: "/api/v1/prompts/{server}/{prompt}/get",
        about: "Fetches a prompt, as the person who is signed in",
        takes: Some(schema_for::<WithArguments>),
        gives: ResponseKind::Json(schema_for::<Ran>),
        serve: || post(actions::get_prompt),
        ..ACTION_ROUTE
    },
];
