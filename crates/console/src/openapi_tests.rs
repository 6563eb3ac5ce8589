//! Consistency checks of the `OpenAPI` document, and of the reference page generated from it.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use switchboard_testkit::check_reference;

use super::*;

fn operations(document: &Value) -> Vec<(String, String, &Value)> {
    let paths = document["paths"].as_object().unwrap().iter();
    paths
        .flat_map(|(path, methods)| {
            let methods = methods.as_object().unwrap().iter();
            methods.map(move |(method, operation)| (path.clone(), method.clone(), operation))
        })
        .collect()
}

/// Calls `look` for every value in the document, with its path.
fn walk(value: &Value, place: &str, look: &mut impl FnMut(&str, &Value)) {
    look(place, value);
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                walk(member, &format!("{place}/{name}"), look);
            }
        }
        Value::Array(items) => {
            for (number, item) in items.iter().enumerate() {
                walk(item, &format!("{place}/{number}"), look);
            }
        }
        _ => {}
    }
}

#[test]
fn every_route_of_the_api_is_described() {
    let document = build_document();
    for route in routes::all().filter(|route| route.path.starts_with(API_PREFIX)) {
        let operation = &document["paths"][route.path][route.method];
        let summary = operation["summary"].as_str().unwrap_or_default();
        assert!(summary.len() > 5, "{} {} has no words", route.method, route.path);
        assert!(!matches!(route.gives, ResponseKind::Page), "{} answers what?", route.path);
        let is_post = route.method == "post";
        assert!(is_post || route.takes.is_none(), "{} takes a body", route.path);
    }
}

#[test]
fn paths_name_their_parameters_and_operations_have_names_of_their_own() {
    let document = build_document();
    let mut names = BTreeSet::new();
    for (path, method, operation) in operations(&document) {
        let parameters = operation["parameters"].as_array().unwrap();
        let of = |place: &str| -> BTreeSet<&str> {
            let here = parameters.iter().filter(|parameter| parameter["in"] == place);
            here.map(|parameter| parameter["name"].as_str().unwrap()).collect()
        };
        let wanted: BTreeSet<&str> = path.split('/').filter_map(parameter_name).collect();
        assert_eq!(of("path"), wanted, "{path}");
        for parameter in parameters {
            assert!(parameter["description"].is_string(), "{path} {parameter}");
            assert!(parameter["schema"]["type"].is_string(), "{path} {parameter}");
            assert_eq!(parameter["in"] == "path", parameter["required"] == true, "{path}");
        }
        let name = operation["operationId"].as_str().unwrap().to_owned();
        assert!(names.insert(name), "{method} {path} has the name of another");
    }
}

#[test]
fn every_reference_leads_somewhere_and_every_schema_is_used() {
    let document = build_document();
    let mut used = BTreeSet::new();
    walk(&document, "", &mut |place, value| {
        if let Some(reference) = value.get("$ref").and_then(Value::as_str) {
            let pointer = reference.strip_prefix('#').unwrap_or_default();
            assert!(document.pointer(pointer).is_some(), "{place}: {reference} leads nowhere");
            used.insert(pointer.to_owned());
        }
    });
    for name in document["components"]["schemas"].as_object().unwrap().keys() {
        assert!(used.contains(&format!("{SCHEMAS_POINTER}/{name}")), "nobody needs {name}");
        assert!(!name.ends_with(|sign: char| sign.is_ascii_digit()), "two are called {name}");
    }
}

#[test]
fn every_member_of_a_schema_has_words() {
    let mut faults = Vec::new();
    walk(&build_document()["components"]["schemas"], "", &mut |place, schema| {
        // The constant of a variant is described by the variant.
        let by_variant = place.contains("/oneOf/") && schema["description"].is_string();
        let members = schema["properties"].as_object().into_iter().flatten();
        let own: Vec<_> = members.filter(|(_, member)| member.get("const").is_none()).collect();
        for (name, member) in &own {
            let has_words = member["description"].is_string() || (by_variant && own.len() == 1);
            if !has_words {
                faults.push(format!("{place}/{name}"));
            }
        }
    });
    assert_eq!(faults, Vec::<String>::new());
}

#[test]
fn what_is_sent_and_answered_looks_the_same_both_ways() {
    let mut shapes = SchemaSet::new();
    for route in routes::all().filter(|route| route.path.starts_with(API_PREFIX)) {
        operation(route, &mut shapes);
    }
    let given = shapes.given.take_definitions(true);
    let taken = shapes.taken.take_definitions(true);
    for (name, schema) in &taken {
        assert!(given.get(name).is_none_or(|other| other == schema), "{name} differs");
    }
}

