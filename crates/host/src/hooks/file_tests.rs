//! Tests of valid and invalid hook files.

use switchboard_document::json_value;

use super::*;

fn read(text: &str) -> Result<HookFileContents, String> {
    let file = Path::new("hooks.json");
    let value = json_value(file, text).map_err(|error| error.to_string())?;
    let owner = HookFileOwner { file, level: PolicyLevel::User, folder: Path::new("/own") };
    parse_contents(&value, owner).map_err(|error| error.to_string())
}

fn shown(hook: &Hook) -> String {
    let closed = if hook.fail_closed { "closed" } else { "open" };
    let matcher = hook.pattern().unwrap_or("*");
    format!("{} {:?} {:?} {closed} {matcher}", hook.event.as_str(), hook.action, hook.limit)
}

#[test]
fn hooks_are_read_with_everything_that_counts() {
    let text = r#"{"version": 1, "hooks": {
        "beforeMCPExecution": [
            {"command": "./check.sh --all"},
            {"command": "check | tee log", "timeout": 0.5, "failClosed": false, "matcher": "^w"},
            {"command": "my program", "args": ["a b"], "type": "command"},
            {"url": "http://127.0.0.1:9/h"},
            {"type": "prompt", "prompt": "ok?"}
        ],
        "afterMCPExecution": [{"command": "log", "loop_limit": null, "unheardOf": 1}],
        "stop": [{"command": "x"}]
    }}"#;
    let contents = read(text).unwrap();
    let hooks: Vec<String> = contents.hooks.iter().map(shown).collect();
    assert_eq!(
        hooks,
        [
            r#"afterMCPExecution Program { program: "log", args: [] } 30s closed *"#,
            r#"beforeMCPExecution Program { program: "./check.sh", args: ["--all"] } 30s closed *"#,
            r#"beforeMCPExecution Shell("check | tee log") 500ms open ^w"#,
            r#"beforeMCPExecution Program { program: "my program", args: ["a b"] } 30s closed *"#,
            r#"beforeMCPExecution Web("http://127.0.0.1:9/h") 30s closed *"#,
            r#"beforeMCPExecution Unusable("hooks of type `prompt` are not supported") 30s closed *"#,
        ]
    );
    assert_eq!(
        contents.notes,
        [
            "`afterMCPExecution`, hook 1: unknown key `unheardOf`",
            "`stop` is not an event of MCP calls and is not run here",
        ]
    );
}

#[test]
fn the_version_says_which_rules_hold() {
    for (version, expected) in [
        ("", Ok(HookRules::Current)),
        (r#""version": 1,"#, Ok(HookRules::Current)),
        (r#""version": "2.3.41","#, Ok(HookRules::Cursor2341)),
        (
            r#""version": 2,"#,
            Err("unknown `version` 2; supported are 1 and \"2.3.41\" (hooks.json)"),
        ),
        (
            r#""version": "1.7","#,
            Err("unknown `version` \"1.7\"; supported are 1 and \"2.3.41\" (hooks.json)"),
        ),
    ] {
        let rules = read(&format!("{{{version} \"hooks\": {{}}}}")).map(|read| read.rules);
        assert_eq!(rules, expected.map_err(str::to_owned), "{version}");
    }
}

#[test]
fn a_file_that_could_be_meant_otherwise_is_refused() {
    for (text, expected) in [
        ("[]", "the file must be an object (hooks.json)"),
        ("{}", "`hooks` is missing (hooks.json)"),
        (r#"{"hooks": []}"#, "`hooks` must be an object (hooks.json)"),
        (
            r#"{"hooks": {"beforeMcpExecution": []}}"#,
            "unknown event `beforeMcpExecution`; the events of MCP calls are `beforeMCPExecution` and `afterMCPExecution` (hooks.json)",
        ),
        (
            r#"{"hooks": {"beforeMCPExecution": {}}}"#,
            "`beforeMCPExecution` must be a list (hooks.json)",
        ),
        (
            r#"{"hooks": {"beforeMCPExecution": [{}]}}"#,
            "`beforeMCPExecution`, hook 1: has neither `command` nor `url` (hooks.json)",
        ),
        (
            r#"{"hooks": {"beforeMCPExecution": [{"command": "a", "url": "https://h/"}]}}"#,
            "`beforeMCPExecution`, hook 1: has both `command` and `url` (hooks.json)",
        ),
        (
            r#"{"hooks": {"beforeMCPExecution": [{"command": " "}]}}"#,
            "`beforeMCPExecution`, hook 1: `command` is empty (hooks.json)",
        ),
        (
            r#"{"hooks": {"beforeMCPExecution": [{"command": "a", "timeout": 0}]}}"#,
            "`beforeMCPExecution`, hook 1: `timeout` must be above 0 and at most 600 seconds (hooks.json)",
        ),
        (
            r#"{"hooks": {"beforeMCPExecution": [{"command": "a", "failClosed": "no"}]}}"#,
            "`beforeMCPExecution`, hook 1: invalid type: string \"no\", expected a boolean (hooks.json)",
        ),
        (
            r#"{"hooks": {"beforeMCPExecution": [{"url": "http://example.com/"}]}}"#,
            "`beforeMCPExecution`, hook 1: `url` must use HTTPS or a loopback address (hooks.json)",
        ),
    ] {
        assert_eq!(read(text).map(drop), Err(expected.to_owned()), "{text}");
    }
}
