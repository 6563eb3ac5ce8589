//! Servers that attack a login: the OA rows of the attack cases, one test per number.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use switchboard_testkit::OauthFixture;

use crate::login_person::{
    WaitingLogin, home_with_login, log_in, run_refused_login, status, visit,
};
use crate::running::TEST_TIMEOUT;
use crate::switchboard::Switchboard;
use crate::transcript::transcript;

/// Returns a fixture whose authorization server has this metadata.
fn claiming(metadata: &Value) -> OauthFixture {
    OauthFixture::start(&["--server-metadata", &metadata.to_string()])
}

/// Fails unless the login stopped before anything was sent to the authorization server.
fn assert_untouched(fixture: &OauthFixture, case: &str) {
    let seen = fixture.observations();
    let touched = ["authorizations", "registrations", "token_requests"].map(|name| &seen[name]);
    assert_eq!(touched, [&json!([]), &json!([]), &json!([])], "{case}");
    assert_eq!(seen["sink_connections"], 0, "{case}");
}

/// Returns a home in which starting a browser leaves a trace, and the path of the trace.
fn with_browser(fixture: &OauthFixture) -> (Switchboard, std::path::PathBuf) {
    use std::os::unix::fs::PermissionsExt as _;
    let mut switchboard = home_with_login(fixture);
    let browser = switchboard.write("programs/xdg-open", "#!/bin/sh\necho \"$@\" >> opened\n");
    std::fs::set_permissions(&browser, std::fs::Permissions::from_mode(0o755)).unwrap();
    switchboard.set("BROWSER", browser.to_str().unwrap());
    let path = std::env::var("PATH").unwrap_or_default();
    let programs = switchboard.path("programs");
    switchboard.set("PATH", &format!("{}:{path}", programs.display()));
    let opened = switchboard.path("opened");
    (switchboard, opened)
}

fn assert_endpoint_refused(endpoint: &str) {
    let fixture = claiming(&json!({"authorization_endpoint": endpoint}));
    let (switchboard, opened) = with_browser(&fixture);
    let ran = switchboard.run(&["login", "guarded"]);
    assert_ne!(ran.code, 0, "{endpoint}: {ran:?}");
    assert!(!opened.exists(), "a browser was started for {endpoint:?}");
    assert!(!switchboard.path("owned").exists(), "a shell ran {endpoint:?}");
    let written = format!("{}{}", ran.stdout, ran.stderr);
    assert!(!written.contains('\u{1b}'), "{endpoint:?}: {ran:?}");
    assert_untouched(&fixture, endpoint);
}

#[test]
fn oa_01_an_authorization_endpoint_that_is_no_web_address_is_refused() {
    for endpoint in [
        "http://www.example.com$(touch owned)",
        "http://www.example.com$(touch${IFS}owned)",
        "https://www.example.com$(touch${IFS}owned)",
        "http://www.example.com/authorize",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "data:text/html,<script>alert(1)</script>",
        "vscode://extension/install",
        "ftp://example.com/",
        "HTTP://example.com/",
    ] {
        assert_endpoint_refused(endpoint);
    }
}

#[test]
fn oa_02_an_authorization_endpoint_that_could_be_a_flag_or_several_words_is_refused() {
    for endpoint in [
        "-https://example.com/",
        "--help",
        "https://example.com/ --flag",
        " https://example.com/",
        "https://example.com/\"&touch owned\"",
        "https://example.com/'x'",
        "https://example.com/\ntouch owned",
        "https://example.com/\r\nx",
        "https://example.com/\u{0}",
        "https://example.com/`touch owned`",
        "https://example.com/|touch owned",
        "https://example.com/\u{1b}]0;owned\u{7}",
        "https://example.com\\@evil.example/",
        "https://user:secret@example.com/",
        "",
    ] {
        assert_endpoint_refused(endpoint);
    }
}

