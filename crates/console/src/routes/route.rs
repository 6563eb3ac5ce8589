//! A route and the description of its request and response.

use axum::routing::{MethodRouter, get};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::console::SharedConsole;
use crate::pages;

#[derive(Clone, Copy)]
pub(crate) struct ConsoleRoute {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    pub(crate) proof: RequiredAuth,
    /// The summary in the `OpenAPI` document; empty for pages.
    pub(crate) about: &'static str,
    pub(crate) query: Option<SchemaFn>,
    pub(crate) takes: Option<SchemaFn>,
    pub(crate) gives: ResponseKind,
    pub(crate) serve: fn() -> MethodRouter<SharedConsole>,
}

#[derive(Clone, Copy)]
pub(crate) enum ResponseKind {
    /// A page, which is not part of the API.
    Page,
    Json(SchemaFn),
    /// JSON Lines of this schema.
    Lines(SchemaFn),
    /// Server-sent events with JSON data.
    Events(SchemaFn),
    /// A file of this media type.
    File(&'static str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequiredAuth {
    /// None: the route reveals and changes nothing, or its request authenticates itself.
    Nothing,
    /// The cookie of a signed-in browser, or the API key.
    Session,
    /// A session and its CSRF token.
    Token,
}

impl ConsoleRoute {
    pub(super) const fn get() -> Self {
        Self {
            method: "get",
            path: "/",
            proof: RequiredAuth::Session,
            about: "",
            query: None,
            takes: None,
            gives: ResponseKind::Page,
            serve: || get(pages::overview),
        }
    }

    pub(super) const fn post() -> Self {
        // Secure by default: a new action needs the CSRF token unless its row says otherwise.
        Self { method: "post", proof: RequiredAuth::Token, ..Self::get() }
    }

    pub(super) const fn query<T: JsonSchema>(self) -> Self {
        Self { query: Some(T::json_schema), ..self }
    }

    pub(super) const fn takes<T: JsonSchema>(self) -> Self {
        Self { takes: Some(schema_for::<T>), ..self }
    }
}

pub(super) const fn json<T: JsonSchema>() -> ResponseKind {
    ResponseKind::Json(schema_for::<T>)
}

pub(crate) type SchemaFn = fn(&mut SchemaGenerator) -> Schema;

pub(super) fn schema_for<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// Generates the schema of an MCP result, which is passed on unchanged.
pub(super) fn sent_result(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "description": "Result of an MCP request, exactly as the server sent it.",
    })
}

pub(super) fn this_document(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "description": "OpenAPI document of this API.",
        "required": ["openapi", "info", "paths", "components"],
    })
}
