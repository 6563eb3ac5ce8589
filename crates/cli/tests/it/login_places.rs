//! Servers that send a login to forbidden addresses: the SS rows of the attack cases.

use serde_json::{Value, json};
use std::time::{Duration, Instant};
use switchboard_testkit::OauthFixture;

use crate::login_person::{home_with_login, log_in, run_refused_login};

/// Addresses that no login may visit. Those with the port of the sink would reach it if dialled.
const FORBIDDEN: [&str; 27] = [
    "http://169.254.169.254/latest/meta-data/",
    "https://169.254.169.254/latest/meta-data/",
    "https://10.0.0.1/",
    "https://172.16.0.1/",
    "https://192.168.0.1/",
    "https://100.64.0.1/",
    "https://[fc00::1]/",
    "https://[fd00:ec2::254]/",
    "https://[fe80::1]/",
    "https://0.0.0.0:{sink-port}/",
    "http://0.0.0.0:{sink-port}/",
    "https://0:{sink-port}/",
    "https://0x0:{sink-port}/",
    "http://[::]:{sink-port}/",
    "https://[::]:{sink-port}/",
    "https://[::ffff:127.0.0.1]:{sink-port}/",
    "http://[::ffff:7f00:1]:{sink-port}/",
    "https://[::127.0.0.1]:{sink-port}/",
    "https://[64:ff9b::7f00:1]:{sink-port}/",
    "https://[2002:7f00:1::]:{sink-port}/",
    "https://0xa9fea9fe/",
    "https://2852039166/",
    "https://169.254.43518/",
    "https://0251.0376.0251.0376/",
    "https://①⑥⑨.254.169.254/",
    "https://169.254.169.254./",
    "http://ⓛocalhost:{sink-port}/",
];

/// One forbidden address of each kind, for cases in which all would take long.
const SOME: [&str; 6] = [
    "http://169.254.169.254/latest/meta-data/",
    "https://192.168.0.1/",
    "https://0.0.0.0:{sink-port}/",
    "http://[::]:{sink-port}/",
    "https://[::ffff:127.0.0.1]:{sink-port}/",
    "https://2852039166/",
];

fn assert_stopped(fixture: &OauthFixture, case: &str, begun: Instant) {
    let seen = fixture.observations();
    assert_eq!(seen["sink_connections"], 0, "{case}");
    assert_eq!(seen["token_requests"], json!([]), "{case}");
    // Dialling an address that does not answer would have taken longer.
    assert!(begun.elapsed() < Duration::from_secs(5), "{case} took {:?}", begun.elapsed());
}

/// Fails unless a login with these server flags ends before it shows an address.
fn check(flags: &[&str], case: &str) {
    let fixture = OauthFixture::start(flags);
    let switchboard = home_with_login(&fixture);
    let begun = Instant::now();
    run_refused_login(&switchboard, &[]);
    assert_stopped(&fixture, case, begun);
}

#[test]
fn ss_01_resource_metadata_at_a_forbidden_address_is_not_fetched() {
    // A header holds nothing but ASCII.
    for place in FORBIDDEN.into_iter().filter(|place| place.is_ascii()) {
        check(&["--misbehave", "challenge-metadata", "--value", place], place);
    }
}

#[test]
fn ss_01_what_a_metadata_address_answers_is_not_repeated() {
    let fixture = OauthFixture::start(&["--misbehave", "echo-bait"]);
    let switchboard = home_with_login(&fixture);
    for ran in [
        run_refused_login(&switchboard, &[]),
        switchboard.run(&["call", "guarded", "whoami"]),
        switchboard.run(&["doctor"]),
    ] {
        assert!(!format!("{ran:?}").contains("bait"), "{ran:?}");
    }
}

#[test]
fn ss_02_endpoints_at_forbidden_addresses_are_not_visited() {
    let replaced = |name: &str, value: Value| json!({ name: value }).to_string();
    for place in FORBIDDEN {
        let servers = replaced("authorization_servers", json!([place]));
        check(&["--resource-metadata", &servers], place);
    }
    for place in SOME {
        for endpoint in ["token_endpoint", "registration_endpoint", "revocation_endpoint"] {
            let metadata = replaced(endpoint, json!(place));
            check(&["--server-metadata", &metadata], &format!("{endpoint} {place}"));
        }
    }
}