#[test]
fn only_what_tells_and_does_nothing_needs_no_session() {
    let open: Vec<&str> = routes::all()
        .filter(|route| route.proof == RequiredAuth::Nothing)
        .map(|route| route.path)
        .collect();
    assert_eq!(open, ["/callback", "/frame/{word}", "/assets/{file}", "/sign-in/link"]);
    for route in routes::all().filter(|route| route.method == "post") {
        let exempt = route.path == "/sign-in/link";
        assert_eq!(route.proof == RequiredAuth::Token, !exempt, "{}", route.path);
    }
}

/// Describes a schema in a few words, with links to named schemas.
fn in_words(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|to| to.rsplit('/').next()) {
        return format!("[{name}](#{})", name.to_lowercase());
    }
    for several in ["anyOf", "oneOf"] {
        if let Some(all) = schema[several].as_array() {
            let words: Vec<String> = all.iter().map(in_words).collect();
            return words.join(" or ");
        }
    }
    if let Some(word) = schema["const"].as_str() {
        return format!("`{word}`");
    }
    if let Some(words) = schema["enum"].as_array() {
        let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
        return words.join(", ").replace('"', "");
    }
    let kinds = match &schema["type"] {
        Value::String(kind) => vec![kind.as_str()],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => return "anything".to_owned(),
    };
    let words: Vec<String> = kinds
        .into_iter()
        .map(|kind| match kind {
            "array" if schema["items"].is_object() => {
                format!("list of {}", in_words(&schema["items"]))
            }
            "array" => "list".to_owned(),
            other => other.to_owned(),
        })
        .collect();
    words.join(" or ")
}

fn members(text: &mut String, schema: &Value) {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    for (name, member) in schema["properties"].as_object().into_iter().flatten() {
        let may = if required.iter().any(|one| one == name) { "" } else { ", optional" };
        let about = member["description"].as_str().unwrap_or_default().replace('\n', " ");
        let line = format!("- `{name}` ({}{may}): {about}", in_words(member));
        writeln!(text, "{}", line.trim_end_matches([' ', ':'])).unwrap();
    }
}

fn reference() -> String {
    let document = build_document();
    let mut text = "# JSON API\n\nGenerated from the OpenAPI document that `switchboard serve` returns \
        at `/api/v1/openapi.json`. To update this page, run `UPDATE_REFERENCE=1 cargo test -p \
        switchboard-console reference`. [The console](../guides/console.md) explains how to sign \
        in.\n\nAn error response has a [Problem](#problem) as its body and a matching HTTP status.\n"
        .to_owned();
    for (path, method, operation) in operations(&document) {
        let about = operation["summary"].as_str().unwrap();
        write!(text, "\n## {} {path}\n\n{about}.\n\n", method.to_uppercase()).unwrap();
        for parameter in operation["parameters"].as_array().unwrap() {
            let place = &parameter["in"];
            let name = &parameter["name"];
            let line = format!("- {place} parameter `{name}`: ").replace('"', "");
            writeln!(text, "{line}{}", parameter["description"].as_str().unwrap()).unwrap();
        }
        let body = &operation["requestBody"]["content"]["application/json"]["schema"];
        if body.is_object() {
            writeln!(text, "- request body: {}", in_words(body)).unwrap();
        }
        for (kind, content) in operation["responses"]["200"]["content"].as_object().unwrap() {
            let item = &content["x-item-schema"];
            let line = match item.pointer("/properties/data/contentSchema") {
                Some(data) => format!("- response: `{kind}`, each event {}", in_words(data)),
                None if item.is_object() => {
                    format!("- response: `{kind}`, each line {}", in_words(item))
                }
                None if kind == "application/json" => {
                    format!("- response: {}", in_words(&content["schema"]))
                }
                None => format!("- response: `{kind}`"),
            };
            writeln!(text, "{line}").unwrap();
        }
    }
    text.push_str("\n# Schemas\n");
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        let about = schema["description"].as_str().unwrap_or_default().replace('\n', " ");
        write!(text, "\n## {name}\n\n{about}\n\n").unwrap();
        members(&mut text, schema);
        for several in ["oneOf", "anyOf"] {
            for one in schema[several].as_array().into_iter().flatten() {
                let tag = one["properties"].as_object().into_iter().flatten();
                let tag = tag.filter_map(|(_, member)| member["const"].as_str()).next();
                let word = tag.map_or_else(|| in_words(one), |tag| format!("`{tag}`"));
                let about = one["description"].as_str().unwrap_or_default().replace('\n', " ");
                write!(text, "\n**{word}** — {about}\n\n").unwrap();
                members(&mut text, one);
            }
        }
    }
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let mut text = lines.join("\n");
    while text.contains("\n\n\n") {
        text = text.replace("\n\n\n", "\n\n");
    }
    text.trim_end().to_owned() + "\n"
}

#[test]
fn the_reference_page_is_what_the_document_says() {
    check_reference("api.md", &reference(), "switchboard-console");
}
