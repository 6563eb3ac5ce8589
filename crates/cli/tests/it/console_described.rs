//! The API's own description, checked against every answer that a test gets.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// The served document, with schemas that reject members they do not name.
pub(crate) struct ApiDescription {
    pub(crate) document: Value,
}

impl ApiDescription {
    pub(crate) fn new(mut document: Value) -> Self {
        let shared = shared_schemas(&document);
        let schemas = document["components"]["schemas"].as_object_mut().unwrap();
        for (name, schema) in schemas {
            let within = if shared.contains(name) { Within::Another } else { Within::Nothing };
            close(schema, within);
        }
        Self { document }
    }

    /// Returns the path in the document that a request matches; `None` outside the API.
    pub(crate) fn matching_path(&self, verb: &str, path: &str) -> Option<String> {
        let plain = path.split('?').next().unwrap_or(path);
        let parts: Vec<&str> = plain.split('/').collect();
        let paths = self.document["paths"].as_object().unwrap().iter();
        let fitting = paths.filter(|(template, methods)| {
            let wanted: Vec<&str> = template.split('/').collect();
            methods.get(verb.to_lowercase()).is_some()
                && wanted.len() == parts.len()
                && wanted.iter().zip(&parts).all(|(a, b)| a.starts_with('{') || a == b)
        });
        // Literal segments win over placeholders: `calls/export` is not a call.
        fitting.map(|(template, _)| template.clone()).min_by_key(|path| path.matches('{').count())
    }

    /// Checks an answer against its description.
    pub(crate) fn check(&self, verb: &str, path: &str, status: u16, kind: &str, body: &str) {
        let Some(template) = self.matching_path(verb, path) else { return };
        let answers = &self.document["paths"][&template][verb.to_lowercase()]["responses"];
        let place = format!("{verb} {path} ({status})");
        if status != 200 {
            let problem = &self.document["components"]["responses"]["Problem"]["content"];
            self.fits(&place, &problem["application/json"]["schema"], body);
            return;
        }
        let content = answers["200"]["content"].get(kind);
        let content = content.unwrap_or_else(|| panic!("{place} is not said to be {kind}"));
        match (kind, content.get("x-item-schema")) {
            ("application/jsonl", Some(line)) => {
                body.lines().for_each(|text| self.fits(&place, line, text));
            }
            ("application/json", None) => self.fits(&place, &content["schema"], body),
            _ => {}
        }
    }

    /// Checks the data of an event against its description.
    pub(crate) fn check_event(&self, path: &str, data: &str) {
        let template = self.matching_path("GET", path).unwrap();
        let content = &self.document["paths"][&template]["get"]["responses"]["200"]["content"];
        let frame = &content["text/event-stream"]["x-item-schema"]["properties"];
        self.fits(path, &frame["data"]["contentSchema"], data);
    }

    fn fits(&self, place: &str, schema: &Value, text: &str) {
        let value: Value =
            serde_json::from_str(text).unwrap_or_else(|cause| panic!("{place}: {cause}: {text}"));
        let whole = json!({"allOf": [schema], "components": self.document["components"]});
        let validator = jsonschema::validator_for(&whole).unwrap();
        let faults: Vec<String> = validator
            .iter_errors(&value)
            .map(|fault| format!("{}: {fault}", fault.instance_path()))
            .collect();
        assert!(faults.is_empty(), "{place} is not as described: {faults:?} in {value}");
    }
}

/// Whether an enclosing schema names the members of an object as well.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    Nothing,
    Another,
}

/// Rejects members of an object that no schema names.
fn close(schema: &mut Value, within: Within) {
    let Some(members) = schema.as_object_mut() else { return };
    let names = members.contains_key("properties");
    for several in ["oneOf", "anyOf", "allOf"] {
        let inner = if names { Within::Another } else { within };
        let all = members.get_mut(several).and_then(Value::as_array_mut);
        all.into_iter().flatten().for_each(|one| close(one, inner));
    }
    let named = members.get_mut("properties").and_then(Value::as_object_mut);
    named.into_iter().flat_map(Map::values_mut).for_each(|one| close(one, Within::Nothing));
    for inner in ["items", "additionalProperties"] {
        members.get_mut(inner).into_iter().for_each(|one| close(one, Within::Nothing));
    }
    if names && within == Within::Nothing {
        members.insert("unevaluatedProperties".to_owned(), json!(false));
    }
}

/// Returns the schemas whose members share one object with members of another schema.
fn shared_schemas(document: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![document];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(members) => {
                let reference = members.get("$ref").and_then(Value::as_str);
                if let Some(name) = reference.and_then(|to| to.rsplit('/').next())
                    && members.contains_key("properties")
                {
                    found.insert(name.to_owned());
                }
                open.extend(members.values());
            }
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    found
}

#[test]
fn a_member_that_is_not_described_is_noticed_and_a_missing_one_too() {
    let schemas = json!({
        "Row": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
        "Either": {"oneOf": [{"$ref": "#/components/schemas/Row"},
            {"type": "object", "properties": {"event": {"const": "x"}}, "required": ["event"]}]},
    });
    let of = |name: &str| json!({"$ref": format!("#/components/schemas/{name}")});
    let path = |schema: Value| json!({"get": {"responses": {"200": {"content": {"application/json": {"schema": schema}}}}}});
    let described = ApiDescription::new(json!({
        "paths": {"/row": path(of("Row")), "/either": path(of("Either"))},
        "components": {"schemas": schemas},
    }));
    for (place, body, fits) in [
        ("/row", r#"{"name": "a"}"#, true),
        ("/row", r#"{"name": "a", "more": 1}"#, false),
        ("/row", "{}", false),
        ("/either", r#"{"event": "x"}"#, true),
        ("/either", r#"{"event": "x", "name": "a"}"#, false),
    ] {
        let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            described.check("GET", place, 200, "application/json", body);
        }));
        assert_eq!(checked.is_ok(), fits, "{place} {body}");
    }
}
