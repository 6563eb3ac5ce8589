//! Parsing of well-formed, unusual and malformed messages.

use bytes::Bytes;
use proptest::prelude::*;
use switchboard_json::Json;

use super::{Message, NotAMessage, ResponseBody, notification_text, request_text, response_text};
use crate::error::RpcError;

fn kind(text: &str) -> String {
    told(Message::parse(&Bytes::copy_from_slice(text.as_bytes())))
}

fn told(message: Result<Message, NotAMessage>) -> String {
    match message {
        Ok(Message::Request { id, method, params }) => {
            format!("request {} {method} {}", id.as_str(), show(params.as_ref()))
        }
        Ok(Message::Notification { method, params }) => {
            format!("notification {method} {}", show(params.as_ref()))
        }
        Ok(Message::Response { id, answer: ResponseBody::Result(result) }) => {
            format!("result {id:?} {}", result.as_str())
        }
        Ok(Message::Response { id, answer: ResponseBody::Error(error) }) => {
            format!("error {id:?} {error}")
        }
        Ok(Message::Response { id, answer: ResponseBody::Broken(why) }) => {
            format!("broken {id:?} {why}")
        }
        Err(NotAMessage::NotJson) => "not json".to_owned(),
        Err(NotAMessage::NotRpc) => "not rpc".to_owned(),
        Err(NotAMessage::BadId) => "bad id".to_owned(),
        Err(NotAMessage::Batch) => "batch".to_owned(),
    }
}

fn show(json: Option<&Json>) -> &str {
    json.map_or("-", Json::as_str)
}

