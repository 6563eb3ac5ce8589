//! The `OpenAPI` document of the API, made of the table of routes.

use std::future::{Ready, ready};

use axum::response::Response;
use serde_json::{Map, Value, json};

use crate::reply;
use crate::routes::{self, Proof, Route};

/// Where the API begins.
const API: &str = "/api/v1";

pub(crate) fn document() -> Ready<Response> {
    ready(reply::json(&described()))
}

fn described() -> Value {
    let mut paths: Map<String, Value> = Map::new();
    for route in routes::all().filter(|route| route.path.starts_with(API)) {
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        if let Some(methods) = path.as_object_mut() {
            methods.insert(route.method.to_owned(), operation(route));
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Switchboard console",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Everything that the pages show and do. A browser signs in with the \
                link that `switchboard serve` prints; whatever acts repeats the token of a page \
                in `x-switchboard-token`.",
        },
        "paths": paths,
        "components": {
            "securitySchemes": {
                "session": {"type": "apiKey", "in": "cookie", "name": "switchboard-PORT"},
                "token": {"type": "apiKey", "in": "header", "name": "x-switchboard-token"},
                "program": {"type": "http", "scheme": "bearer"},
            },
            "schemas": {"Problem": problem()},
        },
    })
}

fn operation(route: &Route) -> Value {
    let in_path = route.path.split('/').filter_map(|part| {
        let name = part.strip_prefix('{')?.strip_suffix('}')?;
        Some(json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}}))
    });
    let in_query = route.query.iter().map(|(name, about)| {
        json!({"name": name, "in": "query", "description": about, "schema": {"type": "string"}})
    });
    let parameters: Vec<Value> = in_path.chain(in_query).collect();
    let kind = route.kind;
    let refused = json!({
        "description": "Why not",
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
    });
    let security = match route.proof {
        Proof::Nothing => json!([]),
        Proof::Session => json!([{"session": []}, {"program": []}]),
        Proof::Token => json!([{"session": [], "token": []}, {"program": [], "token": []}]),
    };
    let mut operation = json!({
        "summary": route.about,
        "parameters": parameters,
        "security": security,
        "responses": {
            "200": {"description": route.about, "content": {kind: {"schema": {}}}},
            "default": refused,
        },
    });
    if route.method == "post" {
        let properties: Map<String, Value> = route
            .body
            .iter()
            .map(|(name, about)| ((*name).to_owned(), json!({"description": about})))
            .collect();
        let schema = json!({"type": "object", "properties": properties});
        let body = json!({"content": {"application/json": {"schema": schema}}});
        operation.as_object_mut().map(|members| members.insert("requestBody".to_owned(), body));
    }
    operation
}

fn problem() -> Value {
    json!({
        "type": "object",
        "properties": {
            "error": {
                "type": "object",
                "properties": {
                    "message": {"type": "string"},
                    "hint": {"type": ["string", "null"]},
                },
            },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_route_of_the_api_is_described() {
        let document = described();
        for route in routes::all().filter(|route| route.path.starts_with(API)) {
            let operation = &document["paths"][route.path][route.method];
            let summary = operation["summary"].as_str().unwrap_or_default();
            assert!(summary.len() > 5, "{} {} has no words", route.method, route.path);
            let named = operation["parameters"].as_array().unwrap().len();
            assert_eq!(named, route.path.matches('{').count() + route.query.len());
        }
    }

    #[test]
    fn only_what_tells_and_does_nothing_needs_no_session() {
        let open: Vec<&str> = routes::all()
            .filter(|route| route.proof == Proof::Nothing)
            .map(|route| route.path)
            .collect();
        assert_eq!(open, ["/callback", "/frame/{word}", "/assets/{file}", "/sign-in/link"]);
        for route in routes::all().filter(|route| route.method == "post") {
            let exempt = route.path == "/sign-in/link";
            assert_eq!(route.proof == Proof::Token, !exempt, "{}", route.path);
        }
    }
}
