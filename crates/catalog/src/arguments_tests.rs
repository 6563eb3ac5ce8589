//! Tests what schemas accept, how violations are described, and the limits.

use std::time::{Duration, Instant};

use serde_json::json;

use super::*;

fn refusal(schema: &Value, arguments: &Value) -> String {
    let check = ArgumentCheck::compile(&schema.to_string()).unwrap();
    check.check(arguments).unwrap_err().to_string()
}

fn accepts(schema: &Value, arguments: &Value) -> bool {
    ArgumentCheck::compile(&schema.to_string()).unwrap().check(arguments).is_ok()
}

fn object(properties: Value) -> Value {
    json!({"type": "object", "properties": properties})
}

#[test]
fn a_missing_or_empty_schema_accepts_any_object_and_nothing_else() {
    for schema in ["", "  ", "{}", "null", "true"] {
        let check = ArgumentCheck::compile(schema).unwrap();
        assert_eq!(check.check(&json!({"a": [1, null]})), Ok(()), "{schema:?}");
        let refused = check.check(&json!([1])).unwrap_err();
        assert_eq!(refused.to_string(), "the arguments must be an object, got an array");
    }
}

#[test]
fn a_schema_without_a_draft_may_be_of_the_fourth() {
    let schema = object(json!({"n": {"type": "integer", "minimum": 0, "exclusiveMinimum": true}}));
    assert!(accepts(&schema, &json!({"n": 1})));
    assert!(!accepts(&schema, &json!({"n": 0})));
    let named = json!({"$schema": "https://json-schema.org/draft/2020-12/schema",
        "properties": {"n": {"minimum": 0, "exclusiveMinimum": true}}});
    assert!(ArgumentCheck::compile(&named.to_string()).is_err());
}

#[test]
fn falsy_values_are_values_and_a_whole_number_is_an_integer() {
    let schema = json!({"required": ["n", "f", "s"], "properties": {
        "n": {"type": "integer"}, "f": {"type": "boolean"}, "s": {"type": "string"}}});
    assert!(accepts(&schema, &json!({"n": 0, "f": false, "s": ""})));
    assert!(accepts(&schema, &json!({"n": 1.0, "f": true, "s": "x"})));
    assert!(!accepts(&schema, &json!({"n": 1.5, "f": true, "s": "x"})));
}

