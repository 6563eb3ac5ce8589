//! Tests of form schemas, valid and invalid, and of typed values.

use proptest::prelude::*;
use serde_json::{Map, json};

use super::*;
use crate::review::form_values::FieldProblem;

fn form(schema: &Value) -> Result<Form, BadAsk> {
    Form::parse(&RawValue::from_string(schema.to_string()).unwrap())
}

fn field_of(schema: &Value) -> Field {
    let form = form(&json!({"type": "object", "properties": {"a": schema}})).unwrap();
    form.fields.into_iter().next().unwrap()
}

fn choices(all: &[(&str, Option<&str>)]) -> Vec<Choice> {
    let choice = |(value, title): &(&str, Option<&str>)| Choice {
        value: (*value).to_owned(),
        title: title.map(str::to_owned),
    };
    all.iter().map(choice).collect()
}

#[test]
fn every_kind_of_field_is_understood() {
    let text = |format| FieldKind::Text { format, shortest: None, longest: None };
    let number = |kind| FieldKind::Number { kind, least: None, most: None };
    let plain = choices(&[("x", None), ("y", None)]);
    let titled = choices(&[("x", Some("Ex")), ("y", Some("Why"))]);
    let of = json!([{"const": "x", "title": "Ex"}, {"const": "y", "title": "Why"}]);
    for (schema, expected) in [
        (json!({"type": "string"}), text(None)),
        (json!({"type": "string", "format": "email"}), text(Some(TextFormat::Email))),
        (json!({"type": "string", "format": "uri"}), text(Some(TextFormat::Uri))),
        (json!({"type": "string", "format": "date"}), text(Some(TextFormat::Date))),
        (json!({"type": "string", "format": "date-time"}), text(Some(TextFormat::DateTime))),
        (json!({"type": "string", "format": "colour"}), text(None)),
        (json!({"type": ["null", "string"]}), text(None)),
        (json!({"anyOf": [{"type": "string"}, {"type": "null"}]}), text(None)),
        (
            json!({"type": "string", "minLength": 2, "maxLength": 5}),
            FieldKind::Text { format: None, shortest: Some(2), longest: Some(5) },
        ),
        (json!({"type": "integer"}), number(NumberKind::Integer)),
        (
            json!({"type": "number", "minimum": 0, "maximum": 1.5}),
            FieldKind::Number { kind: NumberKind::Number, least: Some(0.0), most: Some(1.5) },
        ),
        (json!({"type": "boolean"}), FieldKind::Boolean),
        (json!({"type": "string", "enum": ["x", "y"]}), FieldKind::Choice(plain.clone())),
        (json!({"enum": ["x", "y"]}), FieldKind::Choice(plain.clone())),
        (
            json!({"type": "string", "enum": ["x", "y"], "enumNames": ["Ex", "Why"]}),
            FieldKind::Choice(titled.clone()),
        ),
        (json!({"type": "string", "oneOf": of}), FieldKind::Choice(titled.clone())),
        (
            json!({"type": "array", "items": {"type": "string", "enum": ["x", "y"]}, "maxItems": 1}),
            FieldKind::Choices { options: plain, fewest: None, most: Some(1) },
        ),
        (
            json!({"type": "array", "items": {"anyOf": of}, "minItems": 1}),
            FieldKind::Choices { options: titled, fewest: Some(1), most: None },
        ),
    ] {
        assert_eq!(field_of(&schema).kind, expected, "{schema}");
    }
}

#[test]
fn what_is_no_flat_object_of_such_fields_is_refused_with_the_reason() {
    let object = |field: Value| json!({"type": "object", "properties": {"a": field}});
    let neither = "`a` is neither a text, a number, a yes or no, nor a choice";
    for (schema, expected) in [
        (json!({"type": "array"}), "the form is not an object of fields"),
        (object(json!({"type": "object"})), neither),
        (object(json!({"type": "array", "items": {"type": "object"}})), neither),
        (object(json!({"enum": []})), neither),
        (object(json!({})), neither),
        (object(json!(true)), neither),
        (json!({"required": ["b"]}), "the form requires `b`, which it does not describe"),
        (
            object(json!({"type": "string", "pattern": "("})),
            "`a`: the schema is not valid at `/properties/value/pattern`",
        ),
    ] {
        let error = form(&schema).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{schema}: {error}");
    }
    for text in ["3", r#"{"properties": []}"#, r#"{"required": "a"}"#] {
        let raw = RawValue::from_string(text.to_owned()).unwrap();
        let error = Form::parse(&raw).unwrap_err().to_string();
        assert!(error.starts_with("the form cannot be read: "), "{text}: {error}");
    }
    let twice = r#"{"properties": {"a": {"type": "string"}, "a": {"type": "string"}}}"#;
    let error = Form::parse(&RawValue::from_string(twice.to_owned()).unwrap()).unwrap_err();
    assert_eq!(error.to_string(), "the form has two fields of the same name");
}

