//! The JSON API's answers to questions: what the pages show, as it is.

use std::future::{Ready, ready};

use axum::extract::{Path, State};
use axum::response::Response;

use crate::api_query::ApiQuery;
use crate::console::SharedConsole;
use crate::reply::{ApiError, download, json, json_lines};
use crate::views;
use switchboard_views::{CallQuery, CatalogQuery, ServerQuery, ToolQuery};

type ApiResult = Result<Response, ApiError>;

pub(crate) async fn overview(State(console): State<SharedConsole>) -> ApiResult {
    Ok(json(&switchboard_views::overview(&console.host).await?))
}

pub(crate) fn servers(State(console): State<SharedConsole>) -> Ready<Response> {
    ready(json(&switchboard_views::servers(&console.host)))
}

pub(crate) async fn server(
    State(console): State<SharedConsole>,
    Path(name): Path<String>,
) -> ApiResult {
    Ok(json(&switchboard_views::server(&console.host, &name).await?))
}

pub(crate) fn tools(
    State(console): State<SharedConsole>,
    ApiQuery(query): ApiQuery<ToolQuery>,
) -> Ready<Response> {
    ready(json(&switchboard_views::tools(&console.host, &query)))
}

pub(crate) async fn tool(
    State(console): State<SharedConsole>,
    Path((server, tool)): Path<(String, String)>,
) -> ApiResult {
    Ok(json(&switchboard_views::tool(&console.host, &server, &tool).await?))
}

pub(crate) fn resources(State(console): State<SharedConsole>) -> Ready<Response> {
    ready(json(&switchboard_views::resources(&console.host)))
}

pub(crate) fn prompt(
    State(console): State<SharedConsole>,
    Path((server, prompt)): Path<(String, String)>,
) -> Ready<ApiResult> {
    ready(
        switchboard_views::prompt(&console.host, &server, &prompt)
            .map_err(ApiError::from)
            .map(|found| json(&found)),
    )
}

pub(crate) fn catalog_tools(
    State(console): State<SharedConsole>,
    ApiQuery(query): ApiQuery<CatalogQuery>,
) -> Ready<Response> {
    ready(json(&switchboard_views::catalog_tools(&console.host, &query)))
}

pub(crate) fn catalog_tool(
    State(console): State<SharedConsole>,
    Path((server, tool)): Path<(String, String)>,
) -> Ready<ApiResult> {
    ready(
        switchboard_views::catalog_tool(&console.host, &server, &tool)
            .map_err(ApiError::from)
            .map(|found| json(&found)),
    )
}

pub(crate) fn catalog_resources(
    State(console): State<SharedConsole>,
    ApiQuery(query): ApiQuery<ServerQuery>,
) -> Ready<Response> {
    ready(json(&switchboard_views::catalog_resources(&console.host, &query)))
}

pub(crate) fn catalog_prompts(
    State(console): State<SharedConsole>,
    ApiQuery(query): ApiQuery<ServerQuery>,
) -> Ready<Response> {
    ready(json(&switchboard_views::catalog_prompts(&console.host, &query)))
}

pub(crate) async fn calls(
    State(console): State<SharedConsole>,
    ApiQuery(query): ApiQuery<CallQuery>,
) -> ApiResult {
    Ok(json(&switchboard_views::calls(&console.host, &query).await?))
}

/// Streamed: however many there are, only some are in memory.
pub(crate) fn export(
    State(console): State<SharedConsole>,
    ApiQuery(query): ApiQuery<CallQuery>,
) -> Ready<ApiResult> {
    ready(views::export(console, &query).map(json_lines))
}

pub(crate) async fn call(
    State(console): State<SharedConsole>,
    Path(id): Path<String>,
) -> ApiResult {
    Ok(json(&switchboard_views::call(&console.host, &id).await?))
}

/// What a call gave, to be kept in a file.
pub(crate) async fn call_result(
    State(console): State<SharedConsole>,
    Path(id): Path<String>,
) -> ApiResult {
    Ok(download(&views::call_result(&console, &id).await?))
}

/// A part of what a call gave, to be kept in a file.
pub(crate) async fn call_part(
    State(console): State<SharedConsole>,
    Path((id, number)): Path<(String, String)>,
) -> ApiResult {
    let number =
        number.parse().map_err(|_| ApiError::not_found(format!("`{number}` is no part")))?;
    Ok(download(&views::call_part(&console, &id, number).await?))
}

pub(crate) async fn reviews(State(console): State<SharedConsole>) -> ApiResult {
    Ok(json(&switchboard_views::reviews(&console.host).await?))
}

pub(crate) async fn sessions(State(console): State<SharedConsole>) -> ApiResult {
    Ok(json(&views::sessions(&console).await?))
}

pub(crate) async fn session(
    State(console): State<SharedConsole>,
    Path(id): Path<String>,
) -> ApiResult {
    Ok(json(&views::session(&console, &id).await?))
}

pub(crate) async fn entry(
    State(console): State<SharedConsole>,
    Path(name): Path<String>,
) -> ApiResult {
    Ok(json(&views::entry(&console, &name).await?))
}

pub(crate) fn policy(State(console): State<SharedConsole>) -> Ready<Response> {
    ready(json(&switchboard_views::policy(&console.host)))
}

pub(crate) fn pins(State(console): State<SharedConsole>) -> Ready<Response> {
    ready(json(&switchboard_views::held_servers(&console.host)))
}