#[test]
fn messages_are_told_apart_by_what_they_hold() {
    for (text, expected) in [
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, "request 1 ping -"),
        (r#"{"id":"a\"b","method":"m","params":{"x":1}}"#, r#"request "a\"b" m {"x":1}"#),
        (r#"{"method":"m","params":[]}"#, "notification m []"),
        (r#"{"method":"m","id":null}"#, "notification m -"),
        (r#"{"method":"m","id":[1]}"#, "request [1] m -"),
        (r#"{"method":"m","id":1,"result":{}}"#, "not rpc"),
        (r#"{"method":"m","id":1,"result":null,"error":{}}"#, "not rpc"),
        (r#"{"method":"m","id":1,"result":null,"error":null}"#, "request 1 m -"),
        (r#"{"id":1,"result":null}"#, "result Some(1) null"),
        (r#"{"error":null,"result":{"a":1},"id":1}"#, r#"result Some(1) {"a":1}"#),
        (r#"{"id":1,"error":{"code":-1,"message":"no"}}"#, "error Some(1) no (code -1)"),
        (r#"{"id":1,"error":"just text"}"#, r#"error Some(1) "just text" (code 0)"#),
        (r#"{"id":1,"error":{"code":"x"}}"#, r#"error Some(1) {"code":"x"} (code 0)"#),
        (
            r#"{"id":1,"result":1,"error":{"code":1,"message":""}}"#,
            "broken Some(1) it has both a result and an error",
        ),
        (r#"{"id":1}"#, "broken Some(1) it has neither a result nor an error"),
        (r#"{"error":{"code":-32700,"message":"parse"}}"#, "error None parse (code -32700)"),
        (
            r#"{"id":"1","result":1}"#,
            "broken Some(1) its id is of another type than the number that was sent",
        ),
        (
            r#"{"id":1.0,"result":1}"#,
            "broken Some(1) its id is of another type than the number that was sent",
        ),
        (r#"{"id":"1","error":{"code":1,"message":"no"}}"#, "error Some(1) no (code 1)"),
        (r#"{"id":"x1","result":1}"#, "result None 1"),
        (r#"{"id":1.5,"result":1}"#, "result None 1"),
        (r"{}", "not rpc"),
        (r"7", "not rpc"),
        (r#"{"id":1,"method":5}"#, "not rpc"),
        ("Server started on port 3", "not json"),
        ("{\"id\":1,", "not json"),
    ] {
        assert_eq!(kind(text), expected, "{text}");
    }
}

#[test]
fn clients_have_to_keep_to_the_rules_for_ids() {
    for (text, expected) in [
        (r#"{"method":"m","id":1}"#, "request 1 m -"),
        (r#"{"method":"m","id":1.5}"#, "request 1.5 m -"),
        (r#"{"method":"m"}"#, "notification m -"),
        (r#"{"method":"notifications/m","id":null}"#, "notification notifications/m -"),
        (r#"{"method":"m","id":null}"#, "bad id"),
        (r#"{"method":"m","id":{}}"#, "bad id"),
        (r#"{"method":"m","id":[1]}"#, "bad id"),
        (r#"{"method":"m","id":false}"#, "bad id"),
        (r#"{"id":1,"result":{}}"#, "result Some(1) {}"),
        ("{", "not json"),
    ] {
        let read = Message::parse_strict(&Bytes::copy_from_slice(text.as_bytes()));
        assert_eq!(told(read), expected, "{text}");
    }
}

#[test]
fn metadata_is_added_without_touching_the_rest() {
    for (params, meta, expected) in [
        ("", "", r#"{"jsonrpc":"2.0","id":7,"method":"m"}"#),
        ("{}", r#""a":1"#, r#"{"jsonrpc":"2.0","id":7,"method":"m","params":{"_meta":{"a":1}}}"#),
        ("", r#""a":1"#, r#"{"jsonrpc":"2.0","id":7,"method":"m","params":{"_meta":{"a":1}}}"#),
        (
            r#"{"z":1e400,"b":"é"}"#,
            r#""a":1"#,
            r#"{"jsonrpc":"2.0","id":7,"method":"m","params":{"_meta":{"a":1},"z":1e400,"b":"é"}}"#,
        ),
        (r#"{"z":1}"#, "", r#"{"jsonrpc":"2.0","id":7,"method":"m","params":{"z":1}}"#),
    ] {
        assert_eq!(request_text(7, "m", params, meta), expected);
    }
    assert_eq!(notification_text("n", "", ""), r#"{"jsonrpc":"2.0","method":"n"}"#);
}

#[test]
fn an_answer_gives_the_id_back_as_it_came() {
    let id = Json::from_trusted(r#""7\u0041""#.to_owned());
    assert_eq!(response_text(&id, Ok("{}")), r#"{"jsonrpc":"2.0","id":"7\u0041","result":{}}"#);
    assert_eq!(
        response_text(&id, Err(&RpcError::new(-32_601, "no \"x\""))),
        r#"{"jsonrpc":"2.0","id":"7\u0041","error":{"code":-32601,"message":"no \"x\""}}"#
    );
}

#[test]
fn a_batch_is_split_into_its_members() {
    let members =
        Message::split_batch(&Bytes::from_static(br#"[{"id":1,"result":1}, 2]"#)).unwrap();
    assert_eq!(members, [&br#"{"id":1,"result":1}"#[..], b"2"]);
}

/// JSON text with odd spacing, escapes, numbers and key order.
pub(crate) fn any_json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("1e400".to_owned()),
        Just("-0.0".to_owned()),
        Just("123456789012345678901234567890".to_owned()),
        Just(r#""\u00e9\/\ud83d\ude00""#.to_owned()),
        any::<i64>().prop_map(|number| number.to_string()),
        any::<String>().prop_map(|text| serde_json::Value::from(text).to_string()),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6)
                .prop_map(|items| format!("[{}]", items.join(" , "))),
            prop::collection::vec(("[a-z_]{0,6}", inner), 0..6).prop_map(|items| {
                let members: Vec<_> =
                    items.iter().map(|(key, value)| format!("\"{key}\" :{value}")).collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
}

proptest! {
    #[test]
    fn a_payload_comes_out_as_the_bytes_that_went_in(payload in any_json()) {
        let line = Bytes::from(response_text(&Json::from_trusted("1".to_owned()), Ok(&payload)));
        match Message::parse(&line) {
            Ok(Message::Response { answer: ResponseBody::Result(result), .. }) => {
                prop_assert_eq!(result.as_str(), payload);
            }
            other => prop_assert!(false, "{:?}", other),
        }
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        _ = Message::parse(&Bytes::from(bytes));
    }
}
