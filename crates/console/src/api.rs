//! The JSON API's answers to questions: what the pages show, as it is.

use std::future::{Ready, ready};

use axum::extract::{Path, State};
use axum::response::Response;

use crate::asked::Asked;
use crate::console::Shared;
use crate::reply::{Problem, file, json, lines};
use crate::shown::{self, CallQuery, CatalogQuery, ServerQuery, ToolQuery};

type Answer = Result<Response, Problem>;

pub(crate) async fn overview(State(console): State<Shared>) -> Answer {
    Ok(json(&shown::overview(&console).await?))
}

pub(crate) fn servers(State(console): State<Shared>) -> Ready<Response> {
    ready(json(&shown::servers(&console)))
}

pub(crate) async fn server(State(console): State<Shared>, Path(name): Path<String>) -> Answer {
    Ok(json(&shown::server(&console, &name).await?))
}

pub(crate) fn tools(
    State(console): State<Shared>,
    Asked(query): Asked<ToolQuery>,
) -> Ready<Response> {
    ready(json(&shown::tools(&console, &query)))
}

pub(crate) async fn tool(
    State(console): State<Shared>,
    Path((server, tool)): Path<(String, String)>,
) -> Answer {
    Ok(json(&shown::tool(&console, &server, &tool).await?))
}

pub(crate) fn resources(State(console): State<Shared>) -> Ready<Response> {
    ready(json(&shown::resources(&console)))
}

pub(crate) fn prompt(
    State(console): State<Shared>,
    Path((server, prompt)): Path<(String, String)>,
) -> Ready<Answer> {
    ready(shown::prompt(&console, &server, &prompt).map(|found| json(&found)))
}

pub(crate) fn catalog_tools(
    State(console): State<Shared>,
    Asked(query): Asked<CatalogQuery>,
) -> Ready<Response> {
    ready(json(&shown::catalog_tools(&console, &query)))
}

pub(crate) fn catalog_tool(
    State(console): State<Shared>,
    Path((server, tool)): Path<(String, String)>,
) -> Ready<Answer> {
    ready(shown::catalog_tool(&console, &server, &tool).map(|found| json(&found)))
}

pub(crate) fn catalog_resources(
    State(console): State<Shared>,
    Asked(query): Asked<ServerQuery>,
) -> Ready<Response> {
    ready(json(&shown::catalog_resources(&console, &query)))
}

pub(crate) fn catalog_prompts(
    State(console): State<Shared>,
    Asked(query): Asked<ServerQuery>,
) -> Ready<Response> {
    ready(json(&shown::catalog_prompts(&console, &query)))
}

pub(crate) async fn calls(State(console): State<Shared>, Asked(query): Asked<CallQuery>) -> Answer {
    Ok(json(&shown::calls(&console, &query).await?))
}

/// Streamed: however many there are, only some are in memory.
pub(crate) fn export(
    State(console): State<Shared>,
    Asked(query): Asked<CallQuery>,
) -> Ready<Answer> {
    ready(shown::export(console, &query).map(lines))
}

pub(crate) async fn call(State(console): State<Shared>, Path(id): Path<String>) -> Answer {
    Ok(json(&shown::call(&console, &id).await?))
}

/// What a call gave, to be kept in a file.
pub(crate) async fn call_result(State(console): State<Shared>, Path(id): Path<String>) -> Answer {
    Ok(file(&shown::call_result(&console, &id).await?))
}

/// A part of what a call gave, to be kept in a file.
pub(crate) async fn call_part(
    State(console): State<Shared>,
    Path((id, number)): Path<(String, String)>,
) -> Answer {
    let number = number.parse().map_err(|_| Problem::missing(format!("`{number}` is no part")))?;
    Ok(file(&shown::call_part(&console, &id, number).await?))
}

pub(crate) async fn reviews(State(console): State<Shared>) -> Answer {
    Ok(json(&shown::reviews(&console).await?))
}

pub(crate) async fn sessions(State(console): State<Shared>) -> Answer {
    Ok(json(&shown::sessions(&console).await?))
}

pub(crate) async fn session(State(console): State<Shared>, Path(id): Path<String>) -> Answer {
    Ok(json(&shown::session(&console, &id).await?))
}

pub(crate) async fn entry(State(console): State<Shared>, Path(name): Path<String>) -> Answer {
    Ok(json(&shown::entry(&console, &name).await?))
}

pub(crate) fn policy(State(console): State<Shared>) -> Ready<Response> {
    ready(json(&shown::policy(&console)))
}

pub(crate) fn pins(State(console): State<Shared>) -> Ready<Response> {
    ready(json(&shown::held(&console)))
}