#[test]
fn fields_keep_the_order_of_the_server_and_what_it_says_of_them() {
    let text = r#"{"properties": {
        "zip": {"type": "string", "title": "Postcode", "description": "Where to."},
        "age": {"type": "integer", "default": 3},
        "bad": {"type": "integer", "default": "three"}
    }, "required": ["zip"]}"#;
    let form = Form::parse(&RawValue::from_string(text.to_owned()).unwrap()).unwrap();
    let shown: Vec<_> = form
        .fields
        .iter()
        .map(|field| (field.label(), field.description.as_deref(), field.required, &field.default))
        .collect();
    let expected = [
        ("Postcode", Some("Where to."), true, &None),
        ("age", None, false, &Some(json!(3))),
        ("bad", None, false, &None),
    ];
    assert_eq!(shown, expected);
}

#[test]
fn what_is_typed_becomes_a_value_or_words_about_it() {
    let pets = json!({"type": "string", "enum": ["c", "d"], "enumNames": ["Cat", "Dog"]});
    let fish = json!({"type": "array", "minItems": 1, "maxItems": 2,
        "items": {"type": "string", "enum": ["tuna", "trout", "eel"]}});
    let text = |more: Value| {
        let mut schema = json!({"type": "string"});
        schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        schema
    };
    let email = "must be an email address, such as name@example.org";
    let uri = "must be a URI, such as https://example.org";
    let date = "must be a date, such as 2026-07-28";
    for (schema, typed, expected) in [
        (text(json!({})), " hello ", Ok(json!("hello"))),
        (text(json!({"minLength": 3})), "ab", Err("must have at least 3 characters")),
        (text(json!({"maxLength": 1})), "ab", Err("must have at most 1 character")),
        (text(json!({"pattern": "^[a-z]+$"})), "A", Err("must match `^[a-z]+$`")),
        (text(json!({"format": "email"})), "a@b.org", Ok(json!("a@b.org"))),
        (text(json!({"format": "email"})), "a@", Err(email)),
        (text(json!({"format": "email"})), "a b@c", Err(email)),
        (text(json!({"format": "uri"})), "https://a.example/b", Ok(json!("https://a.example/b"))),
        (text(json!({"format": "uri"})), "a.example", Err(uri)),
        (text(json!({"format": "date"})), "2026-02-28", Ok(json!("2026-02-28"))),
        (text(json!({"format": "date"})), "2026-02-30", Err(date)),
        (
            text(json!({"format": "date-time"})),
            "2026-02-28T10:00:00+02:00",
            Ok(json!("2026-02-28T10:00:00+02:00")),
        ),
        (
            text(json!({"format": "date-time"})),
            "2026-02-28",
            Err("must be a date and time with its zone, such as 2026-07-28T12:00:00Z"),
        ),
        (json!({"type": "integer", "maximum": 9}), "7", Ok(json!(7))),
        (json!({"type": "integer", "maximum": 9}), "10", Err("must be at most 9")),
        (json!({"type": "integer"}), "1.5", Err("must be a whole number")),
        (json!({"type": "number", "minimum": 0}), "1.5", Ok(json!(1.5))),
        (json!({"type": "number", "minimum": 0}), "-1", Err("must be at least 0")),
        (json!({"type": "number"}), "many", Err("must be a number")),
        (json!({"type": "boolean"}), "Y", Ok(json!(true))),
        (json!({"type": "boolean"}), "no", Ok(json!(false))),
        (json!({"type": "boolean"}), "maybe", Err("must be y or n")),
        (pets.clone(), "2", Ok(json!("d"))),
        (pets.clone(), "Cat", Ok(json!("c"))),
        (pets.clone(), "d", Ok(json!("d"))),
        (pets, "3", Err("must be a number from 1 to 2")),
        (fish.clone(), "1, 3", Ok(json!(["tuna", "eel"]))),
        (fish.clone(), "2,2", Ok(json!(["trout"]))),
        (fish.clone(), ",", Err("must have at least 1 item")),
        (fish, "1,2,3", Err("must have at most 2 items")),
    ] {
        let got = field_of(&schema).read(typed);
        assert_eq!(got, expected.map(Some).map_err(str::to_owned), "{schema} {typed}");
    }
}

