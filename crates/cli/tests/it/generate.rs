//! `switchboard generate rust`: its output is compiled into this test and calls real servers.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use switchboard_config::{Environment, Places};
use switchboard_core::{Caller, Item, OutcomeKind};
use switchboard_host::{CallError, Host, Options};

use crate::generated::{echo, shop};
use crate::given::{offering, server_entry};
use crate::switchboard::{Switchboard, fixture};

/// Fails unless the module compiled into this test equals the current output.
fn check_current(switchboard: &Switchboard, server: &str) {
    let fresh = switchboard.run(&["generate", "rust", server]).expect(0).stdout;
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/it/generated")
        .join(format!("{server}.rs"));
    if std::env::var_os("UPDATE_GENERATED").is_some() {
        std::fs::write(&file, &fresh).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap();
    let run = "run `UPDATE_GENERATED=1 cargo test -p switchboard --test it generate`";
    assert_eq!(kept, fresh, "{} is stale: {run}", file.display());
}

fn with_echo() -> Switchboard {
    Switchboard::with(&json!({"echo": fixture(&["echo"])}))
}

/// Returns a home with a server `shop` that uses everything a schema can express.
fn with_shop() -> Switchboard {
    offering("shop", &offers())
}

fn offers() -> Value {
    let order = json!({
        "type": "object",
        "properties": {
            "customer": {"$ref": "#/$defs/Customer"},
            "lines": {"type": "array", "items": {"$ref": "#/$defs/Line"}, "description": "What is bought."},
            "pay": {"oneOf": [
                {"type": "object", "title": "Card", "required": ["by", "number"],
                    "properties": {"by": {"const": "card"}, "number": {"type": "string"}}},
                {"type": "object", "title": "Cash", "required": ["by"],
                    "properties": {"by": {"const": "cash"}}},
            ]},
            "note": {"type": ["string", "null"], "description": "*/ fn evil() {} /*\n```\nevil();\n```"},
            "type": {"enum": ["express", "usual", "2-day"], "default": "usual"},
            "tags": {"type": "object", "additionalProperties": {"type": "integer"}},
            "when": {"anyOf": [{"type": "string"}, {"type": "integer", "minimum": 0}]},
            "extra": {},
        },
        "required": ["customer", "lines", "pay"],
        "$defs": {
            "Customer": {"type": "object", "properties": {
                "name": {"type": "string"}, "referredBy": {"$ref": "#/$defs/Customer"},
            }, "required": ["name"]},
            "Line": {"type": "object", "properties": {
                "item-id": {"type": "string"}, "count": {"type": "integer", "minimum": 1},
            }, "required": ["item-id", "count"]},
        },
    });
    let receipt = json!({
        "type": "object",
        "properties": {
            "number": {"type": "integer"},
            "state": {"enum": ["taken", "refused"]},
            "total": {"type": "number"},
            "lines": {"type": "array", "items": {"type": "object", "properties": {
                "price": {"type": "number"}, "gift": {"type": "boolean"},
            }, "required": ["price"]}},
        },
        "required": ["number", "state", "total"],
    });
    json!({
        "tools": [
            {"name": "place-order", "description": "Places an order.", "inputSchema": order, "outputSchema": receipt},
            {"name": "place_order", "description": "Another one.", "inputSchema": {"type": "object"}},
        ],
        "results": {"place-order": {
            "content": [{"type": "text", "text": "Order 7."}],
            "structuredContent": {"number": 7, "state": "taken", "total": 12.5, "lines": [{"price": 12.5}]},
        }},
    })
}

/// Returns a host in this process on the same configuration.
async fn host(switchboard: &Switchboard) -> Host {
    let home = switchboard.folder();
    let places = Places {
        user: Some(home.join("own/config.json")),
        ..Places::without_files(home.join("own/embedded"))
    };
    let environment = Environment {
        variables: std::env::vars().filter(|(name, _)| name == "PATH").collect(),
        home: Some(home.to_owned()),
        current_dir: PathBuf::from(home),
    };
    let host = Host::start(Options::new(places, environment)).unwrap();
    host.wait_settled(None).await;
    host
}

#[test]
fn generated_modules_are_what_is_written_now() {
    check_current(&with_echo(), "echo");
    check_current(&with_shop(), "shop");
}

#[tokio::test]
async fn generated_functions_call_a_real_server() {
    let switchboard = with_echo();
    let host = host(&switchboard).await;
    let caller = Caller::person();
    let sum = echo::add(&host, &caller, &echo::AddArguments { a: 19.0, b: 23.0 }).await;
    assert_eq!(sum, Ok(echo::AddOutput { sum: 42.0 }));
    let said = echo::echo(&host, &caller, &echo::EchoArguments { text: "näh".to_owned() }).await;
    assert_eq!(said.unwrap().items, [Item::Text("näh".to_owned())]);
    assert_eq!(echo::pid(&host, &caller).await.unwrap().items.len(), 1);
    let failed =
        echo::fail(&host, &caller, &echo::FailArguments { message: "on fire".to_owned() }).await;
    let error = failed.unwrap_err();
    assert_eq!(error.outcome().unwrap().kind, OutcomeKind::ToolError);
    assert!(error.to_string().contains("on fire"), "{error}");
    host.stop().await;
}

#[tokio::test]
async fn generated_types_say_what_the_schemas_say() {
    let switchboard = with_shop();
    let host = host(&switchboard).await;
    let customer = shop::PlaceOrderCustomer {
        name: "Ada".to_owned(),
        referred_by: Some(Box::new(shop::PlaceOrderCustomer {
            name: "Bob".to_owned(),
            referred_by: None,
        })),
    };
    let line = shop::PlaceOrderLine { item_id: "x1".to_owned(), count: 2 };
    let by = shop::PlaceOrderArgumentsPayCashBy::Cash;
    let pay = shop::PlaceOrderArgumentsPay::Cash(shop::PlaceOrderArgumentsPayCash { by });
    let order = shop::PlaceOrderArguments {
        r#type: Some(shop::PlaceOrderArgumentsType::N2Day),
        tags: Some([("a".to_owned(), -1)].into()),
        when: Some(shop::PlaceOrderArgumentsWhen::Number(5)),
        extra: Some(json!([null])),
        ..shop::PlaceOrderArguments::new(customer, vec![line], pay)
    };
    let receipt = shop::place_order(&host, &Caller::person(), &order).await;
    let line = shop::PlaceOrderOutputLinesItem { price: 12.5, gift: None };
    let expected = shop::PlaceOrderOutput {
        number: 7,
        state: shop::PlaceOrderOutputState::Taken,
        total: 12.5,
        lines: Some(vec![line]),
    };
    assert_eq!(receipt, Ok(expected));
    let other = shop::place_order_2(&host, &Caller::person()).await.unwrap();
    assert_eq!(other.items, [Item::Text("place_order ran".to_owned())]);
    host.stop().await;
    let journal = std::fs::read_to_string(switchboard.path("journal")).unwrap();
    let sent = journal.lines().find_map(|line| line.strip_prefix("call place-order ")).unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(sent).unwrap(),
        json!({
            "customer": {"name": "Ada", "referredBy": {"name": "Bob"}},
            "lines": [{"item-id": "x1", "count": 2}],
            "pay": {"by": "cash"},
            "type": "2-day",
            "tags": {"a": -1},
            "when": 5,
            "extra": [null],
        })
    );
}

