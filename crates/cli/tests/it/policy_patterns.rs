//! Wildcards in rules and in every other place that accepts patterns.

use serde_json::{Value, json};

use crate::switchboard::{Switchboard, fixture};
use crate::transcript::transcript;

fn home(policy: &Value) -> Switchboard {
    let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo"])}));
    switchboard.write_policy("user", policy);
    switchboard
}

#[test]
fn a_deny_with_any_wildcard_holds_at_a_call() {
    let calls = |switchboard: &Switchboard| {
        let code = |words: &[&str]| switchboard.run(words).code;
        (code(&["call", "echo", "echo", "text=x"]), code(&["call", "echo", "write", "key=a"]))
    };
    for (target, expected) in [
        ("echo/{echo,add}", (5, 0)),
        ("echo/w?ite", (0, 5)),
        ("ech[a-o]/[vw]rite", (0, 5)),
        ("{echo/echo,other/*}", (5, 0)),
        ("echo/\\*", (0, 0)),
        ("echo/[!w]*", (5, 0)),
    ] {
        let switchboard = home(&json!({"rules": [{"effect": "deny", "target": target}]}));
        assert_eq!(calls(&switchboard), expected, "{target}");
    }
    let controls = json!({"controls": {"allowed_tools": ["{echo:write,other:x}"]}});
    assert_eq!(calls(&home(&controls)), (5, 0));
}

#[test]
fn a_pattern_that_can_be_none_is_refused_wherever_it_is_written() {
    let switchboard = home(&json!({}));
    let mut seen = Vec::new();
    for target in ["echo/[ab", "echo/{ab", "echo/memo://x?y"] {
        let policy = format!(r#"{{"rules": [{{"effect": "deny", "target": "{target}"}}]}}"#);
        switchboard.write("bad.json", &policy);
        let ran = switchboard.run(&["policy", "check", "bad.json"]).expect(3);
        seen.push(transcript(&ran));
        for words in
            [&["run", "--allow", target, "go"][..], &["tokens", "add", "a", "--tool", target]]
        {
            let ran = switchboard.run(words).expect(2);
            seen.push(transcript(&ran));
        }
    }
    insta::assert_snapshot!(seen.join("\n\n"), @r"
    exit status 3
    --- stderr
    error: `target` has an unclosed `[` ([work]/bad.json:1:47)
    hint: to match a special character, escape it: `\[`, in JSON `\\[`

    exit status 2
    --- stderr
    error: invalid value 'echo/[ab' for '--allow <PATTERN>': it has an unclosed `[`; to match a special character, escape it: `\[`, in JSON `\\[`

    For more information, try '--help'.

    exit status 2
    --- stderr
    error: invalid value 'echo/[ab' for '--tool <SERVER/TOOL>': it has an unclosed `[`; to match a special character, escape it: `\[`, in JSON `\\[`

    For more information, try '--help'.

    exit status 3
    --- stderr
    error: `target` has an unclosed `{` ([work]/bad.json:1:47)
    hint: to match a special character, escape it: `\[`, in JSON `\\[`

    exit status 2
    --- stderr
    error: invalid value 'echo/{ab' for '--allow <PATTERN>': it has an unclosed `{`; to match a special character, escape it: `\[`, in JSON `\\[`

    For more information, try '--help'.

    exit status 2
    --- stderr
    error: invalid value 'echo/{ab' for '--tool <SERVER/TOOL>': it has an unclosed `{`; to match a special character, escape it: `\[`, in JSON `\\[`

    For more information, try '--help'.

    exit status 3
    --- stderr
    error: `target` has a `?` or `[` in a URI, which is either a part of it or a wildcard ([work]/bad.json:1:55)
    hint: write `\?` or `\[` to match the character (in JSON `\\?`), or `*` to match any text

    exit status 2
    --- stderr
    error: invalid value 'echo/memo://x?y' for '--allow <PATTERN>': it has a `?` or `[` in a URI, which is either a part of it or a wildcard; write `\?` or `\[` to match the character (in JSON `\\?`), or `*` to match any text

    For more information, try '--help'.

    exit status 2
    --- stderr
    error: invalid value 'echo/memo://x?y' for '--tool <SERVER/TOOL>': it has a `?` or `[` in a URI, which is either a part of it or a wildcard; write `\?` or `\[` to match the character (in JSON `\\?`), or `*` to match any text

    For more information, try '--help'.
    ");
}

#[test]
fn a_wildcard_among_names_of_tools_is_told() {
    let mut entry = fixture(&["echo"]);
    entry["autoApprove"] = json!(["wri*"]);
    let switchboard = Switchboard::with(&json!({"echo": entry}));
    let ran = switchboard.run(&["tools", "list"]).expect(0);
    insta::assert_snapshot!(transcript(&ran), @"
    exit status 0
    --- stdout
    builtin	echo	text: string, times?: integer = 1	Returns the given text. Useful for testing a connection.
    builtin	files_list	depth?: integer = 1, hidden?: boolean = false, path?: string	Lists the contents of a folder. Links are shown, not followed; `.git`, `target` and `node_modules` are shown, but entered only if named as `path`.
    builtin	files_read	path: string, limit?: integer = 2000, offset?: integer = 1	Reads a text file, whole or a range of lines, up to 256 KiB at a time; the result says how to continue. Images up to 1 MiB are returned; other binary files are described.
    builtin	files_search	pattern: string, glob?: string, ignore_case?: boolean = false, limit?: integer = 100, path?: string	Finds lines that contain a text, exactly as written (no regular expressions). Skips `.git`, `target`, `node_modules`, links and binary files.
    builtin	time_convert	time: string, to: string, from?: string	Converts a time from one time zone to another.
    builtin	time_now	timezone?: string	Returns the current date and time in a time zone.
    echo	echo	text: string	Answers with the text.
    echo	add	a: number, b: number	Adds two numbers.
    echo	fail	message: string	Fails with the message.
    echo	slow	ms: integer, steps?: integer	Answers after a while and reports progress on the way.
    echo	content		Answers with every kind of content.
    echo	big	bytes: integer	Answers with much text.
    echo	environment		Answers with the environment.
    echo	write	key: string	Leaves a trace.
    echo	pid		Answers with the process and its group.
    echo	grow		Adds a tool.
    echo	ask	question: string	Asks the person a question and answers with the answer.
    --- stderr
    warning: `echo`: `autoApprove` has `wri*`, which is matched as a literal name ([home]/own/config.json:1)
    hint: a rule in `policy.json` can cover several tools
    ");
}
