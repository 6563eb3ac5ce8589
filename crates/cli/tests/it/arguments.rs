//! Every syntax for the arguments of a call.

use serde_json::json;

use crate::switchboard::{Switchboard, fixture, result_text};
use crate::transcript::transcript;

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
    let mut seen = Vec::new();
    for words in [
        &["echo", "hello"][..],
        &["echo", "text:=hello"],
        &["echo", "text=@nothing.txt"],
        &["echo", "text=a", "text=b"],
        &["echo", "--json-args", "[1]"],
        &["echo", "--json-args", "{"],
        &["echo", "text=a", "--json-args", "{}"],
        &["echo", "text:=3"],
        &["slow", "ms=2.5"],
        &["add", "a=1"],
        &["add", "a=one", "b=2"],
    ] {
        let ran = switchboard.run(&[&["call", "echo"], words].concat()).expect(2);
        seen.push(transcript(&ran));
        assert_eq!(ran.stdout, "", "{words:?}");
    }
    insta::assert_snapshot!(seen.join("\n\n"), @r#"
    exit status 2
    --- stderr
    error: the argument `hello` has no `=`
    hint: write it as key=value, key:=JSON or key=@FILE

    exit status 2
    --- stderr
    error: the value of `text` is not JSON: expected value at line 1 column 1
    hint: strings in JSON need quotes; `key=value` needs none

    exit status 2
    --- stderr
    error: the file `nothing.txt` for `text` cannot be read: No such file or directory (os error [number])
    hint: use `key:=JSON` for a text that begins with `@`

    exit status 2
    --- stderr
    error: the argument `text` is given twice
    hint: write a list as key:=[1,2]

    exit status 2
    --- stderr
    error: the arguments are not a JSON object
    hint: write them as {"key": value}

    exit status 2
    --- stderr
    error: the arguments are not JSON: EOF while parsing an object at line 1 column 1
    hint: write them as {"key": value}

    exit status 2
    --- stderr
    error: the argument '[KEY=VALUE]...' cannot be used with '--json-args <JSON>'

    Usage: switchboard call <SERVER> <TOOL> <KEY=VALUE>...

    For more information, try '--help'.

    exit status 2
    --- stderr
    error: the arguments for `echo/echo` do not fit: `/text` must be a string, got a number
    hint: `switchboard tools show echo echo` shows its arguments

    exit status 2
    --- stderr
    error: the arguments for `echo/slow` do not fit: `/ms` must be an integer, got a number
    hint: `switchboard tools show echo slow` shows its arguments

    exit status 2
    --- stderr
    error: the arguments for `echo/add` do not fit: `/b` is required but missing
    hint: `switchboard tools show echo add` shows its arguments

    exit status 2
    --- stderr
    error: the arguments for `echo/add` do not fit: `/a` must be a number, got a string
    hint: `switchboard tools show echo add` shows its arguments
    "#);
    // Command lines that never became a call are not recorded.
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
