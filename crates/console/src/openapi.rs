//! The `OpenAPI` document of the API, generated from the route table and the types of its bodies.

use std::future::{Ready, ready};

use axum::response::Response;
use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::reply::{self, ErrorBody};
use crate::routes::{self, ConsoleRoute, RequiredAuth, ResponseKind, SchemaFn};

const API_PREFIX: &str = "/api/v1";
const SCHEMAS_POINTER: &str = "/components/schemas";

pub(crate) fn document() -> Ready<Response> {
    ready(reply::json(&build_document()))
}

fn build_document() -> Value {
    let mut shapes = SchemaSet::new();
    let problem = shapes.given.subschema_for::<ErrorBody>();
    // Several routes share a path and differ in the method.
    let mut paths: Map<String, Value> = Map::new();
    for route in routes::all().filter(|route| route.path.starts_with(API_PREFIX)) {
        let operation = operation(route, &mut shapes);
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        if let Some(methods) = path.as_object_mut() {
            methods.insert(route.method.to_owned(), operation);
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Switchboard console",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The API behind the console's pages. A browser signs in with the link \
                that `switchboard serve` prints; a program sends the API key as a bearer token. \
                Requests that change something repeat the CSRF token of a page, or the API key, \
                in `x-switchboard-token`. Later versions may add members to responses.",
        },
        "paths": paths,
        "components": {
            "securitySchemes": {
                "session": {"type": "apiKey", "in": "cookie", "name": "switchboard-PORT"},
                "token": {"type": "apiKey", "in": "header", "name": "x-switchboard-token"},
                "program": {"type": "http", "scheme": "bearer"},
            },
            "responses": {"Problem": {
                "description": "Error message, and a hint if there is a remedy",
                "content": {"application/json": {"schema": problem}},
            }},
            "schemas": shapes.into_definitions(),
        },
    })
}

/// Schema generators: responses always have every member, while requests may omit some.
struct SchemaSet {
    given: SchemaGenerator,
    taken: SchemaGenerator,
}

impl SchemaSet {
    fn new() -> Self {
        let settings = || {
            SchemaSettings::draft2020_12().with(|settings| {
                settings.definitions_path = SCHEMAS_POINTER.into();
                settings.meta_schema = None;
            })
        };
        Self {
            given: settings().for_serialize().into_generator(),
            taken: settings().for_deserialize().into_generator(),
        }
    }

    /// Returns all named schemas. A type used in both directions must have the same schema in both.
    fn into_definitions(mut self) -> Map<String, Value> {
        let mut all = self.given.take_definitions(true);
        all.extend(self.taken.take_definitions(true));
        all
    }
}

fn operation(route: &ConsoleRoute, shapes: &mut SchemaSet) -> Value {
    let in_path = route.path.split('/').filter_map(parameter_name).map(path_parameter);
    let asked = route.query.map(|shape| shape(&mut shapes.taken));
    let parameters: Vec<Value> = in_path
        .chain(asked.iter().flat_map(query_parameters))
        .chain(header_parameter(route))
        .collect();
    let security = match route.proof {
        RequiredAuth::Nothing => json!([]),
        RequiredAuth::Session => json!([{"session": []}, {"program": []}]),
        RequiredAuth::Token => json!([{"session": [], "token": []}, {"program": [], "token": []}]),
    };
    let mut operation = json!({
        "operationId": operation_id(route),
        "tags": [relative_path(route).split(['/', '.']).next()],
        "summary": route.about,
        "parameters": parameters,
        "security": security,
        "responses": {
            "200": {"description": route.about, "content": content(route, &mut shapes.given)},
            "default": {"$ref": "#/components/responses/Problem"},
        },
    });
    if let (Some(shape), Some(members)) = (route.takes, operation.as_object_mut()) {
        let schema = shape(&mut shapes.taken);
        let body = json!({"required": true, "content": {"application/json": {"schema": schema}}});
        members.insert("requestBody".to_owned(), body);
    }
    operation
}

