//! Tests of repaired and rejected JSON.

use super::repair;

#[test]
fn near_json_is_repaired_with_a_note_of_what_was_done() {
    let cases = [
        (r#"{"a": 1,}"#, r#"{"a":1}"#, "a trailing comma"),
        (r#"{"a": [1, 2, ], }"#, r#"{"a":[1,2]}"#, "a trailing comma"),
        ("{'a': 'it\"s'}", r#"{"a":"it\"s"}"#, "single quotes"),
        ("{'a': 'don't'}", r#"{"a":"don't"}"#, "single quotes"),
        ("{a: 1, b-c: 2, $d: 3}", r#"{"a":1,"b-c":2,"$d":3}"#, "unquoted keys"),
        ("{\"a\": 1 // one\n, /* two */ \"b\": \"//\"}", r#"{"a":1,"b":"//"}"#, "comments"),
        ("{\"a\": \"x\" // last\n}", r#"{"a":"x"}"#, "comments"),
        (
            r#"{"a": True, "b": False, "c": None}"#,
            r#"{"a":true,"b":false,"c":null}"#,
            "Python's words for values",
        ),
        ("{\"a\": \"x\n\ty\u{1}\"}", r#"{"a":"x\n\ty\u0001"}"#, "line breaks inside of a string"),
        (r#"{"a": {"b": [1"#, r#"{"a":{"b":[1]}}"#, "a missing closing brace"),
        (r#"{"a": "b""#, r#"{"a":"b"}"#, "a missing closing brace"),
        ("{", "{}", "a missing closing brace"),
        (r#"{"a": "\d+\s"}"#, r#"{"a":"\\d+\\s"}"#, "backslashes that escape nothing"),
        (r#"{"a": "it\'s"}"#, r#"{"a":"it's"}"#, "escaped single quotes"),
    ];
    for (written, text, note) in cases {
        let repaired = repair(written).unwrap();
        assert_eq!((repaired.text.as_str(), repaired.notes), (text, vec![note]), "{written}");
    }
}

#[test]
fn several_liberties_are_all_noted() {
    let repaired = repair("{a: 'x',}").unwrap();
    assert_eq!(repaired.text, r#"{"a":"x"}"#);
    assert_eq!(repaired.notes, ["unquoted keys", "single quotes", "a trailing comma"]);
}

#[test]
fn what_cannot_be_repaired_is_refused_with_its_place() {
    let cases = [
        ("", "a value is missing at line 1, column 1, near ``"),
        ("{\"a\" 1}", "a colon is missing at line 1, column 6, near `{\"a\" 1}`"),
        (
            "{\n  \"a\": 1\n  \"b\": 2\n}",
            "a comma or a closing brace is missing at line 3, column 3, near \
             `{   \"a\": 1   \"b\": 2 }`",
        ),
        ("{\"a\": \"x", "a string is not closed at line 1, column 7, near `{\"a\": \"x`"),
        ("{\"a\": }", "a value is missing or has no quotes at line 1, column 7, near `{\"a\": }`"),
        ("{\"a\":", "a value is missing at line 1, column 6, near `{\"a\":`"),
        ("{\"a\": 1,", "a key is missing at line 1, column 9, near `{\"a\": 1,`"),
        (
            "{\"a\": [1}",
            "a comma or a closing bracket is missing at line 1, column 9, near `{\"a\": [1}`",
        ),
        (
            "{\"a\": \"say \"hi\"\"}",
            "a quote inside of a string has no backslash, or a comma is missing at line 1, \
             column 12, near `{\"a\": \"say \"hi\"\"}`",
        ),
        (
            "[\"a\" \"b\"]",
            "a quote inside of a string has no backslash, or a comma is missing at line 1, \
             column 4, near `[\"a\" \"b\"]`",
        ),
        ("{,}", "a key is missing at line 1, column 2, near `{,}`"),
        ("{} x", "something follows after the end of the value at line 1, column 4, near `{} x`"),
        ("{\"a\": 1x}", "a number cannot be read at line 1, column 7, near `{\"a\": 1x}`"),
        (
            "{\"a\": NaN}",
            "a value is missing or has no quotes at line 1, column 7, near `{\"a\": NaN}`",
        ),
        ("{} /* x", "a comment is not closed at line 1, column 4, near `{} /* x`"),
    ];
    for (written, expected) in cases {
        assert_eq!(repair(written).unwrap_err().to_string(), expected, "{written}");
    }
}

#[test]
fn what_is_nested_too_deeply_is_refused() {
    let deep = "[".repeat(100_000);
    assert_eq!(repair(&deep).unwrap_err().what, "the value is nested too deeply");
}
