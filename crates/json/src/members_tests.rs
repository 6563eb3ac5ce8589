//! Tests that the scanner accepts the same texts and finds the same members as `serde_json`.

use std::collections::VecDeque;

use proptest::prelude::*;
use serde_json::value::RawValue;

use super::{MembersError, for_each_member};

fn found(text: &str) -> Result<Vec<(String, String)>, MembersError> {
    let mut all = Vec::new();
    for_each_member(text, |name, value| all.push((name.into_owned(), value.to_owned())))?;
    Ok(all)
}

/// Returns the verdict of `serde_json` on the same text.
fn expected(text: &str) -> Result<(), MembersError> {
    match serde_json::from_str::<&RawValue>(text) {
        Err(_) => Err(MembersError::NotJson),
        Ok(raw) if raw.get().starts_with('{') => Ok(()),
        Ok(_) => Err(MembersError::NotAnObject),
    }
}

#[test]
fn members_come_in_order_with_their_bytes() {
    let text = " {\"a\" : {\"b\":[1, {}]} ,\n\"\\u0061\":1e400,\"\":\"\\\"}\" , \"é\":[ ]} ";
    let all = [("a", "{\"b\":[1, {}]}"), ("a", "1e400"), ("", "\"\\\"}\""), ("é", "[ ]")];
    let all = all.map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(found(text), Ok(all.to_vec()));
    assert_eq!(found("{ }"), Ok(Vec::new()));
}

#[test]
fn what_is_no_object_is_told_apart_from_what_is_no_json() {
    for text in [
        "", " ", "7", "-", "-0", "01", "1.", "1.e3", "1e", "1e+", "1E-7", "nul", "null", "nullx",
        "true", "false ", "\"", "\"a\"", "\"\\x\"", "\"\\u12g4\"", "\"\\u12\"", "\"\\ud800\"",
        "\"a\tb\"", "\"a\u{7f}b\"", "[", "[1,]", "[,1]", "[1 2]", "[1}", "[]]", "[[],[[]]]", "{",
        "{}}", "{} {}", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{,}", "{\"a\":1 \"b\":2}", "{a:1}",
        "{\"a\":[}", "{\"a\":{\"b\":tru}}", "{\"a\":'b'}", "{\"a\":+1}", "{\"a\":.5}",
        "{\"a\n\":1}", "\u{feff}{}", "{\"a\":\"b\"", "{\"a\":\"b\\\"}", "/**/{}",
    ] {
        assert_eq!(found(text).map(|_| ()), expected(text), "{text:?}");
    }
}

#[test]
fn long_strings_are_judged_as_short_ones() {
    for length in [0, 30, 31, 32, 33, 64, 1_000] {
        for end in ["", "\\n", "\\u00e9é", "\n", "\u{1f}", "\\", "\\x", "\\u00g0", "\\\"\\\\"] {
            for rest in ["", "tail"] {
                let text = format!("{{\"a\":\"{}{end}{rest}\"}}", "x".repeat(length));
                assert_eq!(found(&text).map(|_| ()), expected(&text), "{text:?}");
            }
        }
    }
}

#[test]
fn depth_is_bounded_by_the_text_alone() {
    let deep = format!(r#"{{"a":{}1{}}}"#, "[".repeat(200_000), "]".repeat(200_000));
    assert_eq!(found(&deep).map(|all| all.len()), Ok(1));
}

proptest! {
    #[test]
    fn an_object_is_taken_apart_as_a_parser_does(
        parts in prop::collection::vec(("[a-z\\\\\"é]{0,5}", any_json()), 0..6)
    ) {
        let written: Vec<String> = parts
            .iter()
            .map(|(name, value)| format!(" {} : {value} ", serde_json::Value::from(name.as_str())))
            .collect();
        let text = format!("{{{}}}", written.join(","));
        prop_assert_eq!(found(&text), Ok(parts));
    }

    #[test]
    fn a_change_of_one_byte_is_judged_as_a_parser_does(
        json in any_json(), at in any::<prop::sample::Index>(), byte in 0_u8..0x80
    ) {
        let mut bytes = json.into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(text) = String::from_utf8(bytes) {
            prop_assert_eq!(found(&text).map(|_| ()), expected(&text), "{:?}", text);
        }
    }

    #[test]
    fn tokens_in_any_order_are_judged_as_a_parser_does(
        tokens in prop::collection::vec(prop::sample::select(vec![
            "{", "}", "[", "]", ",", ":", " ", "\"a\"", "\"\\u0041\"", "1", "-", "0", ".5", "e3", "null",
        ]), 0..14)
    ) {
        let mut tokens: VecDeque<&str> = tokens.into();
        tokens.push_front("{\"x\":");
        let text = tokens.make_contiguous().concat();
        prop_assert_eq!(found(&text).map(|_| ()), expected(&text), "{:?}", text);
    }
}

#[test]
fn eight_bytes_at_once_are_judged_as_one_by_one() {
    let is_special = |byte: u8| byte < b' ' || byte == b'"' || byte == b'\\';
    for byte in 0..=u8::MAX {
        for (place, around) in
            (0..8).flat_map(|place| [b'a', 0x20, 0x7f, 0xff].map(|it| (place, it)))
        {
            let mut block = [around; 8];
            block[place] = byte;
            let first = block.iter().position(|byte| is_special(*byte));
            let found = super::special_in(block);
            let found = (found != 0).then_some(found.trailing_zeros() as usize / 8);
            assert_eq!(found, first, "{block:?}");
        }
    }
}

/// Generates JSON text with unusual spacing, escapes, numbers and key order.
fn any_json() -> impl Strategy<Value = String> {
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
