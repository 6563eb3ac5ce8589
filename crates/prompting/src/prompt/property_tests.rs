//! Property tests over arbitrary catalogs: no panics, nothing lost, equal bytes for equal input.

use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::{collection, option, proptest};
use serde_json::{Map, Value};

use crate::prompt::budget::{DetailLevel, fit, fit_native};
use crate::prompt::clean::remove_hidden;
use crate::prompt::index_files::index_files;
use crate::prompt::native::{Vendor, definitions};
use crate::prompt::options::{CallForm, PromptOptions};
use crate::prompt::order::StableOrder;
use crate::prompt::views::{ShownServer, ShownTool};
use crate::prompt::xml::section;

fn keyword() -> impl Strategy<Value = String> {
    let known = [
        "type", "properties", "required", "items", "enum", "const", "anyOf", "oneOf", "allOf",
        "not", "$ref", "$defs", "default", "description", "minimum", "format",
        "additionalProperties", "examples", "nullable", "pattern",
    ];
    prop_oneof![
        4 => proptest::sample::select(known.to_vec()).prop_map(str::to_owned),
        1 => any::<String>(),
    ]
}

fn leaf() -> impl Strategy<Value = Value> {
    let words = [
        "object", "array", "string", "integer", "number", "null", "#/$defs/a", "#",
        "#/properties/type",
    ];
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        proptest::sample::select(words.to_vec()).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ]
}

