//! Realistic schemas, and the types generated from them.

use serde_json::{Value, json};

use crate::{ToolSpec, rust};

/// Returns the types of a tool `make` that takes `input`, without comments and imports.
fn types(input: Value) -> String {
    let tool = ToolSpec { name: "make".to_owned(), description: None, input, output: None };
    let text = rust("server", &[tool]);
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code =
        code.skip_while(|line| !line.starts_with("#[derive")).filter(|line| !line.is_empty());
    let code = code.filter(|line| !line.starts_with("#[derive"));
    code.map(str::trim).collect::<Vec<_>>().join("\n")
}

/// Checks the type of a required member with this schema, and the types that it defines.
fn check(schema: Value, expected: &str) {
    let shown = schema.to_string();
    let whole = json!({"type": "object", "properties": {"x": schema}, "required": ["x"]});
    let text = types(whole);
    let member = text.lines().find_map(|line| line.strip_prefix("pub x: ")).unwrap();
    let member = member.trim_end_matches(',').to_owned();
    let others = text.split("}\n").chain([text.as_str()]).filter(|part| !part.contains("pub x: "));
    let others: Vec<String> = others
        .map(|part| part.trim_end_matches('}').replace('\n', " ").trim().to_owned() + " }")
        .collect();
    let got = [vec![member], others].concat().join("\n");
    assert_eq!(got, expected, "{shown}");
}

#[test]
fn plain_schemas_become_plain_types() {
    for (schema, ty) in [
        (json!({"type": "string"}), "String"),
        (json!({"type": "boolean"}), "bool"),
        (json!({"type": "number"}), "f64"),
        (json!({"type": "integer"}), "i64"),
        (json!({"type": "integer", "minimum": 0}), "u64"),
        (json!({"type": "integer", "minimum": -1}), "i64"),
        (json!({"type": ["string", "null"]}), "Option<String>"),
        (json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}), "Option<i64>"),
        (json!({"type": "array", "items": {"type": "string"}}), "Vec<String>"),
        (json!({"items": {"type": "number"}}), "Vec<f64>"),
        (json!({"type": "array"}), "Vec<Value>"),
        (json!({"type": "object"}), "BTreeMap<String, Value>"),
        (
            json!({"type": "object", "additionalProperties": {"type": "integer"}}),
            "BTreeMap<String, i64>",
        ),
        (json!({"enum": [1, 2]}), "u64"),
        (json!({"const": true}), "bool"),
        (json!({}), "Value"),
        (json!(true), "Value"),
        (json!({"type": "odd"}), "Value"),
        (json!({"$ref": "https://elsewhere.example/schema"}), "Value"),
        (json!({"$ref": "#/properties/y"}), "Value"),
        (json!({"$ref": "#/properties/x"}), "Value"),
    ] {
        check(schema, ty);
    }
}

#[test]
fn a_fixed_set_of_texts_becomes_an_enum() {
    let words = "MakeArgumentsX\npub enum MakeArgumentsX { #[serde(rename = \"a\")] A, \
                 #[serde(rename = \"b-c\")] BC, }";
    check(json!({"type": "string", "enum": ["a", "b-c", "a"]}), words);
    check(json!({"oneOf": [{"const": "a"}, {"const": "b-c"}]}), words);
    check(
        json!({"enum": ["a", "b-c", null]}),
        &words.replacen("MakeArgumentsX", "Option<MakeArgumentsX>", 1),
    );
    check(
        json!({"enum": ["+1", "1", "", "é"]}),
        "MakeArgumentsX\npub enum MakeArgumentsX { #[serde(rename = \"+1\")] N1, \
         #[serde(rename = \"1\")] N12, #[serde(rename = \"\")] Empty, #[serde(rename = \"é\")] Empty2, }",
    );
}