#[test]
fn nothing_typed_means_the_default_or_nothing_unless_something_is_required() {
    let schema = json!({"properties": {
        "a": {"type": "string", "default": "x"}, "b": {"type": "string"}, "c": {"type": "string"},
    }, "required": ["a", "c"]});
    let got: Vec<_> = form(&schema).unwrap().fields.iter().map(|field| field.read(" ")).collect();
    let expected = [Ok(Some(json!("x"))), Ok(None), Err("is required".to_owned())];
    assert_eq!(got, expected);
}

#[test]
fn the_whole_is_checked_against_the_schema_that_came() {
    let schema = json!({"type": "object", "required": ["a"], "maxProperties": 2, "properties": {
        "a": {"type": "string", "format": "email"}, "b": {"type": "boolean"}, "c": {"type": "number"},
    }});
    let form = form(&schema).unwrap();
    let check = |content: Value| {
        let problems = form.check(content.as_object().unwrap()).err().unwrap_or_default();
        let words = |one: FieldProblem| format!("{}: {one}", one.field.clone().unwrap_or_default());
        problems.into_iter().map(words).collect::<Vec<_>>()
    };
    let none: [&str; 0] = [];
    assert_eq!(check(json!({"a": "a@b.c"})), none);
    assert_eq!(check(json!({"b": 1})), ["b: must be a boolean", "a: is required"]);
    let unfit = "a: must be an email address, such as name@example.org";
    assert_eq!(check(json!({"a": "no", "z": 1})), [unfit, "z: the form has no field `z`"]);
    let many = json!({"a": "a@b.c", "b": true, "c": 1});
    assert_eq!(check(many).len(), 1);
}

/// Generates schemas of fields, valid and invalid.
fn any_field() -> impl Strategy<Value = Value> {
    let kinds = ["string", "integer", "number", "boolean", "array", "object", "null", "odd"];
    let kind = prop::sample::select(kinds.to_vec());
    let word = "[a-z]{0,6}";
    let options = prop::collection::vec(word, 0..4);
    let bounds = (any::<Option<i8>>(), any::<Option<u8>>(), any::<bool>());
    (kind, options, bounds, word).prop_map(|(kind, options, (least, longest, titled), word)| {
        let mut field = json!({"type": kind, "title": word, "default": word});
        if let Some(least) = least {
            field["minimum"] = json!(least);
        }
        if let Some(longest) = longest {
            field["maxLength"] = json!(longest);
        }
        match (titled, kind) {
            (_, "array") => field["items"] = json!({"enum": options}),
            (true, "string") => {
                let one = |value: &String| json!({"const": value, "title": value});
                field["oneOf"] = options.iter().map(one).collect();
            }
            (false, "string") if !options.is_empty() => field["enum"] = json!(options),
            _ => {}
        }
        field
    })
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "\\PC{0,8}".prop_map(Value::from),
    ];
    let key = prop_oneof![
        Just("properties".to_owned()),
        Just("type".to_owned()),
        Just("required".to_owned()),
        Just("enum".to_owned()),
        "[a-z]{1,3}",
    ];
    leaf.prop_recursive(4, 40, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(key.clone(), inner, 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn no_schema_makes_it_panic(schema in any_json(), typed in "\\PC{0,12}") {
        if let Ok(form) = form(&schema) {
            for field in &form.fields {
                let _ = field.read(&typed);
            }
        }
    }

    #[test]
    fn what_was_read_field_by_field_fits_the_form(
        fields in prop::collection::vec(any_field(), 0..5),
        typed in prop::collection::vec("([a-z]{0,4}|-?[0-9]{1,3}|y|1,2)", 5),
    ) {
        let named = fields.into_iter().enumerate();
        let properties: Map<String, Value> =
            named.map(|(at, field)| (format!("f{at}"), field)).collect();
        let schema = json!({"type": "object", "properties": properties});
        if let Ok(form) = form(&schema) {
            let mut content = Map::new();
            for (field, typed) in form.fields.iter().zip(&typed) {
                if let Ok(Some(value)) = field.read(typed) {
                    content.insert(field.name.clone(), value);
                }
            }
            prop_assert_eq!(form.check(&content), Ok(()));
        }
    }
}
