//! The read endpoints of the JSON API, which return view models.

use std::future::{Ready, ready};

use axum::extract::{FromRequestParts, Path, Query, State};
use axum::http::request::Parts;
use axum::response::Response;
use serde::de::DeserializeOwned;
use switchboard_views::{CallQuery, CatalogQuery, ItemList, ServerQuery, ToolQuery};

use crate::console::ConsoleState;
use crate::reply::{ApiError, download, json, json_lines};
use crate::views;

type ApiResult = Result<Response, ApiError>;

pub(crate) async fn overview(State(console): ConsoleState) -> ApiResult {
    Ok(json(&switchboard_views::overview(&console.host).await?))
}

pub(crate) fn servers(State(console): ConsoleState) -> Ready<Response> {
    ready(json(&switchboard_views::servers(&console.host)))
}

pub(crate) async fn server(State(console): ConsoleState, Path(name): Path<String>) -> ApiResult {
    Ok(json(&switchboard_views::server(&console.host, &name).await?))
}

pub(crate) fn tools(
    State(console): ConsoleState,
    ApiQuery(query): ApiQuery<ToolQuery>,
) -> Ready<Response> {
    ready(json(&switchboard_views::tools(&console.host, &query)))
}

pub(crate) async fn tool(
    State(console): ConsoleState,
    Path((server, tool)): Path<(String, String)>,
) -> ApiResult {
    Ok(json(&switchboard_views::tool(&console.host, &server, &tool).await?))
}

pub(crate) fn resources(State(console): ConsoleState) -> Ready<Response> {
    ready(json(&switchboard_views::resources(&console.host)))
}

pub(crate) fn prompt(
    State(console): ConsoleState,
    Path((server, prompt)): Path<(String, String)>,
) -> Ready<ApiResult> {
    let found = switchboard_views::prompt(&console.host, &server, &prompt);
    ready(found.map(|found| json(&found)).map_err(ApiError::from))
}

pub(crate) fn catalog_tools(
    State(console): ConsoleState,
    ApiQuery(query): ApiQuery<CatalogQuery>,
) -> Ready<Response> {
    ready(json(&switchboard_views::catalog_tools(&console.host, &query)))
}

pub(crate) fn catalog_tool(
    State(console): ConsoleState,
    Path((server, tool)): Path<(String, String)>,
) -> Ready<ApiResult> {
    let found = switchboard_views::catalog_tool(&console.host, &server, &tool);
    ready(found.map(|found| json(&found)).map_err(ApiError::from))
}

pub(crate) fn catalog_resources(
    State(console): ConsoleState,
    ApiQuery(query): ApiQuery<ServerQuery>,
) -> Ready<Response> {
    let server = query.server.as_deref();
    ready(json(&switchboard_views::catalog_items(&console.host, ItemList::Resources, server)))
}

pub(crate) fn catalog_prompts(
    State(console): ConsoleState,
    ApiQuery(query): ApiQuery<ServerQuery>,
) -> Ready<Response> {
    let server = query.server.as_deref();
    ready(json(&switchboard_views::catalog_items(&console.host, ItemList::Prompts, server)))
}

pub(crate) async fn calls(
    State(console): ConsoleState,
    ApiQuery(query): ApiQuery<CallQuery>,
) -> ApiResult {
    Ok(json(&switchboard_views::calls(&console.host, &query).await?))
}

pub(crate) fn export(
    State(console): ConsoleState,
    ApiQuery(query): ApiQuery<CallQuery>,
) -> Ready<ApiResult> {
    // Streamed: the record may be far larger than memory.
    ready(views::export(console, &query).map(json_lines))
}

pub(crate) async fn call(State(console): ConsoleState, Path(id): Path<String>) -> ApiResult {
    Ok(json(&switchboard_views::call(&console.host, &id).await?))
}

pub(crate) async fn call_result(State(console): ConsoleState, Path(id): Path<String>) -> ApiResult {
    Ok(download(&views::call_result(&console, &id).await?))
}

pub(crate) async fn call_part(
    State(console): ConsoleState,
    Path((id, number)): Path<(String, String)>,
) -> ApiResult {
    let missing = |_| ApiError::not_found(format!("no content block `{number}`"));
    let number = number.parse::<usize>().map_err(missing)?;
    Ok(download(&views::call_part(&console, &id, number).await?))
}

pub(crate) async fn reviews(State(console): ConsoleState) -> ApiResult {
    Ok(json(&switchboard_views::reviews(&console.host).await?))
}

pub(crate) async fn sessions(State(console): ConsoleState) -> ApiResult {
    Ok(json(&views::sessions(&console).await?))
}

pub(crate) async fn session(State(console): ConsoleState, Path(id): Path<String>) -> ApiResult {
    Ok(json(&views::session(&console, &id).await?))
}

pub(crate) async fn entry(State(console): ConsoleState, Path(name): Path<String>) -> ApiResult {
    Ok(json(&views::entry(&console, &name).await?))
}

pub(crate) fn policy(State(console): ConsoleState) -> Ready<Response> {
    ready(json(&switchboard_views::policy(&console.host)))
}

pub(crate) fn pins(State(console): ConsoleState) -> Ready<Response> {
    ready(json(&switchboard_views::held_servers(&console.host)))
}

/// The query parameters of a request. Rejections use the error format of the API.
pub(crate) struct ApiQuery<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Sync> FromRequestParts<S> for ApiQuery<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        match Query::try_from_uri(&parts.uri) {
            Ok(Query(asked)) => Ok(Self(asked)),
            Err(refused) => {
                let text = refused.body_text();
                // axum's own wording would precede ours.
                let why = text.strip_prefix("Failed to deserialize query string: ");
                let why = why.unwrap_or(&text);
                Err(ApiError::unprocessable(format!("invalid query: {why}")))
            }
        }
    }
}
