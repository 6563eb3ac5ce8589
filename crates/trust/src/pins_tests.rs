//! Tests which definitions pass and which are held, for servers whose definitions change.

use serde_json::{Value, json};
use switchboard_catalog::ServerStatus;
use switchboard_core::ServerId;
use switchboard_wire::{Json, Revision};

use super::*;

fn item(definition: &Value) -> ListedItem {
    let key = definition["name"].as_str().unwrap().into();
    ListedItem { key, raw: RawValue::from_string(definition.to_string()).unwrap() }
}

fn server(instructions: Option<&str>, tools: &[Value]) -> Server {
    let agreement = Agreement {
        revision: Revision::NEWEST,
        capabilities: Json::from_trusted("{}".to_owned()),
        server: Json::from_trusted("{}".to_owned()),
        instructions: instructions.map(str::to_owned),
    };
    let none = Vec::new;
    let tools = tools.iter().map(item).collect();
    Server {
        id: ServerId::new("srv").unwrap(),
        config: None,
        status: ServerStatus::Ready,
        instances: Vec::new(),
        offers: Arc::new(Offers::new(tools, none(), none(), none(), Vec::new())),
        agreement: Some(Arc::new(agreement)),
    }
}

fn tool(name: &str, description: &str) -> Value {
    json!({"name": name, "description": description})
}

/// Returns pins that approve the current definitions of the server.
fn approved_pins(server: &Server) -> Pins {
    Pins { approved: pinnable_definitions(server), ..Pins::default() }
}

/// Returns the names that pass, and the held definitions with their reasons.
fn outcome(server: &Server, pins: &Pins, first_use: FirstUseSetting) -> (Vec<String>, Vec<String>) {
    let screened = screen(server, pins, first_use);
    let passing = screened.offers.tools.iter().map(|tool| tool.name().to_owned()).collect();
    let held = screened.held.definitions.iter();
    (passing, held.map(|held| format!("{} {}", held.name, held.why)).collect())
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn only_what_was_approved_passes_and_each_other_one_has_its_reason() {
    let before = server(Some("Hi."), &[tool("a", "A."), tool("b", "B."), tool("c", "C.")]);
    let pins = approved_pins(&before);
    let now = [tool("a", "A."), tool("b", "B!"), tool("d", "D."), tool("e", "C.")];
    let now = server(Some("Hi."), &now);
    let held = texts(&["b changed", "d new", "e renamed, was `c`"]);
    assert_eq!(outcome(&now, &pins, FirstUseSetting::Trust), (texts(&["a"]), held.clone()));
    assert_eq!(outcome(&now, &pins, FirstUseSetting::Ask), (texts(&["a"]), held));
    let nothing = texts(&[]);
    assert_eq!(outcome(&before, &pins, FirstUseSetting::Ask), (texts(&["a", "b", "c"]), nothing));
}

#[test]
fn instructions_hold_everything_unless_they_are_the_same_or_gone() {
    let tools = [tool("a", "A.")];
    let pins = approved_pins(&server(Some("Hi."), &tools));
    for (said, passing) in
        [(Some("Hi."), &["a"][..]), (None, &["a"]), (Some(" "), &["a"]), (Some("Hi!"), &[])]
    {
        let screened = screen(&server(said, &tools), &pins, FirstUseSetting::Trust);
        let names: Vec<&str> = screened.offers.tools.iter().map(Tool::name).collect();
        assert_eq!(names, passing, "{said:?}");
        let said_on = screened.agreement.unwrap().instructions.clone();
        assert!(!said_on.is_some_and(|text| text.contains('!')));
    }
    let pins = approved_pins(&server(None, &tools));
    assert_eq!(
        outcome(&server(Some("Hi."), &tools), &pins, FirstUseSetting::Trust),
        (texts(&[]), texts(&[" new"]))
    );
}

#[test]
fn a_first_use_is_kept_or_waits_as_the_setting_says() {
    let seen = server(None, &[tool("a", "A.")]);
    let none = Pins::default();
    let screened = screen(&seen, &none, FirstUseSetting::Trust);
    assert_eq!(screened.first.keys().copied().collect::<Vec<_>>(), PinKind::ALL);
    assert_eq!(screened.held, QuarantinedServer::default());
    assert_eq!(outcome(&seen, &none, FirstUseSetting::Ask), (texts(&[]), texts(&["a first use"])));
    let asked = Pins { asked: true, ..Pins::default() };
    assert_eq!(
        outcome(&seen, &asked, FirstUseSetting::Trust),
        (texts(&[]), texts(&["a first use"]))
    );
}

#[test]
fn what_could_not_be_listed_is_not_pinned_as_empty() {
    let mut seen = server(None, &[tool("a", "A.")]);
    let mut offers = Offers::new(vec![item(&tool("a", "A."))], vec![], vec![], vec![], vec![]);
    offers.unlisted = vec![ItemKind::Prompts];
    seen.offers = Arc::new(offers);
    let first = screen(&seen, &Pins::default(), FirstUseSetting::Trust).first;
    assert!(first.contains_key(&PinKind::Tool) && !first.contains_key(&PinKind::Prompt));
}

#[test]
fn what_stands_there_before_a_server_answered_is_neither_shown_nor_pinned() {
    let mut other = server(None, &[tool("a", "A.")]);
    other.agreement = None;
    let screened = screen(&other, &Pins::default(), FirstUseSetting::Trust);
    assert!(screened.offers.tools.is_empty() && screened.first.is_empty());
    assert_eq!(screened.held, QuarantinedServer::default());
}

#[test]
fn a_member_that_is_hidden_behind_another_of_its_name_is_seen() {
    let raw = |text: &str| ListedItem {
        key: "a".into(),
        raw: RawValue::from_string(text.to_owned()).unwrap(),
    };
    let with = |text: &str| {
        let mut server = server(None, &[]);
        let none = Vec::new;
        server.offers = Arc::new(Offers::new(vec![raw(text)], none(), none(), none(), Vec::new()));
        server
    };
    let pins = approved_pins(&with(r#"{"name":"a","description":"x"}"#));
    let twice = with(r#"{"name":"a","description":"evil","description":"x"}"#);
    assert_eq!(outcome(&twice, &pins, FirstUseSetting::Trust).1, texts(&["a changed"]));
    let spaced = with("{ \"description\" : \"x\", \"name\": \"a\" }");
    assert_eq!(outcome(&spaced, &pins, FirstUseSetting::Trust), (texts(&["a"]), texts(&[])));
}
