//! Expiring tokens: refreshed once, whichever caller notices it, and never lost.

use std::sync::Arc;
use std::thread;

use serde_json::json;
use switchboard_config::{Environment, Places};
use switchboard_core::{Caller, OutcomeKind, ProposedCall};
use switchboard_host::{Host, Options, Recording};
use switchboard_testkit::OauthFixture;
use switchboard_wire::Json;

use crate::login_person::{home_with, home_with_login, log_in};
use crate::switchboard::{Switchboard, result_text};
use crate::transcript::transcript;

const KEY: &str = "the key of a test, long enough to be a key";

/// Returns a host in this process with the configuration and the state of a home.
fn host_in(switchboard: &Switchboard) -> Host {
    let own = switchboard.folder().join("own");
    let mut environment = Environment::from_process();
    environment.variables.insert("SWITCHBOARD_HOME".to_owned(), own.display().to_string());
    environment.variables.insert("SWITCHBOARD_TOKEN_KEY".to_owned(), KEY.to_owned());
    let places = Places::find(&environment, &[]).unwrap();
    let options = Options { record: Recording::Off, ..Options::new(places, environment) };
    Host::start(options).unwrap()
}

/// Calls `echo` this many times at once and returns how many calls succeeded.
async fn calls_at_once(host: &Arc<Host>, count: usize) -> usize {
    let calls: Vec<_> = (0..count)
        .map(|number| {
            let host = Arc::clone(host);
            tokio::spawn(async move {
                let lease = host.lease();
                let arguments = Json::from(&json!({"text": number.to_string()}));
                let call = ProposedCall::tool("guarded", "echo", arguments);
                let record = host.call(&lease, call, &Caller::person()).await;
                (record.outcome.kind, record.outcome.message)
            })
        })
        .collect();
    let mut well = 0;
    for call in calls {
        let (kind, message) = call.await.unwrap();
        assert_eq!(kind, OutcomeKind::Ok, "{message:?}");
        well += 1;
    }
    well
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_calls_on_an_expired_token_refresh_once() {
    for era in ["legacy", "modern"] {
        let fixture = OauthFixture::start(&["--era", era]);
        let switchboard = home_with_login(&fixture);
        log_in(&switchboard, &fixture, &[]).expect(0);
        let host = Arc::new(host_in(&switchboard));
        host.wait_settled(None).await;
        assert_eq!(calls_at_once(&host, 1).await, 1);
        assert_eq!(fixture.count("refreshes"), 0, "{era}");
        fixture.expire();
        assert_eq!(calls_at_once(&host, 100).await, 100);
        let counts = ["refreshes", "reuses", "families_revoked"].map(|name| fixture.count(name));
        assert_eq!(counts, [1, 0, 0], "{era}");
        host.stop().await;
    }
}

/// The new token is as short-lived as the old one.
#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_calls_with_tokens_of_ten_seconds_refresh_once() {
    let fixture = OauthFixture::start(&["--token-seconds", "10"]);
    let switchboard = home_with_login(&fixture);
    log_in(&switchboard, &fixture, &[]).expect(0);
    let host = Arc::new(host_in(&switchboard));
    host.wait_settled(None).await;
    assert_eq!(calls_at_once(&host, 100).await, 100);
    let counts = ["refreshes", "reuses", "families_revoked"].map(|name| fixture.count(name));
    assert_eq!(counts, [1, 0, 0]);
    host.stop().await;
}

#[test]
fn a_token_that_is_about_to_run_out_is_renewed_before_it_is_used() {
    let fixture = OauthFixture::start(&["--token-seconds", "10"]);
    let switchboard = home_with_login(&fixture);
    log_in(&switchboard, &fixture, &[]).expect(0);
    fixture.set_token_seconds(3600);
    for _ in 0..2 {
        switchboard.call(&["guarded", "whoami"], 0);
    }
    let seen = fixture.observations();
    assert_eq!(seen["refreshes"], 1, "{seen}");
    assert_eq!(seen["reuses"], 0, "{seen}");
}

/// OA-15: every start of either process finds the token expired and tries to refresh it.
#[test]
fn oa_15_two_processes_on_one_store_lose_no_refresh() {
    let fixture = OauthFixture::start(&["--token-seconds", "2"]);
    let switchboard = home_with_login(&fixture);
    log_in(&switchboard, &fixture, &[]).expect(0);
    thread::scope(|scope| {
        for process in ["one", "two"] {
            let switchboard = &switchboard;
            scope.spawn(move || {
                for round in 0..8 {
                    let text = format!("text={process} {round}");
                    let said = switchboard.call(&["guarded", "echo", &text], 0);
                    assert_eq!(result_text(&said), format!("{process} {round}"));
                }
            });
        }
    });
    let seen = fixture.observations();
    assert_eq!([&seen["reuses"], &seen["families_revoked"]], [&json!(0), &json!(0)], "{seen}");
    let refreshes = seen["refreshes"].as_u64().unwrap();
    assert!((1..=64).contains(&refreshes), "{seen}");
    assert_eq!(seen["problems"], json!([]));
}

