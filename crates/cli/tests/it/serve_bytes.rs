//! Results pass the gateway to the byte, whatever JSON allows in them.

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, prop_oneof};
use proptest::test_runner::{Config, TestRunner};
use serde_json::json;

use crate::gateway::{Gateway, NEWEST_LEGACY};
use crate::switchboard::{Switchboard, fixture};

/// The text of a JSON value with numbers that no float holds, escapes, spaces and odd keys.
fn value() -> impl Strategy<Value = String> {
    let number = "-?[1-9][0-9]{0,40}(\\.[0-9]{1,25})?([eE][+-]?[0-9]{1,3})?";
    let text = "\"(\\\\u00[0-7][0-9a-f]|\\\\[nrt/b\"]|[ a-zA-Z0-9äß漢🦀{}:,\\[\\]])*\"";
    let leaf = prop_oneof![
        number.prop_map(|text| text),
        text.prop_map(|text| text),
        prop_oneof![Just("null"), Just("true"), Just("false"), Just("-0"), Just("1E400")]
            .prop_map(str::to_owned),
    ];
    leaf.prop_recursive(4, 48, 6, |inner| {
        let spaced =
            (inner, "[ \t]{0,2}").prop_map(|(text, space)| format!("{space}{text}{space}"));
        let member = ("\"[a-zA-Z_$ä-]{0,6}\"", spaced.clone())
            .prop_map(|(key, value)| format!("{key} :{value}"));
        prop_oneof![
            vec(spaced, 0..5).prop_map(|items| format!("[{}]", items.join(","))),
            vec(member, 0..5).prop_map(|members| format!("{{{}}}", members.join(","))),
        ]
    })
}

/// A result of a tool with members that nobody knows before and after its content.
fn result() -> impl Strategy<Value = String> {
    (value(), value(), value()).prop_map(|(before, inside, after)| {
        let text = r#"{"text":"t","type":"text","x-more":"#;
        format!(r#"{{"zz":{before}, "content":[{text}{inside}}}] ,"aa":{after}}}"#)
    })
}

#[test]
fn a_result_arrives_byte_for_byte_as_its_server_sent_it() {
    let switchboard = Switchboard::with(&json!({
        "old": fixture(&["conformance", "--era", "legacy"]),
        "new": fixture(&["conformance", "--era", "modern"]),
    }));
    let gateway = Gateway::with_tool(&switchboard, &[], "old__raw");
    gateway.wait_for_tool("new__raw");
    let (legacy, modern) = (gateway.legacy(NEWEST_LEGACY), gateway.modern());
    let config = Config { cases: 48, failure_persistence: None, ..Config::default() };
    let outcome = TestRunner::new(config).run(&result(), |sent| {
        let inner = sent.strip_prefix('{').unwrap();
        for server in ["old", "new"] {
            let call = json!({"name": format!("{server}__raw"), "arguments": {"result": sent}});
            let text = legacy.send("tools/call", &call).texts().pop().unwrap();
            let (_, got) = text.split_once(r#","result":"#).unwrap();
            assert_eq!(got, format!("{sent}}}"), "{server} to a legacy client");
            let text = modern.send("tools/call", &call).texts().pop().unwrap();
            let (_, got) = text.split_once(r#","result":"#).unwrap();
            let expected = format!(r#"{{"resultType":"complete",{inner}}}"#);
            assert_eq!(got, expected, "{server} to a modern client");
        }
        Ok(())
    });
    outcome.unwrap();
}
