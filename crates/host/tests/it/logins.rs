//! A host while another process logs in and out.

use std::time::Duration;

use serde_json::json;
use switchboard_catalog::ServerStatus;
use switchboard_config::{Environment, Places, Settings};
use switchboard_host::no_arguments;
use switchboard_host::{Caller, Host, Options, OutcomeKind, ProposedCall};
use switchboard_oauth::{LoginOptions, Logins};
use switchboard_testkit::{Home, OauthFixture};

/// How long the host may take to notice.
const PATIENCE: Duration = Duration::from_secs(20);

fn status(host: &Host) -> ServerStatus {
    host.fleet().load().servers["guarded"].status.clone()
}

async fn until_ready(host: &Host) {
    let mut changes = host.fleet().changes();
    let ready = async {
        while status(host) != ServerStatus::Ready {
            changes.changed().await;
        }
    };
    let noticed = tokio::time::timeout(PATIENCE, ready).await;
    assert!(noticed.is_ok(), "{:?}", status(host));
}

#[tokio::test]
async fn a_login_in_another_process_is_noticed_by_a_host_that_waits_for_it() {
    let fixture = OauthFixture::start(&[]);
    let home = Home::new();
    let config = json!({"mcpServers": {"guarded": {"url": fixture.url()}}});
    let file = home.write("config.json", config.to_string());
    let state = home.path().join("state");
    let places = Places { explicit: vec![file], ..Places::without_files(state.clone()) };
    let key = ("SWITCHBOARD_TOKEN_KEY".to_owned(), "a key of a test".to_owned());
    let current_dir = home.path().to_owned();
    let environment = Environment { variables: [key].into(), home: None, current_dir };
    let host = Host::start(Options::new(places, environment.clone())).unwrap();
    host.wait_settled(None).await;
    let ServerStatus::NeedsLogin(failure) = status(&host) else { panic!("{:?}", status(&host)) };
    assert_eq!(failure.hint.as_deref(), Some("log in with `switchboard login guarded`"));

    let elsewhere = Logins::new(&state, &environment, &Settings::default());
    let server = host.config().load().servers["guarded"].clone();
    let redirect_uri = "http://127.0.0.1:9/callback".to_owned();
    let wish = LoginOptions { redirect_uri, scopes: Vec::new(), on_step: &|_| {} };
    let pending = elsewhere.begin(&server, wish).await.unwrap();
    let answer = fixture.agree(pending.authorization_url());
    pending.finish(&answer).await.unwrap();

    until_ready(&host).await;
    let proposed = ProposedCall::tool("guarded", "whoami", no_arguments());
    let record = host.call(&host.lease(), proposed, &Caller::person()).await;
    assert_eq!(record.outcome.kind, OutcomeKind::Ok, "{record:?}");
    host.stop().await;
}
