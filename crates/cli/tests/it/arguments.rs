//! Every way to write the arguments of a call.

use serde_json::json;

use crate::switchboard::{Switchboard, fixture, result_text};

#[test]
fn arguments_are_words_json_files_or_one_object() {
    let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo"])}));
    switchboard.write("text.txt", "from a file\n");
    type Case = (&'static [&'static str], &'static str, &'static str);
    let cases: [Case; 9] = [
        (&["add", "a=2", "b=3"], "", r#"{"sum":5}"#),
        (&["add", "a:=1.5", "b=-2"], "", r#"{"sum":-0.5}"#),
        (&["echo", "text=5"], "", "5"),
        (&["echo", "text=a=b"], "", "a=b"),
        (&["echo", "text:=\"true\""], "", "true"),
        (&["echo", "text=@text.txt"], "", "from a file\n"),
        (&["add", "--json-args", r#"{"a":1,"b":2}"#], "", r#"{"sum":3}"#),
        (&["add", "--json-args", "-"], "\u{feff}{\"a\": 1, \"b\": 1}", r#"{"sum":2}"#),
        (&["add", "--json-args", "-"], "{\"a\": 20,\n \"b\": 22}\n", r#"{"sum":42}"#),
    ];
    for (words, input, expected) in cases {
        let words = [&["call", "echo"], words, &["--json"]].concat();
        let called = switchboard.run_with_input(&words, input).expect(0).json();
        assert_eq!(result_text(&called), expected, "{words:?}");
    }
}

#[test]
fn arguments_that_cannot_be_read_or_do_not_fit_are_named() {
    let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo"])}));
    for (words, expected) in [
        (&["echo", "hello"][..], "the argument `hello` has no `=`"),
        (&["echo", "text:=hello"], "the value of `text` is not JSON"),
        (&["echo", "text=@nothing.txt"], "the file `nothing.txt` for `text` cannot be read"),
        (&["echo", "text=a", "text=b"], "the argument `text` is given twice"),
        (&["echo", "--json-args", "[1]"], "the arguments are not a JSON object"),
        (&["echo", "--json-args", "{"], "the arguments are not JSON"),
        (&["echo", "text=a", "--json-args", "{}"], "cannot be used with"),
        (&["echo", "text:=3"], "`/text` must be a string"),
        (&["slow", "ms=2.5"], "`/ms` must be an integer, got a number"),
        (&["add", "a=1"], "`/b`"),
        (&["add", "a=one", "b=2"], "`/a` must be a number"),
    ] {
        let ran = switchboard.run(&[&["call", "echo"], words].concat()).expect(2);
        assert!(ran.stderr.contains(expected), "no `{expected}` in {ran:?}");
        assert_eq!(ran.stdout, "", "{words:?}");
    }
    // What never was a call is no part of the record.
    assert_eq!(
        switchboard.recorded_calls(),
        [
            "tool echo/echo: not_sent (bad_arguments)",
            "tool echo/slow: not_sent (bad_arguments)",
            "tool echo/add: not_sent (bad_arguments)",
            "tool echo/add: not_sent (bad_arguments)",
        ]
    );
}