#[test]
fn ss_03_every_hop_of_a_redirect_is_checked() {
    for place in SOME {
        for wrong in ["prm-redirect", "as-redirect"] {
            check(&["--misbehave", wrong, "--value", place], &format!("{wrong} {place}"));
        }
    }
}

/// Premise of the other tests: redirects are followed, and a client that follows one is seen here.
#[test]
fn a_redirect_to_a_place_that_is_allowed_is_followed() {
    for wrong in ["prm-redirect", "as-redirect"] {
        let fixture = OauthFixture::start(&["--misbehave", wrong, "--value", "{sink}/"]);
        run_refused_login(&home_with_login(&fixture), &[]);
        assert!(fixture.count("sink_connections") > 0, "{wrong}");
    }
}

#[test]
fn ss_03_what_is_posted_is_never_sent_on() {
    for place in ["{sink}/", "https://0.0.0.0:{sink-port}/", "http://169.254.169.254/"] {
        for code in ["302", "307", "308"] {
            let flags = ["--value", place, "--status", code];
            let register = [&["--misbehave", "register-redirect"], &flags[..]].concat();
            let fixture = OauthFixture::start(&register);
            run_refused_login(&home_with_login(&fixture), &[]);
            assert_eq!(fixture.count("sink_connections"), 0, "{register:?}");

            let token = [&["--misbehave", "token-redirect"], &flags[..]].concat();
            let fixture = OauthFixture::start(&token);
            let ran = log_in(&home_with_login(&fixture), &fixture, &[]);
            assert_ne!(ran.code, 0, "{token:?}: {ran:?}");
            assert_eq!(fixture.count("sink_connections"), 0, "{token:?}");
        }
    }
}

#[test]
fn ss_03_a_redirect_without_an_end_is_given_up() {
    for wrong in ["prm-redirect", "as-redirect"] {
        let path = if wrong == "prm-redirect" {
            "{origin}/.well-known/oauth-protected-resource/mcp"
        } else {
            "{origin}/.well-known/oauth-authorization-server"
        };
        let fixture = OauthFixture::start(&["--misbehave", wrong, "--value", path]);
        run_refused_login(&home_with_login(&fixture), &[]);
        let seen = fixture.observations();
        let most = seen["requests"].as_object().unwrap().values().filter_map(Value::as_u64).max();
        assert!(most.unwrap_or(0) <= 30, "{seen}");
    }
}

#[test]
fn ss_05_other_spellings_of_an_address_change_nothing() {
    // A server on this machine may name this machine, but only in the canonical spelling.
    let spellings = ["http://[::ffff:127.0.0.1]:{sink-port}", "https://[::127.0.0.1]:{sink-port}"];
    let names = ["http://localhost.:{sink-port}", "http://①②⑦.0.0.1:{sink-port}"];
    for issuer in spellings.into_iter().chain(names) {
        let metadata = json!({"authorization_servers": [issuer]}).to_string();
        let fixture = OauthFixture::start(&["--resource-metadata", &metadata]);
        let ran = run_refused_login(&home_with_login(&fixture), &[]);
        assert_eq!(fixture.count("sink_connections"), 0, "{issuer}: {ran:?}");
    }
}

#[test]
fn ss_07_links_in_metadata_and_tools_are_never_followed() {
    let fixture = OauthFixture::start(&["--misbehave", "links", "--era", "modern"]);
    let switchboard = home_with_login(&fixture);
    log_in(&switchboard, &fixture, &[]).expect(0);
    let listed: [&[&str]; 6] = [
        &["servers"],
        &["tools", "--server", "guarded"],
        &["tools", "show", "guarded", "linked"],
        &["call", "guarded", "linked", "x=1"],
        &["call", "guarded", "whoami"],
        &["doctor"],
    ];
    for words in listed {
        switchboard.run(words);
    }
    switchboard.run(&["logout", "guarded"]).expect(0);
    assert_eq!(fixture.count("sink_connections"), 0);
    assert_eq!(fixture.observations()["problems"], json!([]));
}