fn schema() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(5, 48, 6, |inner| {
        prop_oneof![
            collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            collection::vec((keyword(), inner), 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

type Drawn = (String, Option<String>, String);

fn tools() -> impl Strategy<Value = Vec<Drawn>> {
    let text =
        prop_oneof![3 => schema().prop_map(|schema| schema.to_string()), 1 => any::<String>()];
    collection::vec((any::<String>(), option::of(any::<String>()), text), 0..6)
}

fn shown<'a>(drawn: &'a [Drawn], names: &'a [String], server: &'a str) -> Vec<ShownServer<'a>> {
    let tools =
        drawn.iter().zip(names).map(|((name, description, schema), model_name)| ShownTool {
            name,
            model_name,
            title: description.as_deref(),
            description: description.as_deref(),
            input_schema: Some(schema),
            output_schema: Some(schema),
        });
    vec![ShownServer {
        name: server,
        command_line: Some(server),
        instructions: Some(server),
        trouble: Some(server),
        tools: tools.collect(),
        ..ShownServer::default()
    }]
}

fn line(name: &str) -> String {
    remove_hidden(name).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Renders a catalog in every form and checks that nothing is lost and that the output is stable.
fn check_shown(drawn: &[Drawn], server: &str, budget: usize) {
    let names: Vec<String> = (0..drawn.len()).map(|number| format!("s__t{number}")).collect();
    let servers = shown(drawn, &names, server);
    for call_form in [CallForm::Wrapper, CallForm::ToolTags] {
        let options = PromptOptions { call_form, ..PromptOptions::default() };
        let text = section(&servers, &options);
        assert_eq!(text, section(&servers, &options));
        assert_eq!(text.matches("\n## Server ").count(), 1 + imitations(server));
        let plan = fit(&servers, budget, &options);
        assert_eq!(plan.text, fit(&servers, budget, &options).text);
        if plan.level != DetailLevel::Counts {
            for (name, _, _) in drawn {
                let name = line(name);
                assert!(name.contains('<') || plan.text.contains(&name));
            }
        }
    }
    let options = PromptOptions::default();
    for vendor in [Vendor::OpenAi, Vendor::Anthropic, Vendor::Gemini] {
        let defined = definitions(&servers, vendor, &options);
        assert_eq!(defined.tools.len(), drawn.len());
        let text = defined.request_value().to_string();
        assert!(names.iter().all(|name| text.contains(&format!("\"{name}\""))));
        assert_eq!(text, definitions(&servers, vendor, &options).request_value().to_string());
        let plan = fit_native(&servers, budget, vendor, &options);
        assert!(plan.fits == (plan.tokens <= budget));
    }
    let files = index_files(&servers, &options);
    let mut paths: Vec<String> = files.iter().map(|file| file.path.to_lowercase()).collect();
    paths.sort();
    paths.dedup();
    assert_eq!(paths.len(), files.len());
    assert!(
        paths.iter().all(|path| path
            .split('/')
            .all(|part| !part.is_empty() && part != "." && part != ".."))
    );
}

#[test]
fn an_empty_catalog_can_be_shown_in_no_room() {
    check_shown(&[], "", 0);
}

proptest! {
    #[test]
    fn any_catalog_can_be_shown(drawn in tools(), server in any::<String>(), budget in 0_usize..4_000) {
        check_shown(&drawn, &server, budget);
    }

    #[test]
    fn the_order_in_which_servers_and_tools_come_back_changes_no_byte(
        drawn in tools(),
        servers in collection::btree_set("[a-z]{1,4}", 1..6),
        turned in 0_usize..6,
    ) {
        let names: Vec<String> = (0..drawn.len()).map(|number| format!("t{number}")).collect();
        let mut all: Vec<ShownServer<'_>> = servers
            .iter()
            .flat_map(|server| shown(&drawn, &names, server))
            .collect();
        for server in &mut all {
            // Tool names are unique within a server.
            server.tools.iter_mut().zip(&names).for_each(|(tool, name)| tool.name = name);
        }
        let mut order = StableOrder::new();
        let options = PromptOptions::default();
        let mut first = all.clone();
        order.arrange(&mut first);
        let remembered = order.clone();

        let turned = turned % all.len();
        all.rotate_left(turned);
        for server in &mut all {
            server.tools.reverse();
        }
        let mut fewer: Vec<_> = all.iter().skip(1).cloned().collect();
        order.arrange(&mut fewer);
        order.arrange(&mut all);
        assert_eq!(section(&all, &options), section(&first, &options));
        assert_eq!(order, remembered);
    }

    #[test]
    fn gemini_sees_one_type_everywhere(drawn in schema()) {
        let text = drawn.to_string();
        let tool = ShownTool { name: "t", model_name: "s__t", input_schema: Some(&text), ..ShownTool::default() };
        let servers = [ShownServer { name: "s", tools: vec![tool], ..ShownServer::default() }];
        let defined = definitions(&servers, Vendor::Gemini, &PromptOptions::default());
        if let Some(parameters) = defined.tools.first().and_then(|tool| tool.get("parameters")) {
            check_subset(parameters);
        }
    }
}

/// Counts headings that imitate ours in instructions, which are fenced and may contain anything.
fn imitations(instructions: &str) -> usize {
    remove_hidden(instructions).trim().matches("\n## Server ").count()
}

fn check_subset(schema: &Value) {
    let fields = schema.as_object().unwrap();
    let known = [
        "type", "description", "nullable", "enum", "items", "properties", "required", "anyOf",
        "format", "minItems", "maxItems", "minimum", "maximum", "minLength", "maxLength",
        "pattern",
    ];
    assert!(fields.keys().all(|keyword| known.contains(&keyword.as_str())), "{schema}");
    if let Some(branches) = fields.get("anyOf").and_then(Value::as_array) {
        assert_eq!(fields.len(), 1, "{schema}");
        branches.iter().for_each(check_subset);
        return;
    }
    let kind = fields.get("type").and_then(Value::as_str).unwrap();
    assert!(
        ["object", "array", "string", "integer", "number", "boolean"].contains(&kind),
        "{schema}"
    );
    assert_eq!(kind == "array", fields.contains_key("items"), "{schema}");
    fields.get("items").into_iter().for_each(check_subset);
    let own = fields.get("properties").and_then(Value::as_object);
    own.into_iter().flat_map(Map::values).for_each(check_subset);
}
