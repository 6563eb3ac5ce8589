//! Hostile names and texts: the module contains only functions and types, whatever a server sends.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use syn::{Attribute, Expr, Item, Meta, Stmt};

use crate::{ToolSpec, rust};

/// Texts with a meaning to a compiler, a documentation page or a reader.
const NASTY: [&str; 26] = [
    "\"); std::process::exit(1); (\"",
    "*/ fn evil() {} /*",
    "\nfn evil() {}\n",
    "\r fn evil() {}",
    "\u{2028}fn evil() {}",
    "```\nstd::process::exit(1);\n```",
    "    std::process::exit(1);",
    "-     std::process::exit(1);",
    "~~~rust\nevil()\n~~~",
    "#![feature(x)]",
    "]#[path = \"/etc/passwd\"] mod evil;",
    "a\\",
    "a\\\"",
    "\u{202e}evil\u{2066}",
    "\0",
    "r#\"",
    "self",
    "crate",
    "Self",
    "_",
    "type",
    "Option",
    "String",
    "<script>alert(1)</script>",
    "",
    "名前",
];

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => prop::sample::select(NASTY.to_vec()).prop_map(str::to_owned),
        1 => any::<String>(),
        1 => "[a-c]{1,2}",
    ]
}

fn reference() -> impl Strategy<Value = Value> {
    let known = prop::sample::select(vec!["#", "#/$defs/a", "#/$defs/b", "#/properties/a", "x"]);
    prop_oneof![known.prop_map(str::to_owned), text()].prop_map(Value::String)
}

/// Generates schemas of all forms, with hostile texts in every position.
fn schema() -> impl Strategy<Value = Value> {
    let types = prop::sample::select(vec![
        "string", "integer", "number", "boolean", "array", "object", "null", "odd",
    ]);
    let leaf = prop_oneof![
        (types.clone(), text()).prop_map(|(ty, about)| json!({"type": ty, "description": about})),
        (prop::collection::vec(text(), 0..4), text()).prop_map(
            |(words, about)| json!({"enum": words, "description": about, "default": about})
        ),
        text().prop_map(|word| json!({"const": word, "description": word})),
        prop::collection::vec(types, 0..3).prop_map(|types| json!({"type": types})),
        reference().prop_map(|target| json!({"$ref": target})),
        Just(json!(true)),
        Just(json!(7)),
    ];
    leaf.prop_recursive(4, 40, 4, |inner| {
        let several = prop::collection::vec(inner.clone(), 0..4);
        prop_oneof![
            4 => (
                prop::collection::vec((text(), inner.clone(), any::<bool>()), 0..4),
                prop::option::of(inner.clone()),
                text(),
            )
                .prop_map(|(members, more, about)| {
                    let required: Vec<&String> =
                        members.iter().filter(|(.., needed)| *needed).map(|(key, ..)| key).collect();
                    let properties: Map<String, Value> =
                        members.iter().map(|(key, of, _)| (key.clone(), of.clone())).collect();
                    let mut whole = json!({"type": "object", "properties": properties,
                        "required": required, "description": about, "title": about});
                    if let Some(more) = more {
                        whole["additionalProperties"] = more;
                    }
                    whole
                }),
            1 => inner.clone().prop_map(|of| json!({"type": "array", "items": of})),
            1 => several.clone().prop_map(|of| json!({"oneOf": of})),
            1 => several.clone().prop_map(|of| json!({"anyOf": of})),
            1 => several.prop_map(|of| json!({"allOf": of})),
            1 => (inner.clone(), inner).prop_map(|(a, b)| {
                json!({"$ref": "#/$defs/a", "$defs": {"a": a, "b": b}})
            }),
        ]
    })
}