fn relative_path(route: &ConsoleRoute) -> &str {
    route.path.strip_prefix(API_PREFIX).unwrap_or(route.path).trim_start_matches('/')
}

/// Returns the name that generated clients use, such as `get_servers_server`.
fn operation_id(route: &ConsoleRoute) -> String {
    let plain = |sign: char| sign.is_ascii_alphanumeric();
    let words = relative_path(route).split(|sign| !plain(sign)).filter(|word| !word.is_empty());
    std::iter::once(route.method).chain(words).collect::<Vec<_>>().join("_")
}

fn parameter_name(part: &str) -> Option<&str> {
    part.strip_prefix('{')?.strip_suffix('}')
}

fn path_parameter(name: &str) -> Value {
    let (about, kind) = match name {
        "server" => ("Name of the server.", "string"),
        "tool" => ("Name of the tool on its server.", "string"),
        "prompt" => ("Name of the prompt on its server.", "string"),
        "session" => ("Id of the conversation, or a prefix of it.", "string"),
        "number" => ("Index of the content block, from 0.", "integer"),
        _ => ("`id` of the item, as lists return it.", "string"),
    };
    let schema = json!({"type": kind});
    json!({"name": name, "in": "path", "required": true, "description": about, "schema": schema})
}

/// Converts the members of a type to query parameters. An unset one is absent, never `null`.
fn query_parameters(asked: &Schema) -> Vec<Value> {
    let members = asked.get("properties").and_then(Value::as_object).into_iter().flatten();
    let parameters = members.map(|(name, schema)| {
        let mut schema = schema.clone();
        // schemars writes an `Option` as `["string", "null"]`, but a query cannot hold `null`.
        let kind = schema.get("type").and_then(Value::as_array).and_then(|kinds| kinds.first());
        let kind = kind.cloned();
        let members = schema.as_object_mut();
        let about = members.and_then(|members| {
            members.extend(kind.map(|kind| ("type".to_owned(), kind)));
            members.remove("description")
        });
        json!({"name": name, "in": "query", "description": about, "schema": schema})
    });
    parameters.collect()
}

fn header_parameter(route: &ConsoleRoute) -> Option<Value> {
    // Streams of conversations cannot be resumed; earlier events are in the steps of the session.
    (matches!(route.gives, ResponseKind::Events(_)) && route.path == "/api/v1/events").then(|| {
        json!({
            "name": "Last-Event-ID",
            "in": "header",
            "description": "`id` of the last event received; later events are replayed.",
            "schema": {"type": "string"},
        })
    })
}

fn content(route: &ConsoleRoute, generator: &mut SchemaGenerator) -> Value {
    let mut said = |shape: SchemaFn| shape(generator);
    match route.gives {
        ResponseKind::Page => json!({"text/html": {"schema": {"type": "string"}}}),
        ResponseKind::Json(shape) => json!({"application/json": {"schema": said(shape)}}),
        ResponseKind::Lines(shape) => json!({"application/jsonl": {
            "schema": {"type": "string", "description": "JSON Lines: one JSON text per line."},
            "x-item-schema": said(shape),
        }}),
        ResponseKind::Events(shape) => json!({"text/event-stream": {
            "schema": {"type": "string", "description": "Server-sent events."},
            "x-item-schema": event_frame(&said(shape)),
        }}),
        ResponseKind::File(kind) => json!({kind: {
            "schema": {"type": "string", "format": "binary", "description": "Content of the file."},
        }}),
    }
}

fn event_frame(data: &Schema) -> Value {
    json!({
        "type": "object",
        "properties": {
            "id": {
                "type": "string",
                "description": "Id for `Last-Event-ID`; notices about the stream have none.",
            },
            "event": {
                "type": "string",
                "enum": ["hello", "all", "servers", "calls", "reviews", "messages", "progress"],
                "description": "Part of the page that changed; absent in conversations.",
            },
            "data": {
                "type": "string",
                "contentMediaType": "application/json",
                "contentSchema": data,
            },
        },
        "required": ["data"],
    })
}

#[cfg(test)]
#[path = "openapi_tests.rs"]
mod tests;
