//! One thing that can be asked for, and what it looks like.

use axum::routing::{MethodRouter, get};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::console::SharedConsole;
use crate::pages;

/// One thing that can be asked for.
#[derive(Clone, Copy)]
pub(crate) struct ConsoleRoute {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    /// What a caller has to show.
    pub(crate) proof: RequiredAuth,
    /// What it is for, in a sentence; pages have none of their own.
    pub(crate) about: &'static str,
    /// What may be said in the query.
    pub(crate) query: Option<SchemaFn>,
    /// What may be said in the body.
    pub(crate) takes: Option<SchemaFn>,
    pub(crate) gives: ResponseKind,
    pub(crate) serve: fn() -> MethodRouter<SharedConsole>,
}

/// What a route answers when all is well.
#[derive(Clone, Copy)]
pub(crate) enum ResponseKind {
    /// What the API says nothing of.
    Page,
    Json(SchemaFn),
    /// A JSON text in each line.
    Lines(SchemaFn),
    /// Server-sent events with a JSON text as the data of each.
    Events(SchemaFn),
    /// A file of this kind.
    File(&'static str),
}

/// What a caller has to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequiredAuth {
    /// Nothing: it tells nothing and does nothing, or brings a proof of its own.
    Nothing,
    /// The cookie of a browser that is signed in.
    Session,
    /// That, and the token of a page of ours.
    Token,
}

impl ConsoleRoute {
    /// A question of a signed-in browser.
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
        Self { method: "post", proof: RequiredAuth::Token, ..Self::get() }
    }

    /// With a query of this type.
    pub(super) const fn query<T: JsonSchema>(self) -> Self {
        Self { query: Some(T::json_schema), ..self }
    }

    /// With a body of this type.
    pub(super) const fn takes<T: JsonSchema>(self) -> Self {
        Self { takes: Some(schema_for::<T>), ..self }
    }
}

/// An answer in JSON of this type.
pub(super) const fn json<T: JsonSchema>() -> ResponseKind {
    ResponseKind::Json(schema_for::<T>)
}

/// What a JSON text looks like.
pub(crate) type SchemaFn = fn(&mut SchemaGenerator) -> Schema;

/// What a value of this type looks like.
pub(super) fn schema_for<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// What a server sent: it says itself what is in it.
pub(super) fn sent_result(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "description": "The result of an MCP request, as the server sent it.",
    })
}

pub(super) fn this_document(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "description": "An OpenAPI document.",
        "required": ["openapi", "info", "paths", "components"],
    })
}