fn tool() -> impl Strategy<Value = ToolSpec> {
    (text(), prop::option::of(text()), schema(), prop::option::of(schema())).prop_map(
        |(name, description, input, output)| ToolSpec { name, description, input, output },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn a_module_holds_only_what_it_is_made_of(server in text(), tools in prop::collection::vec(tool(), 0..4)) {
        let module = rust(&server, &tools);
        let parsed = syn::parse_file(&module);
        prop_assert!(parsed.is_ok(), "{:?}\n{}", parsed.err(), module);
        let file = parsed.unwrap();
        let mut names = std::collections::BTreeSet::new();
        let mut called = Vec::new();
        for item in &file.items {
            match item {
                Item::Use(_) => {}
                Item::Const(constant) => {
                    prop_assert_eq!(constant.ident.to_string(), "SERVER");
                    prop_assert_eq!(expression_text(&constant.expr), Some(server.clone()));
                }
                Item::Struct(of) => {
                    prop_assert!(names.insert(of.ident.to_string()), "{} twice", of.ident);
                    check_attributes(&of.attrs);
                    let mut fields = std::collections::BTreeSet::new();
                    for field in &of.fields {
                        check_attributes(&field.attrs);
                        prop_assert!(fields.insert(field.ident.clone()), "{:?} twice", field.ident);
                    }
                }
                Item::Enum(of) => {
                    prop_assert!(names.insert(of.ident.to_string()), "{} twice", of.ident);
                    check_attributes(&of.attrs);
                    let mut variants = std::collections::BTreeSet::new();
                    for variant in &of.variants {
                        check_attributes(&variant.attrs);
                        prop_assert!(variants.insert(variant.ident.clone()), "{} twice", variant.ident);
                    }
                }
                Item::Impl(of) => {
                    prop_assert!(of.trait_.is_none());
                    let [syn::ImplItem::Fn(new)] = of.items.as_slice() else { panic!("{of:?}") };
                    prop_assert_eq!(new.sig.ident.to_string(), "new");
                    prop_assert!(matches!(
                        new.block.stmts.as_slice(),
                        [Stmt::Expr(Expr::Struct(_), None)]
                    ));
                    check_attributes(&new.attrs);
                }
                Item::Fn(of) => {
                    check_attributes(&of.attrs);
                    called.push(called_tool(of));
                }
                other => prop_assert!(false, "{other:?}"),
            }
        }
        let expected: Vec<Option<String>> = tools.iter().map(|tool| Some(tool.name.clone())).collect();
        prop_assert_eq!(called, expected);
        check_comments(&module);
    }
}

/// Returns the tool that a function calls, if the function does nothing else.
fn called_tool(function: &syn::ItemFn) -> Option<String> {
    let [Stmt::Expr(Expr::Await(awaited), None)] = function.block.stmts.as_slice() else {
        return None;
    };
    let Expr::MethodCall(call) = awaited.base.as_ref() else { return None };
    assert!(call.method == "call_for" || call.method == "call_for_content", "{}", call.method);
    assert_eq!(call.args.len(), 4);
    expression_text(&call.args[2])
}

fn expression_text(expression: &Expr) -> Option<String> {
    let Expr::Lit(literal) = expression else { return None };
    let syn::Lit::Str(text) = &literal.lit else { return None };
    Some(text.value())
}

fn check_attributes(attributes: &[Attribute]) {
    const SERDE: [&str; 5] = ["rename", "default", "skip_serializing_if", "flatten", "untagged"];
    for attribute in attributes {
        match &attribute.meta {
            Meta::NameValue(of) => assert!(of.path.is_ident("doc")),
            Meta::List(of) if of.path.is_ident("derive") => {}
            Meta::List(of) => {
                assert!(of.path.is_ident("serde"), "{:?}", of.path);
                attribute
                    .parse_nested_meta(|inner| {
                        assert!(SERDE.iter().any(|word| inner.path.is_ident(word)));
                        if inner.input.peek(syn::Token![=]) {
                            inner.value()?.parse::<syn::LitStr>()?;
                        }
                        Ok(())
                    })
                    .unwrap();
            }
            Meta::Path(path) => assert!(path.is_ident("must_use"), "{path:?}"),
        }
    }
}

#[test]
fn a_server_whose_name_is_made_of_marks_begins_no_example() {
    for server in ["`", "``", "a`", "```"] {
        check_comments(&rust(server, &[]));
    }
}

/// Checks that comments contain no runnable example, no markup and no invisible characters.
fn check_comments(module: &str) {
    for line in module.split('\n') {
        let Some(comment) = line.trim_start().strip_prefix("//") else { continue };
        let text = comment.trim_start_matches(['/', '!']);
        assert!(!text.contains("  "), "{line:?}");
        assert!(!text.contains("```") && !text.contains("~~~"), "{line:?}");
        assert!(!text.chars().any(|c| c.is_control() || ('\u{2028}'..='\u{202e}').contains(&c)));
        for (place, _) in text.match_indices('<') {
            let escapes =
                text.get(..place).unwrap().chars().rev().take_while(|c| *c == '\\').count();
            let inside_ours = text.contains("A value of type `");
            assert!(escapes % 2 == 1 || inside_ours, "{line:?}");
        }
    }
}