#[tokio::test]
async fn a_program_is_held_against_the_rules_unless_a_person_asked() {
    // Kept until the end: without its folder, the host refuses calls.
    let switchboard = with_echo();
    let host = host(&switchboard).await;
    let program = Caller::program("nightly");
    let refused = echo::add(&host, &program, &echo::AddArguments { a: 1.0, b: 1.0 }).await;
    let Err(CallError::Ended { target, outcome }) = refused else { panic!("{refused:?}") };
    assert_eq!((target.as_str(), outcome.kind), ("echo/add", OutcomeKind::Denied), "{outcome:?}");
    assert!(outcome.hint.is_some_and(|hint| hint.contains("autoApprove")));
    host.stop().await;
}

#[test]
fn only_the_named_tools_are_generated_into_the_named_file() {
    let switchboard = with_echo();
    let file = switchboard.text_path("math.rs");
    let told = switchboard.json(&["generate", "rust", "echo", "--tool", "add", "--out", &file]);
    assert_eq!(told, json!({"server": "echo", "tools": ["add"], "file": file}));
    let module = std::fs::read_to_string(&file).unwrap();
    assert!(module.contains("pub async fn add("), "{module}");
    assert!(!module.contains("pub async fn echo("), "{module}");
}

#[test]
fn what_is_not_there_cannot_be_generated() {
    let switchboard = with_echo();
    let gone = json!({"command": "/nowhere/server"});
    let entry = server_entry(&switchboard, "shop", &offers());
    switchboard.configure(&json!({"echo": fixture(&["echo"]), "shop": entry, "gone": gone}));
    for (words, code, said) in [
        (&["generate", "rust", "eco"][..], 2, "did you mean `echo`?"),
        (&["generate", "rust", "echo", "--tool", "environmnt"], 2, "did you mean `environment`?"),
        (&["generate", "rust", "gone"], 4, "`switchboard doctor gone` shows details"),
        (
            &["generate", "rust", "echo", "--out", "/nowhere/x.rs"],
            7,
            "cannot write `/nowhere/x.rs`",
        ),
    ] {
        let ran = switchboard.run(words).expect(code);
        assert!(ran.stderr.contains(said), "{words:?}: {ran:?}");
        assert_eq!(ran.stdout, "", "{words:?}");
    }
}
