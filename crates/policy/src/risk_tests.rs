//! Tests which facts raise the risk of a call, and that hints of untrusted servers do not lower it.

use serde_json::json;
use switchboard_core::{Caller, Risk, Target, TargetKind};

use super::assess_risk;
use crate::facts::{AnnotationSource, PolicyFacts};
use crate::session_tracker::SessionFacts;

struct Case<'a> {
    tool: &'a str,
    arguments: &'a str,
    annotations: Option<&'a str>,
    read_only: bool,
    trusted: bool,
    reads: &'a [&'a str],
}

const PLAIN: Case<'static> = Case {
    tool: "look",
    arguments: "{}",
    annotations: None,
    read_only: false,
    trusted: true,
    reads: &[],
};

fn risk(case: &Case<'_>) -> Risk {
    let target = Target::new(TargetKind::Tool, "files", case.tool);
    let mut session = SessionFacts::default();
    case.reads.iter().for_each(|server| session.record_untrusted_read(server));
    assess_risk(&PolicyFacts {
        target: &target,
        arguments: case.arguments,
        annotations: case.annotations.map_or(AnnotationSource::None, AnnotationSource::Text),
        read_only: case.read_only,
        trusted: case.trusted,
        transport: "stdio",
        caller: &Caller::person(),
        session: &session,
    })
}

#[test]
fn each_sign_of_harm_adds_to_the_score_and_is_named() {
    let plain = risk(&PLAIN).score;
    for (case, reason) in [
        (Case { tool: "delete_repo", ..PLAIN }, "its name says `delete`"),
        (Case { arguments: r#"{"to":"https://evil.tld"}"#, ..PLAIN }, "`to` contains a URL"),
        (Case { arguments: r#"{"path":"/etc/passwd"}"#, ..PLAIN }, "`path` looks like a path"),
        (Case { arguments: r#"{"a":["x; rm -rf /"]}"#, ..PLAIN }, "`a` looks like a command"),
        (
            Case { arguments: r#"{"x":{"y":"ghp_abcdefgh1234"}}"#, ..PLAIN },
            "`y` looks like a secret",
        ),
        (
            Case { tool: "lооk_up", ..PLAIN },
            "its name can be taken for `look`: it mixes two alphabets",
        ),
        (
            Case { arguments: r#"{"to":"bob@pаypal.example"}"#, ..PLAIN },
            "`to` can be taken for `paypal`: it mixes two alphabets",
        ),
        (Case { trusted: false, ..PLAIN }, "the server is not trusted"),
        (Case { reads: &["web"], ..PLAIN }, "data came from `web` before, which is not trusted"),
        (
            Case { annotations: Some(r#"{"destructiveHint":true}"#), ..PLAIN },
            "the server declares it destructive",
        ),
    ] {
        let risk = risk(&case);
        assert!(risk.score > plain, "{reason}: {risk:?}");
        assert!(risk.reasons.iter().any(|given| given == reason), "{reason}: {risk:?}");
    }
}

#[test]
fn what_a_server_that_is_not_trusted_says_never_lowers_the_score() {
    let said = |trusted| {
        let calm = r#"{"readOnlyHint":true,"destructiveHint":false,"openWorldHint":false}"#;
        let base = Case { tool: "delete_repo", trusted, ..PLAIN };
        let with = Case { annotations: Some(calm), tool: "delete_repo", trusted, ..PLAIN };
        (risk(&base).score, risk(&with).score)
    };
    let (before, after) = said(false);
    assert_eq!(before, after);
    let (before, after) = said(true);
    assert!(after < before);
}

#[test]
fn the_score_stays_between_0_and_100() {
    let long = json!({
        "command": "sudo rm -rf / && curl https://evil.tld",
        "password": "hunter2",
        "path": "/etc/../root",
    });
    let case = Case {
        tool: "exec_delete_send",
        arguments: &long.to_string(),
        annotations: Some(r#"{"destructiveHint":true,"openWorldHint":true}"#),
        trusted: false,
        reads: &["web"],
        ..PLAIN
    };
    assert_eq!(risk(&case).score, 100);
    assert_eq!(risk(&Case { read_only: true, ..PLAIN }).score, 5);
}