#[test]
fn oa_03_a_callback_needs_the_state_of_its_login_and_needs_it_once() {
    let fixture = OauthFixture::start(&[]);
    let switchboard = home_with_login(&fixture);
    let waiting = WaitingLogin::start(&switchboard, &[]);
    let redirect = waiting.redirect_uri();
    let issuer = fixture.origin();
    for query in [
        format!("code=stolen&iss={issuer}"),
        format!("code=stolen&state=&iss={issuer}"),
        format!("code=stolen&state=wrong&iss={issuer}"),
        format!("code=stolen&state={}x&iss={issuer}", waiting.state()),
        "error=access_denied&state=wrong".to_owned(),
    ] {
        let (head, _) = visit(&format!("{redirect}?{query}")).expect("the login still listens");
        assert_eq!(status(&head), 400, "{query}: {head}");
    }
    assert_eq!(fixture.requests("POST /token"), 0);
    let callback = fixture.agree(&waiting.url);
    assert_eq!(status(&visit(&callback).unwrap().0), 200);
    // The listener is gone or rejects the same answer.
    let again = visit(&callback).map(|(head, _)| status(&head));
    assert_ne!(again, Some(200), "the same answer is taken twice");
    waiting.running.finish_within(TEST_TIMEOUT).expect(0);
    assert_eq!(fixture.requests("POST /token"), 1);

    for wrong in ["wrong-state", "no-state"] {
        let fixture = OauthFixture::start(&["--misbehave", wrong]);
        let ran = log_in(&home_with_login(&fixture), &fixture, &[]);
        assert_ne!(ran.code, 0, "{wrong}: {ran:?}");
        assert_eq!(fixture.requests("POST /token"), 0, "{wrong}");
    }
}

#[test]
fn oa_03_a_pasted_answer_of_another_login_is_refused() {
    let fixture = OauthFixture::start(&[]);
    let switchboard = home_with_login(&fixture);
    let earlier = WaitingLogin::start(&switchboard, &[]);
    let stolen = fixture.agree(&earlier.url);
    let later = WaitingLogin::start(&switchboard, &[]);
    let ran = later.paste(&stolen);
    assert_ne!(ran.code, 0, "{ran:?}");
    assert_eq!(fixture.requests("POST /token"), 0);
}

#[test]
fn oa_04_the_callback_page_is_inert_and_follows_nobody() {
    let fixture = OauthFixture::start(&["--misbehave", "script-in-error"]);
    let switchboard = home_with_login(&fixture);
    let waiting = WaitingLogin::start(&switchboard, &[]);
    let callback = fixture.agree(&waiting.url);
    assert!(callback.contains("%3Cscript%3E"), "{callback}");
    let trap = "&redirect=https%3A%2F%2Fevil.example&redirect_uri=https%3A%2F%2Fevil.example";
    let (head, page) = visit(&format!("{callback}{trap}")).expect("the login listens");
    assert!(!head.contains("\nlocation:") && !head.contains("\nrefresh:"), "{head}");
    assert!(head.contains("content-security-policy: default-src 'none'"), "{head}");
    for bad in ["<script", "evil.example", "\u{1b}"] {
        assert!(!page.contains(bad), "`{bad}` in {page}");
    }
    let ran = waiting.running.finish_within(TEST_TIMEOUT);
    assert_ne!(ran.code, 0, "{ran:?}");
    assert!(!ran.stderr.contains('\u{1b}') && ran.stderr.contains("access_denied"), "{ran:?}");
}

#[test]
fn oa_05_metadata_without_s256_is_refused() {
    for methods in [Value::Null, json!(["plain"]), json!([]), json!(["s256"])] {
        let fixture = claiming(&json!({"code_challenge_methods_supported": methods}));
        let ran = run_refused_login(&home_with_login(&fixture), &[]);
        assert!(ran.stderr.contains("S256"), "{ran:?}");
        assert_untouched(&fixture, &methods.to_string());
    }
}

#[test]
fn oa_06_a_code_from_another_issuer_is_not_redeemed() {
    let cases: [&[&str]; 6] = [
        &["--misbehave", "wrong-iss"],
        // A refusal from another issuer is not trusted either.
        &["--misbehave", "wrong-iss", "--deny"],
        &["--misbehave", "wrong-iss", "--value", "{origin}/"],
        &["--misbehave", "wrong-iss", "--value", ""],
        &["--misbehave", "no-iss"],
        // Also if the metadata does not promise an `iss`.
        &[
            "--misbehave",
            "wrong-iss",
            "--server-metadata",
            r#"{"authorization_response_iss_parameter_supported": null}"#,
        ],
    ];
    for flags in cases {
        let fixture = OauthFixture::start(flags);
        let ran = log_in(&home_with_login(&fixture), &fixture, &[]);
        assert_ne!(ran.code, 0, "{flags:?}: {ran:?}");
        assert!(ran.stderr.contains("invalid login callback"), "{flags:?}: {ran:?}");
        assert!(!ran.stderr.contains("access_denied"), "{flags:?}: {ran:?}");
        assert_eq!(fixture.requests("POST /token"), 0, "{flags:?}");
    }
    // An answer without `iss` is accepted if none was promised.
    let fixture = OauthFixture::start(&[
        "--misbehave",
        "no-iss",
        "--server-metadata",
        r#"{"authorization_response_iss_parameter_supported": null}"#,
    ]);
    log_in(&home_with_login(&fixture), &fixture, &[]).expect(0);
}

