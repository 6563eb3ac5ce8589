//! Tests of every combination of exit and output of a hook.

use super::*;

fn check(end: HookExit, output: &str) -> String {
    let errors = vec!["a line of errors".to_owned()];
    match judge(&end, output.as_bytes(), &errors) {
        HookOutcome::Answered(answer) => {
            let parts = [
                Some(answer.permission.as_str().to_owned()),
                answer.user_message.map(|text| format!("user: {text}")),
                answer.agent_message.map(|text| format!("agent: {text}")),
                answer.updated_input.map(|input| input.as_str().to_owned()),
            ];
            parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
        }
        HookOutcome::Failed(failure) => format!("{:?}: {}", failure.kind, failure.message),
    }
}

#[test]
fn an_answer_is_read_with_its_messages_and_arguments() {
    for (output, expected) in [
        (r#"{"permission":"allow"}"#, "allow"),
        (r#" {"permission":"ask","user_message":"sure?","continue":true} "#, "ask, user: sure?"),
        (
            r#"{"permission":"deny","user_message":"no","agent_message":"never"}"#,
            "deny, user: no, agent: never",
        ),
        (
            r#"{"permission":"deny","userMessage":"no","agentMessage":"never"}"#,
            "deny, user: no, agent: never",
        ),
        (
            r#"{"permission":"allow","updated_input":{"n":1.0,"a": "b"}}"#,
            r#"allow, {"n":1.0,"a": "b"}"#,
        ),
        (r#"{"permission":"allow","updated_input":null,"other":[]}"#, "allow"),
    ] {
        assert_eq!(check(HookExit::Exited(0), output), expected, "{output}");
    }
}

#[test]
fn a_no_wins_over_everything_else() {
    for (end, output, expected) in [
        (HookExit::Exited(2), r#"{"permission":"allow"}"#, "deny, user: a line of errors"),
        (HookExit::Exited(2), r#"{"permission":"ask","user_message":"u"}"#, "deny, user: u"),
        (HookExit::Exited(2), "", "deny, user: a line of errors"),
        (HookExit::Exited(2), "not json", "deny, user: a line of errors"),
        (HookExit::Exited(2), r#"{"permission":"deny","agent_message":"m"}"#, "deny, agent: m"),
        (HookExit::Exited(1), r#"{"permission":"deny"}"#, "deny"),
        (HookExit::Broke("did not end".to_owned()), r#"{"permission":"deny"}"#, "deny"),
        (HookExit::Exited(0), r#"{"permission":"DENY"}"#, "deny"),
        (HookExit::Exited(0), r#"{"permission":"allow","continue":false}"#, "deny"),
    ] {
        assert_eq!(check(end.clone(), output), expected, "{end:?} {output}");
    }
}

#[test]
fn what_can_be_read_in_two_ways_is_no_answer() {
    for (output, expected) in [
        (
            r#"{"permission":"deny","permission":"allow"}"#,
            "NoAnswer: wrote no JSON answer: duplicate key `permission` at line 1 column 33",
        ),
        (
            r#"{"permission":"allow"}{"permission":"allow"}"#,
            "NoAnswer: wrote no JSON answer: trailing characters at line 1 column 23",
        ),
        (r#"{"permission":"yes"}"#, "NoAnswer: answered with the unknown permission `yes`"),
        (r#"{"permission":"Allow"}"#, "NoAnswer: answered with the unknown permission `Allow`"),
        ("{}", "NoAnswer: answered without `permission`"),
        (r#"{"permission":null}"#, "NoAnswer: answered without `permission`"),
        (r#"{"continue":true}"#, "NoAnswer: answered without `permission`"),
        (
            r#"{"permission":"allow","updated_input":"{}"}"#,
            "NoAnswer: `updated_input` is not an object",
        ),
        (
            r#"{"permission":"allow","Permission":"deny"}"#,
            "NoAnswer: answered with the ambiguous member `Permission`",
        ),
        (
            r#"{"permission":"allow","decision":"block"}"#,
            "NoAnswer: answered with the ambiguous member `decision`",
        ),
        (
            r#"{"permission":"allow","hookSpecificOutput":{"permissionDecision":"deny"}}"#,
            "NoAnswer: answered with the ambiguous member `hookSpecificOutput`",
        ),
        (r#"{"permision":"allow"}"#, "NoAnswer: answered without `permission`"),
        (r#"{"permission ":"allow"}"#, "NoAnswer: answered with the ambiguous member `permission`"),
        (r#"{"permission":"allow","decision":"approve"}"#, "allow"),
        ("", "Silent: wrote no answer"),
        (" \n", "Silent: wrote no answer"),
    ] {
        assert_eq!(check(HookExit::Exited(0), output), expected, "{output}");
    }
    let marked = "\u{feff}{\"permission\":\"allow\"}";
    let late = "{\"permission\":\"allow\"}\nDENY";
    let cut = "{\"permission\":\"allow\"";
    let text = "{\"permission\":\"allow\",\"continue\":\"false\"}";
    let nul = "{\"permission\":\"allow\"}\0";
    for output in [
        marked,
        late,
        cut,
        text,
        nul,
        "[]",
        "true",
        "\"allow\"",
        "allow",
        r#"{"permission":["allow"]}"#,
        // Replacement arguments, or a denial, in the format of another product.
        r#"{"permission":"allow","updatedInput":{"a":1}}"#,
        r#"{"permission":"allow","hookSpecificOutput":{"updatedInput":{}}}"#,
        r#"{"permission":"allow","hookSpecificOutput":{"decision":{"behavior":"deny"}}}"#,
        r#"{"permission":"allow","approved":false}"#,
        r#"{"permission":"allow","blocked":true}"#,
        "{",
    ] {
        let said = check(HookExit::Exited(0), output);
        assert!(said.starts_with("NoAnswer: "), "{output}: {said}");
    }
}

#[test]
fn a_hook_that_breaks_down_does_not_allow() {
    let yes = r#"{"permission":"allow"}"#;
    for (end, expected) in [
        (HookExit::Exited(1), "Broke: ended with exit status 1: a line of errors"),
        (HookExit::Exited(127), "Broke: ended with exit status 127: a line of errors"),
        (HookExit::Broke("took too long".to_owned()), "Broke: took too long: a line of errors"),
    ] {
        assert_eq!(check(end, yes), expected);
    }
}