/// A schema, arguments that violate it, and the one problem expected.
type Case = (Value, Value, ArgumentProblemKind, &'static str);

fn assert_problems(cases: impl IntoIterator<Item = Case>) {
    for (schema, arguments, kind, expected) in cases {
        let check = ArgumentCheck::compile(&schema.to_string()).unwrap();
        let refused = check.check(&arguments).unwrap_err();
        let found: Vec<_> =
            refused.problems.iter().map(|problem| (problem.kind, problem.to_string())).collect();
        assert_eq!(found, [(kind, expected.to_owned())]);
        assert_eq!(refused.more, 0);
    }
}

/// Returns a case with one parameter, `p`.
fn parameter(
    schema: Value,
    value: Value,
    kind: ArgumentProblemKind,
    expected: &'static str,
) -> Case {
    (object(json!({"p": schema})), json!({"p": value}), kind, expected)
}

#[test]
fn missing_unknown_and_nested_parameters_are_named_with_their_place() {
    use ArgumentProblemKind::{MissingRequired, UnknownParameter};
    let needs = json!({"properties": {"size": {}}, "required": ["path"]});
    let closed = json!({"properties": {"path": {}}, "additionalProperties": false});
    let nested = object(json!({"items": {"items": {"required": ["name"]}}}));
    let through = json!({"properties": {"inner": {"$ref": "#/$defs/a"}}, "$defs": {"a": closed}});
    assert_problems([
        (needs.clone(), json!({"size": 1}), MissingRequired, "`/path` is required but missing"),
        (
            needs,
            json!({"Path": 1}),
            MissingRequired,
            "`/path` is required but missing, perhaps given as `Path`",
        ),
        (
            closed.clone(),
            json!({"pth": 1}),
            UnknownParameter,
            "`/pth` is not a parameter, did you mean `path`?",
        ),
        (closed, json!({"a/~": 1}), UnknownParameter, "`/a~1~0` is not a parameter"),
        (
            nested,
            json!({"items": [{"name": ""}, {}]}),
            MissingRequired,
            "`/items/1/name` is required but missing",
        ),
        (
            through,
            json!({"inner": {"paths": 1}}),
            UnknownParameter,
            "`/inner/paths` is not a parameter, did you mean `path`?",
        ),
    ]);
}

#[test]
fn values_that_do_not_fit_are_named_with_what_is_expected() {
    use ArgumentProblemKind as Kind;
    let optional = json!([{"type": "integer", "minimum": 1}, {"type": "null"}]);
    let shapes = json!([{"required": ["a"]}, {"required": ["b"]}]);
    let cases = [
        (json!({"type": "integer"}), json!("3"), Kind::WrongType, "be an integer, got a string"),
        (
            json!({"type": ["string", "null"]}),
            json!(1),
            Kind::WrongType,
            "be null or a string, got a number",
        ),
        (json!({"enum": ["a", 2]}), json!("b"), Kind::NotInEnum, "be one of \"a\", 2, got \"b\""),
        (json!({"const": "a"}), json!(null), Kind::NotInEnum, "be \"a\", got null"),
        (json!({"minimum": 1}), json!(0), Kind::OutOfRange, "be at least 1, got 0"),
        (json!({"exclusiveMaximum": 1}), json!(1), Kind::OutOfRange, "be less than 1, got 1"),
        (json!({"multipleOf": 2}), json!(3), Kind::OutOfRange, "be a multiple of 2, got 3"),
        (
            json!({"maxLength": 1}),
            json!("ab"),
            Kind::OutOfRange,
            "have at most 1 character, got \"ab\"",
        ),
        (json!({"minItems": 2}), json!([]), Kind::OutOfRange, "have at least 2 items, got []"),
        (json!({"pattern": "^a+$"}), json!("b"), Kind::PatternMismatch, "match `^a+$`, got \"b\""),
        (
            json!({"pattern": "^(?!x)"}),
            json!("x"),
            Kind::PatternMismatch,
            "match `^(?!x)`, got \"x\"",
        ),
        (json!({"uniqueItems": true}), json!([1, 1]), Kind::Other, "have unique items, got [1,1]"),
        (
            json!({"anyOf": optional}),
            json!("x"),
            Kind::WrongType,
            "be an integer or null, got a string",
        ),
        (json!({"anyOf": optional}), json!(0), Kind::OutOfRange, "be at least 1, got 0"),
        (json!({"oneOf": shapes}), json!({}), Kind::Other, "fit one of 2 alternatives, got {}"),
        (json!(false), json!(1), Kind::Other, "not be given, got 1"),
    ];
    assert_problems(cases.into_iter().map(|(schema, value, kind, expected)| {
        parameter(schema, value, kind, format!("`/p` must {expected}").leak())
    }));
}

#[test]
fn five_problems_are_listed_and_the_rest_counted() {
    let schema = object(json!({"l": {"items": {"type": "integer"}}}));
    let text = refusal(&schema, &json!({"l": ["a", "b", "c", "d", "e", "f", "g"]}));
    assert!(text.contains("`/l/4`") && !text.contains("`/l/5`"), "{text}");
    assert!(text.ends_with("; and 2 more"), "{text}");
    let closed = json!({"properties": {}, "additionalProperties": false});
    let text = refusal(&closed, &json!({"a": 1, "b": 1, "c": 1, "d": 1, "e": 1, "f": 1, "g": 1}));
    assert!(text.contains("`/e`") && !text.contains("`/f`"), "{text}");
    assert!(text.ends_with("; and 2 more"), "{text}");
}

#[test]
fn what_is_shown_is_escaped_and_cut() {
    let schema = json!({"properties": {"s": {"maxLength": 3}}, "additionalProperties": false});
    let text = refusal(&schema, &json!({"s": format!("\u{1b}{}", "x".repeat(500))}));
    assert!(!text.contains('\u{1b}') && text.chars().count() < 160, "{text}");
    let text = refusal(&schema, &json!({(format!("\u{202e}{}", "y".repeat(500))): 1}));
    assert!(!text.contains('\u{202e}') && text.chars().count() < 160, "{text}");
}

#[test]
fn the_draft_is_the_one_the_schema_names() {
    let items = json!([{"type": "string"}]);
    let old = json!({"$schema": "http://json-schema.org/draft-07/schema#",
        "properties": {"l": {"items": items, "additionalItems": false}}});
    assert!(!accepts(&old, &json!({"l": ["a", 1]})));
    for name in ["https://json-schema.org/draft/2020-12/schema", "https://nobody.example/schema"] {
        let new = json!({"$schema": name,
            "properties": {"l": {"prefixItems": items, "items": false}}});
        assert!(!accepts(&new, &json!({"l": ["a", 1]})), "{name}");
        assert!(accepts(&new, &json!({"l": ["a"]})), "{name}");
    }
}

#[test]
fn references_inside_the_schema_work_and_outside_are_refused_by_name() {
    let inside = json!({"properties": {"p": {"$ref": "#/$defs/P"}},
        "$defs": {"P": {"type": "string"}}});
    assert_eq!(refusal(&inside, &json!({"p": 1})), "`/p` must be a string, got a number");
    for reference in ["http://sink.example/x", "file:///etc/passwd", "other.json#/a"] {
        let schema = object(json!({"p": {"$ref": reference}})).to_string();
        match ArgumentCheck::compile(&schema) {
            Err(BadSchema::RemoteReference { reference: named }) => assert_eq!(named, reference),
            other => panic!("{reference}: {other:?}"),
        }
    }
    let dangling = object(json!({"p": {"$ref": "#/$defs/none"}})).to_string();
    assert!(matches!(
        ArgumentCheck::compile(&dangling),
        Err(BadSchema::UnknownReference { reference }) if reference == "#/$defs/none"
    ));
}

#[test]
fn bad_schemas_are_refused_with_their_reason() {
    let deep = format!("{}{{}}{}", r#"{"not":"#.repeat(70), "}".repeat(70));
    let deeper = format!("{}{{}}{}", r#"{"not":"#.repeat(300), "}".repeat(300));
    let long = format!("{{\"description\":\"{}\"}}", "x".repeat(300_000));
    let wide = format!("{{\"anyOf\":[{}{{}}]}}", "{},".repeat(50_000));
    let cases = [
        ("[]".to_owned(), "the schema is not an object"),
        ("{".to_owned(), "the schema is not JSON: "),
        (deep, "the schema nests deeper than 64 levels"),
        (deeper, "the schema nests deeper than 64 levels"),
        (long, "the schema is 300018 bytes long, more than 262144"),
        (wide, "the schema unfolds into more than 10000 subschemas"),
        (r#"{"type": "text"}"#.to_owned(), "the schema is not valid at `/type`: "),
        (r#"{"pattern": "("}"#.to_owned(), "the schema is not valid at `/pattern`: "),
    ];
    for (schema, expected) in cases {
        let error = ArgumentCheck::compile(&schema).unwrap_err();
        assert!(error.to_string().starts_with(expected), "{error}");
        assert!(!error.hint().is_empty());
    }
}

#[test]
fn references_that_double_at_every_step_are_refused() {
    let mut definitions = serde_json::Map::new();
    for step in 0..40 {
        let next = json!({"$ref": format!("#/$defs/d{}", step + 1)});
        definitions.insert(format!("d{step}"), json!({"allOf": [next, next]}));
    }
    definitions.insert("d40".to_owned(), json!({"type": "object"}));
    let schema = json!({"$ref": "#/$defs/d0", "$defs": definitions}).to_string();
    let began = Instant::now();
    let error = ArgumentCheck::compile(&schema).unwrap_err();
    assert!(began.elapsed() < Duration::from_secs(2));
    assert!(matches!(error, BadSchema::TooDeep { .. } | BadSchema::TooManySubschemas { .. }));
}

#[test]
fn a_schema_that_contains_itself_is_checked_in_bounded_time() {
    let tree = object(json!({"v": {"type": "integer"}, "next": {"$ref": "#"}}));
    let doubling = json!({"properties": {"v": {"type": "integer"},
        "next": {"allOf": [{"$ref": "#"}, {"$ref": "#"}], "anyOf": [{"$ref": "#"}, {"$ref": "#"}]}}});
    let endless = json!({"$ref": "#"});
    for (schema, good, bad) in [(tree, true, false), (doubling, true, false), (endless, true, true)]
    {
        let mut arguments = (json!({"v": 1}), json!({"v": "x"}));
        for _ in 0..60 {
            arguments =
                (json!({"v": 1, "next": arguments.0}), json!({"v": 1, "next": arguments.1}));
        }
        let began = Instant::now();
        assert_eq!(accepts(&schema, &arguments.0), good, "{schema}");
        assert_eq!(accepts(&schema, &arguments.1), bad, "{schema}");
        assert!(began.elapsed() < Duration::from_secs(5), "{schema}");
    }
}

#[test]
fn a_pattern_cannot_hang_the_check() {
    let text = format!("{}!", "a".repeat(50_000));
    for pattern in ["^(a+)+$", "^(?=(a+)+$)a*$", "^(a|a)*(?!b)$", "(a*)*\\1$"] {
        let schema = object(json!({"s": {"pattern": pattern}}));
        let check = ArgumentCheck::compile(&schema.to_string()).unwrap();
        let began = Instant::now();
        assert!(check.check(&json!({"s": text})).is_err(), "{pattern}");
        assert!(began.elapsed() < Duration::from_secs(3), "{pattern} {:?}", began.elapsed());
    }
}

#[test]
fn arguments_that_nest_too_deep_are_refused() {
    let mut arguments = json!({});
    for _ in 0..70 {
        arguments = json!({"a": arguments});
    }
    let text = refusal(&json!({"type": "object"}), &arguments);
    assert_eq!(text, "the arguments must nest at most 64 levels deep, got deeper ones");
}

#[test]
fn many_large_patterns_are_refused_and_one_is_not() {
    let large = json!({"pattern": "[a-z]{4000}"});
    assert!(ArgumentCheck::compile(&object(json!({"p": large})).to_string()).is_ok());
    let many: serde_json::Map<String, Value> =
        (0..1_000).map(|number| (format!("p{number}"), large.clone())).collect();
    let error = ArgumentCheck::compile(&object(Value::Object(many)).to_string()).unwrap_err();
    assert!(matches!(error, BadSchema::Invalid { .. }), "{error}");
}

#[test]
fn a_long_way_round_and_deep_arguments_do_not_use_up_the_stack() {
    for (steps, levels) in [(5, 60), (10, 60), (25, 25)] {
        let mut definitions = serde_json::Map::new();
        for step in 0..steps {
            let next = json!({"$ref": format!("#/$defs/d{}", step + 1)});
            definitions.insert(format!("d{step}"), json!({"allOf": [next]}));
        }
        definitions.insert(format!("d{steps}"), json!({"properties": {"next": {"$ref": "#"}}}));
        let schema = json!({"$ref": "#/$defs/d0", "$defs": definitions, "type": "object"});
        let check = ArgumentCheck::compile(&schema.to_string()).unwrap();
        let mut arguments = (json!({}), json!({"next": 1}));
        for _ in 0..levels {
            arguments = (json!({"next": arguments.0}), json!({"next": arguments.1}));
        }
        assert_eq!(check.check(&arguments.0), Ok(()), "{steps}");
        let refused = check.check(&arguments.1).unwrap_err();
        assert_eq!(refused.problems[0].path.len(), "/next".len() * (levels + 1), "{steps}");
    }
}

#[test]
fn arguments_too_deep_for_a_schema_that_contains_itself_are_refused() {
    let mut schema = json!({"properties": {"next": {"$ref": "#"}}});
    for _ in 0..28 {
        schema = json!({"allOf": [schema]});
    }
    let mut arguments = json!({});
    for _ in 0..60 {
        arguments = json!({"next": arguments});
    }
    let text = refusal(&schema, &arguments);
    assert_eq!(text, "the arguments must nest at most 48 levels deep, got deeper ones");
}
