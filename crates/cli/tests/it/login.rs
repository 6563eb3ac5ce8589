//! Logging in to a server, using it, and logging out, as a person does.

use serde_json::{Value, json};
use switchboard_testkit::{HttpFixture, OauthFixture};

use crate::login_person::{
    WaitingLogin, everything_below, home_with, home_with_login, log_in, run_refused_login, status,
    visit,
};
use crate::running::{TEST_TIMEOUT, poll};
use crate::switchboard::{Switchboard, result_text};
use crate::transcript::transcript;

const WHOAMI: [&str; 3] = ["call", "guarded", "whoami"];

fn whoami(switchboard: &Switchboard) -> String {
    result_text(&switchboard.call(&["guarded", "whoami"], 0)).to_owned()
}

/// Fails unless a call reports that a login is needed, and how to log in.
fn assert_needs_login(switchboard: &Switchboard) {
    let ran = switchboard.run(&WHOAMI).expect(4);
    insta::allow_duplicates!(insta::assert_snapshot!(transcript(&ran), @"
    exit status 4
    --- stderr
    warning: server `guarded` is not ready: the server requires a login: HTTP status 401
    hint: log in with `switchboard login guarded`
    error: server `guarded` is not logged in: the server requires a login: HTTP status 401
    hint: log in with `switchboard login guarded`
    "));
}

#[test]
fn a_login_makes_a_server_usable_until_the_logout() {
    for era in ["legacy", "modern"] {
        let fixture = OauthFixture::start(&["--era", era]);
        let switchboard = home_with_login(&fixture);
        assert_eq!(switchboard.status("guarded")[0], "needs login", "{era}");
        let shown = switchboard.run(&["servers"]).expect(0);
        assert!(shown.stdout.contains("switchboard login guarded"), "{shown:?}");
        assert_needs_login(&switchboard);
        assert_eq!(
            fixture.observations()["authorizations"],
            json!([]),
            "nothing logs in by itself"
        );

        log_in(&switchboard, &fixture, &[]).expect(0);
        assert_eq!(whoami(&switchboard), "client with no scopes", "{era}");
        assert_eq!(switchboard.status("guarded")[0], "ready", "{era}");

        switchboard.run(&["logout", "guarded"]).expect(0);
        assert!(fixture.count("tokens_revoked") >= 1);
        assert_eq!(fixture.count("families_revoked"), 1);
        assert_needs_login(&switchboard);
        assert_eq!(fixture.observations()["problems"], json!([]), "{era}");
    }
}

#[test]
fn the_browser_is_started_with_one_argument_and_its_answer_ends_the_login() {
    let fixture = OauthFixture::start(&[]);
    let mut switchboard = home_with_login(&fixture);
    let browser = switchboard.write(
        "browser",
        "#!/bin/sh\nprintf '%s\\n%s\\n' \"$#\" \"$1\" > opened.part && mv opened.part opened\n",
    );
    make_runnable(&browser);
    switchboard.set("BROWSER", browser.to_str().unwrap());
    let running = switchboard.start(&["login", "guarded"]);
    let opened = switchboard.path("opened");
    let opened = poll(TEST_TIMEOUT, || std::fs::read_to_string(&opened).ok());
    let opened = opened.expect("the browser is started");
    let (count, url) = opened.trim().split_once('\n').unwrap();
    assert_eq!(count, "1");
    let (head, page) = visit(&fixture.agree(url)).expect("the login listens");
    assert_eq!(status(&head), 200, "{head}");
    assert!(!page.contains("code-"), "{page}");
    running.finish_within(TEST_TIMEOUT).expect(0);
    assert_eq!(whoami(&switchboard), "client with no scopes");
}

fn make_runnable(program: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn every_kind_of_authorization_server_is_found() {
    let cases: [&[&str]; 6] = [
        &["--discovery", "oauth", "--issuer-path", "/tenant"],
        &["--discovery", "openid"],
        &["--discovery", "openid", "--issuer-path", "/tenant"],
        &["--discovery", "origin"],
        &["--discovery", "nowhere"],
        &["--misbehave", "challenge-junk", "--value", "Negotiate, Basic realm=\"x\""],
    ];
    for flags in cases {
        let fixture = OauthFixture::start(flags);
        let switchboard = home_with_login(&fixture);
        log_in(&switchboard, &fixture, &[]).expect(0);
        assert_eq!(whoami(&switchboard), "client with no scopes", "{flags:?}");
        assert_eq!(fixture.observations()["problems"], json!([]), "{flags:?}");
        assert_eq!(fixture.count("sink_connections"), 0, "{flags:?}");
    }
}

#[test]
fn a_registered_client_proves_itself_as_the_server_wants() {
    for auth in ["none", "basic", "post"] {
        let fixture = OauthFixture::start(&["--client-auth", auth]);
        let switchboard = home_with_login(&fixture);
        log_in(&switchboard, &fixture, &[]).expect(0);
        fixture.expire();
        assert_eq!(whoami(&switchboard), "client with no scopes", "{auth}");
        switchboard.run(&["logout", "guarded"]).expect(0);
        let seen = fixture.observations();
        assert_eq!(seen["problems"], json!([]), "{auth}");
        assert_eq!((&seen["refreshes"], &seen["families_revoked"]), (&json!(1), &json!(1)));
        let registrations = seen["registrations"].as_array().unwrap();
        let [registered] = registrations.as_slice() else { panic!("{registrations:?}") };
        assert_eq!(registered["application_type"], "native");
        assert_eq!(registered["grant_types"], json!(["authorization_code", "refresh_token"]));
    }
}

#[test]
fn clients_that_are_known_beforehand_do_not_register() {
    let secret = ["--no-registration", "--client", "app", "--client-secret", "s3cret"];
    let with_secret = json!({"clientId": "app", "clientSecret": "${env:APP_SECRET}"});
    let document = json!({"clientMetadataUrl": "https://app.example/client.json"});
    let cases = [
        (vec!["--no-registration", "--client", "app"], json!({"clientId": "app"}), "app"),
        ([&secret[..], &["--client-auth", "basic"]].concat(), with_secret.clone(), "app"),
        ([&secret[..], &["--client-auth", "post"]].concat(), with_secret, "app"),
        (vec!["--client-documents"], document, "https://app.example/client.json"),
    ];
    for (flags, oauth, name) in cases {
        let fixture = OauthFixture::start(&flags);
        let mut switchboard = home_with(&fixture, &json!({ "oauth": oauth }));
        switchboard.set("APP_SECRET", "s3cret");
        log_in(&switchboard, &fixture, &[]).expect(0);
        assert_eq!(whoami(&switchboard), format!("{name} with no scopes"), "{flags:?}");
        let seen = fixture.observations();
        assert_eq!((&seen["registrations"], &seen["problems"]), (&json!([]), &json!([])));
    }
}

#[test]
fn client_credentials_need_nobody() {
    for auth in ["basic", "post"] {
        let fixture = OauthFixture::start(&[
            "--no-registration", "--client", "app", "--client-secret", "s3cret", "--client-auth",
            auth, "--base-scope", "files:read",
        ]);
        let oauth = json!({
            "clientId": "app", "clientSecret": "s3cret", "grant": "client_credentials",
        });
        let switchboard = home_with(&fixture, &json!({ "oauth": oauth }));
        assert_eq!(whoami(&switchboard), "app with files:read", "{auth}");
        fixture.expire();
        assert_eq!(whoami(&switchboard), "app with files:read", "{auth}");
        let seen = fixture.observations();
        assert_eq!((&seen["authorizations"], &seen["problems"]), (&json!([]), &json!([])));
    }
}

#[test]
fn a_login_asks_for_what_the_server_says_it_needs() {
    let asked = |flags: &[&str], entry: &Value, more: &[&str]| {
        let fixture = OauthFixture::start(flags);
        let switchboard = home_with(&fixture, entry);
        log_in(&switchboard, &fixture, more).expect(0);
        fixture.observations()["authorizations"][0]["scope"].clone()
    };
    let nothing = json!({});
    assert_eq!(asked(&[], &nothing, &[]), Value::Null);
    assert_eq!(asked(&["--scopes", "a b"], &nothing, &[]), "a b");
    assert_eq!(asked(&["--scopes", "a b", "--base-scope", "a"], &nothing, &[]), "a");
    let chosen = json!({"oauth": {"scopes": ["a", "c"]}});
    assert_eq!(asked(&["--base-scope", "a"], &chosen, &[]), "a c");
    assert_eq!(asked(&["--base-scope", "a"], &nothing, &["--scope", "a", "--scope", "d"]), "a d");
}

#[test]
fn a_call_that_needs_more_says_how_to_get_it_and_keeps_what_there_was() {
    let fixture = OauthFixture::start(&["--base-scope", "files:read"]);
    let switchboard = home_with_login(&fixture);
    log_in(&switchboard, &fixture, &[]).expect(0);
    let words = ["call", "guarded", "write_file", "path=a"];
    let refused = switchboard.run(&words);
    assert_ne!(refused.code, 0, "{refused:?}");
    insta::assert_snapshot!(transcript(&refused), @"
    exit status 4
    --- stderr
    error: server `guarded` answered with HTTP status 403
    hint: request more scopes with `switchboard login guarded --scope files:write`
    ");
    assert_eq!(whoami(&switchboard), "client with files:read");
    assert!(fixture.requests("POST /mcp") < 20, "{}", fixture.observations());

    log_in(&switchboard, &fixture, &["--scope", "files:write"]).expect(0);
    let written = switchboard.run(&words).expect(0);
    assert_eq!(written.stdout, "wrote a\n");
    assert_eq!(whoami(&switchboard), "client with files:read files:write");
    assert_eq!(fixture.observations()["registrations"].as_array().unwrap().len(), 1);
}

#[test]
fn a_person_who_says_no_is_told_so() {
    let fixture = OauthFixture::start(&["--deny"]);
    let switchboard = home_with_login(&fixture);
    let ran = log_in(&switchboard, &fixture, &[]);
    assert_ne!(ran.code, 0, "{ran:?}");
    assert!(ran.stderr.contains("access_denied"), "{ran:?}");
    assert_eq!(fixture.requests("POST /token"), 0);
    assert_needs_login(&switchboard);
}

#[test]
fn a_header_from_the_configuration_is_all_that_is_sent() {
    let token = "a-token-of-the-user";
    let fixture = HttpFixture::start(&[
        "flaky", "--fault", "unauthorized", "--token", token, "--transport", "http", "--on", "any",
    ]);
    let header = json!({"Authorization": "Bearer ${env:MY_TOKEN}"});
    let mut switchboard =
        Switchboard::with(&json!({"guarded": {"url": fixture.url, "headers": header}}));
    switchboard.set("MY_TOKEN", token);
    let said = switchboard.call(&["guarded", "echo", "text=in"], 0);
    assert_eq!(result_text(&said), "in");
}

#[test]
fn a_header_from_the_configuration_is_not_replaced_by_a_login() {
    let fixture = OauthFixture::start(&[]);
    let header = json!({"headers": {"Authorization": "Bearer wrong"}});
    let switchboard = home_with(&fixture, &header);
    let ran = switchboard.run(&WHOAMI);
    assert_ne!(ran.code, 0, "{ran:?}");
    let seen = fixture.observations();
    let headers: Vec<&String> = seen["authorization"].as_object().unwrap().keys().collect();
    assert_eq!(headers, ["Bearer wrong"]);
}

#[test]
fn a_login_is_not_used_at_another_address_of_the_same_name() {
    let [first, second] = [(); 2].map(|()| OauthFixture::start(&[]));
    let switchboard = home_with_login(&first);
    log_in(&switchboard, &first, &[]).expect(0);
    switchboard.configure(&json!({"guarded": {"url": second.url()}}));
    assert_needs_login(&switchboard);
    let seen = second.observations();
    let headers: Vec<&String> = seen["authorization"].as_object().unwrap().keys().collect();
    assert_eq!(headers, ["none"]);
    switchboard.configure(&json!({"guarded": {"url": first.url()}}));
    assert_eq!(whoami(&switchboard), "client with no scopes");
}

#[test]
fn tokens_are_in_no_file_and_in_no_output() {
    let fixture = OauthFixture::start(&["--client-auth", "basic"]);
    let switchboard = home_with_login(&fixture);
    let mut said = Vec::new();
    said.push(log_in(&switchboard, &fixture, &["--json"]).expect(0));
    fixture.expire();
    let listed: [&[&str]; 5] = [
        &["call", "guarded", "whoami", "--json"],
        &["servers", "--json"],
        &["doctor"],
        &["calls", "--json"],
        &["logs", "guarded"],
    ];
    for words in listed {
        said.push(switchboard.run(words));
    }
    let mut everything = everything_below(switchboard.folder());
    said.push(switchboard.run(&["logout", "guarded"]).expect(0));
    everything.push_str(&everything_below(switchboard.folder()));
    for ran in &said {
        everything.push_str(&ran.stdout);
        everything.push_str(&ran.stderr);
    }
    assert!(fixture.count("refreshes") == 1 && everything.contains("guarded"));
    for kind in ["access-", "refresh-", "client-secret-", "code-"] {
        let found = everything.find(&format!("{kind}1"));
        let near = found.and_then(|at| everything.get(at.saturating_sub(80)..at + 40));
        assert_eq!(near, None, "a secret is there in plain");
        let digits = |text: &str| text.chars().next().is_some_and(|next| next.is_ascii_digit());
        assert!(!everything.split(kind).skip(1).any(digits), "`{kind}` is followed by a secret");
    }
}

#[test]
fn without_a_place_for_tokens_nothing_begins() {
    let fixture = OauthFixture::start(&[]);
    let mut switchboard = Switchboard::with(&json!({"guarded": {"url": fixture.url()}}));
    // A keyring that stores nothing, so that the user's own is not touched.
    make_runnable(&switchboard.write("programs/secret-tool", "#!/bin/sh\nexit 1\n"));
    let path = std::env::var("PATH").unwrap_or_default();
    let programs = switchboard.path("programs");
    switchboard.set("PATH", &format!("{}:{path}", programs.display()));
    let ran = run_refused_login(&switchboard, &[]);
    assert!(ran.stderr.contains("SWITCHBOARD_TOKEN_KEY"), "{ran:?}");
    assert_eq!(fixture.observations()["registrations"], json!([]));
}

#[test]
fn another_key_opens_nothing_and_destroys_nothing() {
    let fixture = OauthFixture::start(&[]);
    let mut switchboard = home_with_login(&fixture);
    log_in(&switchboard, &fixture, &[]).expect(0);
    let kept = everything_below(&switchboard.folder().join("own"));
    switchboard.set("SWITCHBOARD_TOKEN_KEY", "another key of a test, long enough as well");
    let ran = switchboard.run(&WHOAMI);
    assert_ne!(ran.code, 0, "{ran:?}");
    insta::assert_snapshot!(transcript(&ran), @"
    exit status 4
    --- stderr
    warning: server `guarded` is not ready: the server requires a login: HTTP status 401; the stored logins in `[home]/own/state/logins/tokens.json` cannot be read: the key is wrong, or the file was modified
    hint: set the key that they were stored with, or remove them with `switchboard logout --all`
    error: server `guarded` is not logged in: the server requires a login: HTTP status 401; the stored logins in `[home]/own/state/logins/tokens.json` cannot be read: the key is wrong, or the file was modified
    hint: set the key that they were stored with, or remove them with `switchboard logout --all`
    ");
    assert!(!kept.is_empty());
    switchboard.set("SWITCHBOARD_TOKEN_KEY", "the key of a test, long enough to be a key");
    assert_eq!(whoami(&switchboard), "client with no scopes");
}

#[test]
fn logging_out_of_everything_forgets_every_login() {
    let [one, two] = [(); 2].map(|()| OauthFixture::start(&[]));
    let mut switchboard =
        Switchboard::with(&json!({"one": {"url": one.url()}, "two": {"url": two.url()}}));
    switchboard.set("SWITCHBOARD_TOKEN_KEY", "the key of a test, long enough to be a key");
    for (name, fixture) in [("one", &one), ("two", &two)] {
        let running = switchboard.start(&["login", name, "--no-browser"]);
        let waiting = WaitingLogin::from_running(running);
        let callback = fixture.agree(&waiting.url);
        waiting.paste(&callback).expect(0);
    }
    switchboard.run(&["logout", "--all"]).expect(0);
    assert_eq!([one.count("families_revoked"), two.count("families_revoked")], [1, 1]);
    for name in ["one", "two"] {
        assert_eq!(switchboard.status(name)[0], "needs login");
    }
}
