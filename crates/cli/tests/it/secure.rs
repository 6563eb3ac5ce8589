//! Tests of servers behind TLS and proxies: setup and error messages.

use serde_json::json;
use switchboard_testkit::{HttpFixture, ProxyFront, ServerCertificate, TestAuthority, Validity};

use crate::switchboard::Switchboard;
use crate::transcript::transcript;

const HERE: [&str; 2] = ["localhost", "127.0.0.1"];

fn secure(authority: &TestAuthority) -> (HttpFixture, ProxyFront) {
    let fixture = HttpFixture::start(&["echo", "--transport", "http"]);
    let front = ProxyFront::secure(&fixture.origin(), &authority.issue(&HERE, Validity::Long));
    (fixture, front)
}

#[test]
fn a_private_authority_is_trusted_for_one_server_or_for_all() {
    let authority = TestAuthority::new();
    let (_fixture, front) = secure(&authority);
    let url = front.url("localhost");
    let mut switchboard = Switchboard::new();
    let file = switchboard.write("ca.pem", &authority.pem());
    let file = file.to_str().unwrap();
    switchboard.configure(&json!({"own": {"url": url, "caFile": file}, "plain": {"url": url}}));
    let ran = switchboard.run(&["call", "own", "echo", "text=through"]).expect(0);
    assert_eq!(ran.stdout, "through\n");
    let refused = switchboard.run(&["call", "plain", "echo", "text=through"]).expect(4);
    insta::assert_snapshot!(transcript(&refused), @"
    exit status 4
    --- stderr
    warning: server `plain` is not ready: cannot connect to `https://localhost:[port]/mcp`: nothing was sent: the server's certificate was issued by an authority that this machine does not trust
    hint: if your organisation issued it, set `caFile` to a file with the issuer's certificate, or add that to the system's trust store (on Linux also with `SSL_CERT_FILE`)
    error: server `plain` is waiting to retry: cannot connect to `https://localhost:[port]/mcp`: nothing was sent: the server's certificate was issued by an authority that this machine does not trust
    hint: if your organisation issued it, set `caFile` to a file with the issuer's certificate, or add that to the system's trust store (on Linux also with `SSL_CERT_FILE`)
    ");
    switchboard.set("SSL_CERT_FILE", file);
    let ran = switchboard.run(&["call", "plain", "echo", "text=through"]).expect(0);
    assert_eq!(ran.stdout, "through\n");
}

#[test]
fn doctor_says_what_is_wrong_with_a_certificate_and_what_to_do() {
    let authority = TestAuthority::new();
    let (_fixture, front) = secure(&authority);
    front.show(&ServerCertificate::self_signed(&HERE), &["h2"]);
    let switchboard = Switchboard::with(&json!({"srv": {"url": front.url("localhost")}}));
    let told = switchboard.run(&["doctor", "srv"]);
    let all = format!("{}{}", told.stdout, told.stderr);
    assert!(all.contains("the server's certificate was issued by an authority"), "{all}");
    assert!(all.contains("`caFile`"), "{all}");
}

#[test]
fn a_file_that_names_no_authority_is_told_with_its_place() {
    let switchboard = Switchboard::new();
    switchboard.write_config(
        "{\n  \"mcpServers\": {\n    \"srv\": {\n      \"url\": \"https://localhost:9/mcp\",\n      \
         \"caFile\": \"missing.pem\"\n    }\n  }\n}\n",
    );
    let told = switchboard.run(&["servers"]);
    insta::assert_snapshot!(transcript(&told), @"
    exit status 0
    --- stdout
    builtin	ready	built in	2026-07-28	6	2	1	
    srv	failed			0	0	0
    --- stderr
    warning: server `srv` is not ready: `srv`: `[home]/own/missing.pem` does not exist ([home]/own/config.json:5, key `caFile`)
    hint: name a PEM file with the certificate of the authority that issued the server's
    ");
}

#[test]
fn a_server_is_reached_through_the_proxy_of_the_environment() {
    let fixture = HttpFixture::start(&["echo", "--transport", "http"]);
    let mut switchboard = Switchboard::with(&json!({"far": {"url": "http://tools.invalid/mcp"}}));
    switchboard.set("HTTP_PROXY", &fixture.origin());
    let ran = switchboard.run(&["call", "far", "echo", "text=by way of another"]).expect(0);
    assert_eq!(ran.stdout, "by way of another\n");
    switchboard.set("NO_PROXY", "tools.invalid");
    switchboard.run(&["call", "far", "echo", "text=directly"]).expect(4);
}