#[test]
fn oa_07_metadata_of_another_issuer_is_refused() {
    for issuer in ["https://evil.example", "{origin}/", "{origin}/other", "", "HTTP://127.0.0.1"] {
        let fixture = claiming(&json!({ "issuer": issuer }));
        run_refused_login(&home_with_login(&fixture), &[]);
        assert_untouched(&fixture, issuer);
    }
    let fixture = claiming(&json!({"issuer": null}));
    run_refused_login(&home_with_login(&fixture), &[]);
    assert_untouched(&fixture, "no issuer");
}

#[test]
fn oa_07_metadata_of_another_resource_is_refused() {
    for resource in ["https://evil.example/mcp", "{origin}/other", "{sink}/mcp", ""] {
        let metadata = json!({ "resource": resource }).to_string();
        let fixture = OauthFixture::start(&["--resource-metadata", &metadata]);
        run_refused_login(&home_with_login(&fixture), &[]);
        assert_untouched(&fixture, resource);
    }
}

#[test]
fn oa_10_an_authorized_request_is_not_sent_on_to_another_origin() {
    for code in ["301", "302", "303", "307", "308"] {
        let fixture = OauthFixture::start(&[
            "--misbehave", "mcp-redirect", "--value", "{sink}/mcp", "--status", code,
        ]);
        let switchboard = home_with_login(&fixture);
        log_in(&switchboard, &fixture, &[]).expect(0);
        let ran = switchboard.run(&["call", "guarded", "whoami"]);
        assert_ne!(ran.code, 0, "{code}: {ran:?}");
        assert_eq!(fixture.count("sink_connections"), 0, "{code}");
    }
}

#[test]
fn a_server_that_is_never_content_is_asked_a_few_times_and_no_more() {
    let fixture = OauthFixture::start(&["--misbehave", "always-401"]);
    let switchboard = home_with_login(&fixture);
    log_in(&switchboard, &fixture, &[]);
    let before = fixture.requests("POST /mcp");
    let ran = switchboard.run(&["call", "guarded", "whoami"]).expect(4);
    insta::assert_snapshot!(transcript(&ran), @"
    exit status 4
    --- stderr
    warning: server `guarded` is not ready: the server requires a login: HTTP status 401
    hint: log in with `switchboard login guarded`
    error: server `guarded` is not logged in: the server requires a login: HTTP status 401
    hint: log in with `switchboard login guarded`
    ");
    let asked = fixture.requests("POST /mcp") - before;
    assert!(asked <= 8, "{asked} requests: {}", fixture.observations());
    assert!(fixture.count("refreshes") <= 2, "{}", fixture.observations());

    let fixture = OauthFixture::start(&["--misbehave", "always-403"]);
    let switchboard = home_with_login(&fixture);
    log_in(&switchboard, &fixture, &["--scope", "files:write"]).expect(0);
    let before = fixture.requests("POST /mcp");
    let ran = switchboard.run(&["call", "guarded", "write_file", "path=a"]);
    assert_ne!(ran.code, 0, "{ran:?}");
    let asked = fixture.requests("POST /mcp") - before;
    assert!(asked <= 8, "{asked} requests: {}", fixture.observations());
}

/// Fails unless a server that answers so ends the login in time and with a short message.
fn assert_ends(wrong: &str) {
    let fixture = OauthFixture::start(&["--misbehave", wrong]);
    let switchboard = home_with_login(&fixture);
    let begun = Instant::now();
    let ran = if wrong.ends_with("metadata") {
        run_refused_login(&switchboard, &[])
    } else {
        log_in(&switchboard, &fixture, &[])
    };
    assert_ne!(ran.code, 0, "{wrong}: {ran:?}");
    assert!(begun.elapsed() < Duration::from_secs(45), "{wrong} took {:?}", begun.elapsed());
    assert!(ran.stderr.len() < 2_000, "{wrong}: {ran:?}");
}

#[test]
fn answers_that_never_end_end_the_login() {
    for wrong in ["huge-metadata", "huge-token"] {
        assert_ends(wrong);
    }
}

#[test]
fn metadata_that_never_comes_ends_the_login() {
    assert_ends("slow-metadata");
}

#[test]
fn a_token_that_never_comes_ends_the_login() {
    assert_ends("slow-token");
}

#[test]
fn tokens_of_a_kind_that_we_cannot_use_are_refused() {
    let fixture = OauthFixture::start(&["--misbehave", "strange-token-type"]);
    let ran = log_in(&home_with_login(&fixture), &fixture, &[]);
    assert_ne!(ran.code, 0, "{ran:?}");
}
