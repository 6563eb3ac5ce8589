//! What queries, bodies and answers look like: schemas, made of the types that are read and written.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

/// What a JSON text looks like.
pub(crate) type SchemaFn = fn(&mut SchemaGenerator) -> Schema;

/// What a value of this type looks like.
pub(super) fn schema_for<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// What the members of a query of this type look like.
pub(super) fn query_schema<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    T::json_schema(generator)
}

/// What a server sent: it says itself what is in it.
pub(super) fn sent_result(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "description": "The result of an MCP request, as the server sent it.",
    })
}

/// This description.
pub(super) fn this_document(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "description": "An OpenAPI document.",
        "required": ["openapi", "info", "paths", "components"],
    })
}