#[test]
fn two_processes_on_one_store_share_a_refresh() {
    let fixture = OauthFixture::start(&[]);
    let switchboard = home_with_login(&fixture);
    log_in(&switchboard, &fixture, &[]).expect(0);
    fixture.expire();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| switchboard.call(&["guarded", "whoami"], 0));
        }
    });
    let counts = ["refreshes", "reuses", "families_revoked"].map(|name| fixture.count(name));
    assert_eq!(counts, [1, 0, 0]);
}

#[test]
fn a_refused_refresh_asks_for_a_login_and_a_broken_one_does_not_lose_it() {
    let fixture = OauthFixture::start(&["--misbehave", "refresh-refused"]);
    let switchboard = home_with_login(&fixture);
    log_in(&switchboard, &fixture, &[]).expect(0);
    fixture.expire();
    let ran = switchboard.run(&["call", "guarded", "whoami"]).expect(4);
    insta::assert_snapshot!(transcript(&ran), @"
    exit status 4
    --- stderr
    warning: server `guarded` is not ready: the server requires a login: HTTP status 401; the login has expired and cannot be renewed
    hint: log in with `switchboard login guarded`
    error: server `guarded` is not logged in: the server requires a login: HTTP status 401; the login has expired and cannot be renewed
    hint: log in with `switchboard login guarded`
    ");
    assert_eq!(switchboard.status("guarded")[0], "needs login");
    let refreshes = fixture.requests("POST /token");
    assert!(refreshes <= 3, "{}", fixture.observations());
    log_in(&switchboard, &fixture, &[]).expect(0);
    switchboard.call(&["guarded", "whoami"], 0);

    let fixture = OauthFixture::start(&["--misbehave", "refresh-broken"]);
    let switchboard = home_with_login(&fixture);
    log_in(&switchboard, &fixture, &[]).expect(0);
    // The server still accepts the token, although the host considers it expired.
    switchboard.call(&["guarded", "whoami"], 0);
    fixture.expire();
    let ran = switchboard.run(&["call", "guarded", "whoami"]);
    assert_ne!(ran.code, 0, "{ran:?}");
}

#[test]
fn tokens_that_were_revoked_elsewhere_ask_for_a_login() {
    let fixture = OauthFixture::start(&[]);
    let switchboard = home_with_login(&fixture);
    log_in(&switchboard, &fixture, &[]).expect(0);
    fixture.revoke();
    let ran = switchboard.run(&["call", "guarded", "whoami"]).expect(4);
    insta::assert_snapshot!(transcript(&ran), @"
    exit status 4
    --- stderr
    warning: server `guarded` is not ready: the server requires a login: HTTP status 401; the login has expired and cannot be renewed
    hint: log in with `switchboard login guarded`
    error: server `guarded` is not logged in: the server requires a login: HTTP status 401; the login has expired and cannot be renewed
    hint: log in with `switchboard login guarded`
    ");
}

#[test]
fn without_a_refresh_token_an_expired_login_is_over() {
    let fixture = OauthFixture::start(&["--no-refresh"]);
    let switchboard = home_with(&fixture, &json!({}));
    log_in(&switchboard, &fixture, &[]).expect(0);
    switchboard.call(&["guarded", "whoami"], 0);
    fixture.expire();
    let ran = switchboard.run(&["call", "guarded", "whoami"]).expect(4);
    insta::assert_snapshot!(transcript(&ran), @"
    exit status 4
    --- stderr
    warning: server `guarded` is not ready: the server requires a login: HTTP status 401; the login has expired and cannot be renewed
    hint: log in with `switchboard login guarded`
    error: server `guarded` is not logged in: the server requires a login: HTTP status 401; the login has expired and cannot be renewed
    hint: log in with `switchboard login guarded`
    ");
    assert_eq!(fixture.count("refreshes"), 0);
}

/// A host that runs while another process logs in.
#[tokio::test(flavor = "multi_thread")]
async fn a_login_by_another_process_is_noticed_without_a_restart() {
    let fixture = OauthFixture::start(&[]);
    let switchboard = home_with_login(&fixture);
    let host = Arc::new(host_in(&switchboard));
    host.wait_settled(None).await;
    log_in(&switchboard, &fixture, &[]).expect(0);
    let mut ready = false;
    for _ in 0..300 {
        let lease = host.lease();
        let server =
            lease.fleet().servers.get("guarded").map(|server| format!("{:?}", server.status));
        ready = server.as_deref() == Some("Ready");
        if ready {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert!(ready, "the login was not noticed");
    assert_eq!(calls_at_once(&host, 1).await, 1);
    host.stop().await;
}