#[test]
fn alternatives_become_an_enum_only_where_a_value_tells_which_it_is() {
    check(
        json!({"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
        "MakeArgumentsX\n#[serde(untagged)] pub enum MakeArgumentsX { Text(String), List(Vec<String>), }",
    );
    check(
        json!({"type": ["integer", "boolean", "null"]}),
        "Option<MakeArgumentsX>\n#[serde(untagged)] pub enum MakeArgumentsX { Number(i64), Flag(bool), }",
    );
    for unclear in [
        json!({"anyOf": [{"type": "integer"}, {"type": "number"}]}),
        json!({"anyOf": [{"type": "string"}, {}]}),
        json!({"oneOf": [], "anyOf": [{"type": "string"}]}),
        json!({"oneOf": [
            {"type": "object", "properties": {"a": {"type": "string"}}},
            {"type": "object", "properties": {"b": {"type": "string"}}},
        ]}),
    ] {
        check(unclear, "Value");
    }
}

#[test]
fn objects_that_a_member_tells_apart_become_an_enum_of_structs() {
    let shape = |kind: &str, size: &str| {
        json!({"type": "object", "title": kind, "required": ["kind", size],
            "properties": {"kind": {"const": kind}, size: {"type": "number"}}})
    };
    let text = types(json!({"type": "object", "required": ["shape"], "properties": {
        "shape": {"oneOf": [shape("circle", "radius"), shape("square", "side")]},
    }}));
    insta::assert_snapshot!(text, @r#"
    pub enum MakeArgumentsShapeCircleKind {
    #[serde(rename = "circle")]
    Circle,
    }
    pub struct MakeArgumentsShapeCircle {
    pub kind: MakeArgumentsShapeCircleKind,
    pub radius: f64,
    }
    pub enum MakeArgumentsShapeSquareKind {
    #[serde(rename = "square")]
    Square,
    }
    pub struct MakeArgumentsShapeSquare {
    pub kind: MakeArgumentsShapeSquareKind,
    pub side: f64,
    }
    #[serde(untagged)]
    pub enum MakeArgumentsShape {
    Circle(MakeArgumentsShapeCircle),
    Square(MakeArgumentsShapeSquare),
    }
    pub struct MakeArguments {
    pub shape: MakeArgumentsShape,
    }
    "#);
}

#[test]
fn a_type_without_an_empty_value_is_made_of_what_is_required() {
    let word = json!({"enum": ["a"]});
    let text = types(json!({"type": "object", "required": ["type", "x"], "properties": {
        "type": word, "x": {"type": "integer"}, "y": word,
    }}));
    let made = text.split_once("impl ").unwrap().1;
    assert_eq!(
        made,
        "MakeArguments {\n#[must_use]\n\
         pub fn new(r#type: MakeArgumentsType, x: i64) -> Self {\n\
         Self { r#type, x, y: Default::default() }\n}\n}"
    );
}

#[test]
fn references_give_one_type_and_may_lead_back() {
    let text = types(json!({
        "type": "object",
        "properties": {"tree": {"$ref": "#/$defs/node"}, "spare": {"$ref": "#/$defs/node"}},
        "required": ["tree"],
        "$defs": {"node": {
            "type": "object",
            "properties": {
                "leaves": {"type": "array", "items": {"$ref": "#/$defs/node"}},
                "next": {"$ref": "#/$defs/node"},
                "whole": {"$ref": "#"},
            },
        }},
    }));
    insta::assert_snapshot!(text, @r#"
    pub struct MakeNode {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leaves: Option<Vec<MakeNode>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Box<MakeNode>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole: Option<Box<MakeArguments>>,
    }
    pub struct MakeArguments {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spare: Option<MakeNode>,
    pub tree: MakeNode,
    }
    "#);
}

#[test]
fn parts_that_hold_at_once_are_laid_together() {
    let text = types(json!({
        "type": "object",
        "allOf": [{"$ref": "#/$defs/named"}, {"properties": {"age": {"type": "integer"}}}],
        "$defs": {"named": {"properties": {"name": {"type": "string"}}, "required": ["name"]}},
    }));
    insta::assert_snapshot!(text, @r#"
    pub struct MakeArguments {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age: Option<i64>,
    pub name: String,
    }
    "#);
    check(json!({"allOf": [{"type": "string"}]}), "String");
}

#[test]
fn odd_names_are_renamed_and_the_rest_is_kept() {
    let text = types(json!({
        "type": "object",
        "properties": {"a-b": {}, "a_b": {}, "type": {}, "self": {}, "other": {}},
        "required": ["a-b", "a_b", "type", "self", "other"],
        "additionalProperties": {"type": "number"},
    }));
    insta::assert_snapshot!(text, @r#"
    pub struct MakeArguments {
    #[serde(rename = "a-b")]
    pub a_b: Value,
    #[serde(rename = "a_b")]
    pub a_b_2: Value,
    pub other: Value,
    #[serde(rename = "self")]
    pub self_: Value,
    pub r#type: Value,
    #[serde(flatten)]
    pub other_2: BTreeMap<String, f64>,
    }
    "#);
}

#[test]
fn a_module_has_a_function_for_each_tool() {
    let tool =
        |name: &str, description: Option<&str>, input: Value, output: Option<Value>| ToolSpec {
            name: name.to_owned(),
            description: description.map(str::to_owned),
            input,
            output,
        };
    let numbers = json!({
        "type": "object",
        "properties": {"a": {"type": "number", "description": "The first."}, "b": {"type": "number"}},
        "required": ["a", "b"],
    });
    let sum =
        json!({"type": "object", "properties": {"sum": {"type": "number"}}, "required": ["sum"]});
    let text = rust(
        "math",
        &[
            tool("add", Some("Adds two numbers."), numbers, Some(sum)),
            tool("pid", None, json!({"type": "object"}), None),
        ],
    );
    insta::assert_snapshot!(text, @r#"
    //! Typed calls of the tools of server `math`.
    //!
    //! Generated by `switchboard generate rust`. Do not edit: it is overwritten.

    use serde::{Deserialize, Serialize};
    use switchboard_host::{CallError, Caller, Host, Reply};

    /// The server's name in the configuration.
    pub const SERVER: &str = "math";

    /// Adds two numbers.
    ///
    /// # Errors
    /// Fails if the call has no result, or one that does not match its schema.
    pub async fn add(
        host: &Host,
        caller: &Caller,
        arguments: &AddArguments,
    ) -> Result<AddOutput, CallError> {
        host.call_for(caller, SERVER, "add", arguments).await
    }

    /// Calls the tool pid.
    ///
    /// # Errors
    /// Fails if the call has no result, or one that does not match its schema.
    pub async fn pid(
        host: &Host,
        caller: &Caller,
    ) -> Result<Reply, CallError> {
        host.call_for_content(caller, SERVER, "pid", &()).await
    }

    /// The arguments of a tool.
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
    pub struct AddArguments {
        /// The first.
        pub a: f64,
        /// The member "b".
        pub b: f64,
    }

    /// The structured result of a tool.
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
    pub struct AddOutput {
        /// The member "sum".
        pub sum: f64,
    }
    "#);
}

#[test]
fn a_schema_without_an_end_gives_a_module_all_the_same() {
    // Each definition contains the next one twice, and the last one the first.
    let defs: serde_json::Map<String, Value> = (0..60)
        .map(|number| {
            let next = json!({"$ref": format!("#/$defs/d{}", (number + 1) % 60)});
            let parts =
                json!({"allOf": [next, next], "properties": {"x": {"anyOf": [next, next]}}});
            (format!("d{number}"), parts)
        })
        .collect();
    let input = json!({"$ref": "#/$defs/d0", "$defs": defs});
    let tool = ToolSpec { name: "t".to_owned(), description: None, input, output: None };
    let text = rust("s", &[tool]);
    syn::parse_file(&text).unwrap();
}
