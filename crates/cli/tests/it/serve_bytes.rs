//! Tests of byte-exact results and arguments through the gateway, whatever JSON allows in them.

use std::cell::RefCell;

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, prop_oneof};
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};
use switchboard_testkit::{Home, HttpFixture};

use crate::gateway::{Gateway, MODERN, NEWEST_LEGACY};
use crate::speakers::{LegacyHttp, ModernHttp, Pipe, Speaker};
use crate::switchboard::{Switchboard, fixture};

/// Returns a strategy for JSON texts with numbers outside the range of floats, escapes, spaces,
/// unusual keys and duplicate keys.
fn value() -> impl Strategy<Value = String> {
    let number = "-?[1-9][0-9]{0,40}(\\.[0-9]{1,25})?([eE][+-]?[0-9]{1,3})?";
    let text = "\"(\\\\u00[0-7][0-9a-f]|\\\\ud83e\\\\uDD80|\\\\u2028|\\\\[nrtfb/\"\\\\]|[ a-zA-Z0-9äß漢🦀{}:,\\[\\]])*\"";
    let leaf = prop_oneof![
        number.prop_map(|text| text),
        text.prop_map(|text| text),
        prop_oneof![Just("null"), Just("true"), Just("false"), Just("-0"), Just("1E400")]
            .prop_map(str::to_owned),
    ];
    leaf.prop_recursive(4, 48, 6, |inner| {
        let spaced =
            (inner, "[ \t]{0,2}").prop_map(|(text, space)| format!("{space}{text}{space}"));
        let member = ("\"([a-zA-Z_$ä-]{0,3}|\\\\u0061|uri|_meta|same)\"", spaced.clone())
            .prop_map(|(key, value)| format!("{key} :{value}"));
        prop_oneof![
            vec(spaced, 0..5).prop_map(|items| format!("[{}]", items.join(","))),
            vec(member, 0..5).prop_map(|members| format!("{{{}}}", members.join(","))),
        ]
    })
}

/// Returns a strategy for tool results with unknown members: next to the content, in a content
/// item, and in `_meta`.
fn result() -> impl Strategy<Value = String> {
    (value(), value(), value(), value()).prop_map(|(before, inside, about, after)| {
        let text = r#"{"text":"t","type":"text","x-more":"#;
        format!(
            r#"{{"zz":{before}, "content":[{text}{inside}}}] ,"_meta":{{"z/a":1, "a":{about}}},"aa":{after}}}"#
        )
    })
}

/// Fails unless a result of every server arrives as it was sent.
fn check(client: &mut dyn Speaker, sent: &str) {
    for server in ["old", "new", "far-old", "far-new"] {
        let call = json!({"name": format!("{server}__raw"), "arguments": {"result": sent}});
        let heard = client.say("tools/call", &call, &Value::Null);
        let expected = match client.revision() {
            MODERN => format!(r#"{{"resultType":"complete",{}"#, sent.strip_prefix('{').unwrap()),
            _ => sent.to_owned(),
        };
        assert_eq!(heard.result(), expected, "{server} to {}", client.name());
    }
}

#[test]
fn a_result_arrives_byte_for_byte_as_its_server_sent_it_over_every_transport() {
    let far = ["legacy", "modern"]
        .map(|era| HttpFixture::start(&["conformance", "--transport", "http", "--era", era]));
    let switchboard = Switchboard::with(&json!({
        "old": fixture(&["conformance", "--era", "legacy"]),
        "new": fixture(&["conformance", "--era", "modern"]),
        "far-old": {"url": far[0].url},
        "far-new": {"url": far[1].url},
    }));
    let gateway = Gateway::start(&switchboard, &[]);
    let pipe = Pipe::new(switchboard.start(&["serve", "--stdio", "--no-record"]));
    let clients =
        RefCell::new((LegacyHttp::new(&gateway, NEWEST_LEGACY), ModernHttp::new(&gateway)));
    let config = Config { cases: 24, failure_persistence: None, ..Config::default() };
    let outcome = TestRunner::new(config).run(&result(), |sent| {
        let (legacy, modern) = &mut *clients.borrow_mut();
        check(legacy, &sent);
        check(modern, &sent);
        Ok(())
    });
    outcome.unwrap();
    let config = Config { cases: 12, failure_persistence: None, ..Config::default() };
    let pipe = RefCell::new(pipe);
    let outcome = TestRunner::new(config).run(&result(), |sent| {
        let mut pipe = pipe.borrow_mut();
        check(&mut pipe.modern(), &sent);
        check(&mut pipe.legacy(NEWEST_LEGACY), &sent);
        Ok(())
    });
    outcome.unwrap();
}

#[test]
fn arguments_arrive_byte_for_byte_as_their_client_sent_them() {
    let folder = Home::new();
    let trace = folder.path().join("trace");
    let traced = ["--trace", trace.to_str().unwrap(), "--transport", "http"];
    let far = HttpFixture::start(&[&["conformance"], &traced[..]].concat());
    let switchboard = Switchboard::with(&json!({"far": {"url": far.url}}));
    let gateway = Gateway::with_tool(&switchboard, &[], "far__refuse");
    let arguments = r#"{"message":"m" , "data":[12345678901234567890.10,-0,1E300,123456789012345678901234567890,{"z":1,"a":"\u00e9\/"}],"zz":{}, "code":7}"#;
    let meta = gateway.modern().with_meta(&json!({}))["_meta"].to_string();
    let params = format!(r#"{{"name":"far__refuse","_meta":{meta},"arguments":{arguments}}}"#);
    let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
    let headers = crate::gateway::Modern::headers("tools/call", &json!({"name": "far__refuse"}));
    let headers: Vec<(&str, &str)> =
        headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let reply = crate::http_client::send("POST", &gateway.url, &headers, &body);
    assert_eq!(reply.messages().pop().unwrap()["error"]["code"], 7);
    let heard = std::fs::read_to_string(trace).unwrap();
    let arrived = heard.lines().any(|line| {
        let request: Value = serde_json::from_str(line).unwrap_or_default();
        let body = request["body"].as_str().unwrap_or_default();
        body.contains(&format!(r#""arguments":{arguments}"#))
    });
    assert!(arrived, "{heard}");
}
