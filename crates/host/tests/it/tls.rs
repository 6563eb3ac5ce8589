//! F41, F57 and F60: servers behind TLS, TLS failures, and HTTP/2 connections that refuse requests.

use std::time::Duration;

use serde_json::json;
use switchboard_catalog::{ServerFailure, ServerStatus};
use switchboard_host::OutcomeKind;
use switchboard_testkit::{
    Farewell, HttpFixture, ProxyFront, ServerCertificate, TestAuthority, Validity,
};

use crate::stage::{Play, SERVER, Stage, eventually, message, words};

const SECOND: Duration = Duration::from_secs(1);
const HERE: [&str; 2] = ["localhost", "127.0.0.1"];

/// A fixture behind TLS, and an authority that can be trusted.
struct Secure {
    stage: Stage,
    authority: TestAuthority,
    front: ProxyFront,
    fixture: HttpFixture,
}

impl Secure {
    fn new(words: &[&str]) -> Self {
        let stage = Stage::new();
        let authority = TestAuthority::new();
        stage.home.write("ca.pem", authority.pem());
        let fixture = stage.listening(words);
        let front = ProxyFront::secure(&fixture.origin(), &authority.issue(&HERE, Validity::Long));
        Self { stage, authority, front, fixture }
    }

    /// Starts the host with the server, whose entry names the authority.
    fn start(self) -> (Play, Reached) {
        let url = self.front.url("localhost");
        let entry = json!({"url": url, "timeout": 5, "caFile": "ca.pem"});
        let Self { stage, authority, front, fixture } = self;
        (stage.with(SERVER, entry).start(), Reached { authority, front, _fixture: fixture })
    }

    async fn ready(self) -> (Play, Reached) {
        let (play, reached) = self.start();
        play.host.wait_settled(None).await;
        assert_eq!(play.status(), ServerStatus::Ready);
        (play, reached)
    }
}

struct Reached {
    authority: TestAuthority,
    front: ProxyFront,
    _fixture: HttpFixture,
}

/// Closes the connections, and gives the pool time to notice.
async fn cut(front: &ProxyFront) {
    front.cut();
    tokio::time::sleep(SECOND / 5).await;
}

async fn failure(play: &Play) -> ServerFailure {
    play.until_status("it is given up for now", ServerStatus::is_settled).await;
    let ServerStatus::Waiting { failure, .. } = play.status() else {
        panic!("{:?}", play.status())
    };
    failure
}

#[tokio::test]
async fn f41_a_certificate_that_cannot_be_trusted_is_refused_with_its_reason_and_a_hint() {
    let other = TestAuthority::new();
    type Shown<'a> = Box<dyn Fn(&TestAuthority) -> ServerCertificate + 'a>;
    let cases: [(Shown<'_>, &str, &str); 5] = [
        (
            Box::new(|authority| authority.issue(&HERE, Validity::Over)),
            "the server's certificate has expired",
            "clock",
        ),
        (
            Box::new(|authority| authority.issue(&HERE, Validity::NotYet)),
            "the server's certificate is not valid yet",
            "clock",
        ),
        (
            Box::new(|authority| authority.issue(&["elsewhere.example"], Validity::Long)),
            "the server's certificate is for another name",
            "`url`",
        ),
        (
            Box::new(|_| ServerCertificate::self_signed(&HERE)),
            "the server's certificate was issued by an authority that this machine does not trust",
            "`caFile`",
        ),
        (
            Box::new(|_| other.issue(&HERE, Validity::Long)),
            "the server's certificate was issued by an authority that this machine does not trust",
            "`SSL_CERT_FILE`",
        ),
    ];
    for (shown, reason, hint) in &cases {
        let secure = Secure::new(&["echo"]);
        secure.front.show(&shown(&secure.authority), &["h2", "http/1.1"]);
        let (play, _reached) = secure.start();
        let failure = failure(&play).await;
        assert!(failure.message.contains(reason), "{failure:?}");
        assert!(failure.message.contains("nothing was sent"), "{failure:?}");
        assert!(failure.hint.as_deref().is_some_and(|said| said.contains(hint)), "{failure:?}");
        let record = play.write("never").await;
        assert_eq!(words(&record), (OutcomeKind::NotSent, Some("not_ready")), "{record:?}");
        assert_eq!(play.trace().len(), 1, "only its start: {:?}", play.trace());
        play.stop().await;
    }
}

#[tokio::test]
async fn f41_a_server_of_a_private_authority_is_reached_over_every_version_of_http() {
    for protocols in [&["h2", "http/1.1"][..], &["http/1.1"], &[]] {
        let secure = Secure::new(&["echo"]);
        let certificate = secure.authority.issue(&HERE, Validity::Long);
        secure.front.show(&certificate, protocols);
        let (play, _reached) = secure.ready().await;
        let record = play.write("private").await;
        assert_eq!((words(&record), play.effects("private")), ((OutcomeKind::Ok, None), 1));
        play.stop().await;
    }
}

#[tokio::test]
async fn f41_a_file_without_authorities_is_an_error_of_that_entry_alone() {
    let stage = Stage::new();
    stage.home.write("nothing.pem", "hello");
    let url = "https://localhost:9/mcp";
    let play = stage
        .with(SERVER, json!({"url": url, "caFile": "nothing.pem"}))
        .with("missing", json!({"url": url, "caFile": "missing.pem"}))
        .fixture("well", &["echo"], 5)
        .start();
    play.settled("well").await;
    assert_eq!(play.server("well").status, ServerStatus::Ready);
    let config = play.host.config().load();
    let told = |name: &str| {
        let error = &config.broken[&crate::stage::id(name)];
        (error.key.clone(), error.line.is_some(), error.message.clone())
    };
    let (key, has_line, said) = told(SERVER);
    assert_eq!((key.as_deref(), has_line), (Some("caFile"), true));
    assert!(said.ends_with("contains no certificate in PEM format"), "{said}");
    assert!(told("missing").2.ends_with("does not exist"));
    play.stop().await;
}

#[tokio::test]
async fn f41_a_certificate_that_goes_bad_between_calls_stops_the_next_one_at_once() {
    let (play, reached) = Secure::new(&["echo"]).ready().await;
    reached.front.show(&ServerCertificate::self_signed(&HERE), &["h2"]);
    cut(&reached.front).await;
    let record = play.write("to nobody").await;
    assert_eq!(words(&record), (OutcomeKind::NotSent, Some("untrusted")), "{record:?}");
    assert!(
        message(&record).contains("an authority that this machine does not trust"),
        "{record:?}"
    );
    assert!(record.outcome.hint.as_deref().unwrap_or_default().contains("`caFile`"));
    assert_eq!(play.full(&record).await.attempts, 1, "a certificate does not get better");
    reached.front.show(&reached.authority.issue(&HERE, Validity::Long), &["h2"]);
    let record = play.write("well again").await;
    assert_eq!((words(&record), play.effects("well again")), ((OutcomeKind::Ok, None), 1));
    assert_eq!(play.effects("to nobody"), 0);
    play.stop().await;
}

/// The refusing connections answer nothing, so every call that ran used another one.
#[tokio::test]
async fn f57_a_refused_stream_and_one_above_the_farewell_are_sent_again_and_run_once() {
    for farewell in [Farewell::Refused, Farewell::Leaving] {
        let (play, reached) = Secure::new(&["echo", "--era", "modern"]).ready().await;
        reached.front.turn_away(&[farewell]);
        cut(&reached.front).await;
        let record = play.write("again").await;
        let found = (words(&record), play.effects("again"));
        assert_eq!(found, ((OutcomeKind::Ok, None), 1), "{farewell:?}: {record:?}");
        play.stop().await;
    }
}

#[tokio::test]
async fn f57_a_server_that_refuses_every_stream_was_sent_nothing() {
    let (play, reached) = Secure::new(&["echo", "--era", "modern"]).ready().await;
    reached.front.turn_away(&[Farewell::Refused; 40]);
    cut(&reached.front).await;
    let record = play.write("refused").await;
    assert_eq!(words(&record), (OutcomeKind::NotSent, Some("no_connection")), "{record:?}");
    assert_eq!((play.full(&record).await.attempts, play.effects("refused")), (3, 0));
    assert!(message(&record).contains("turned the request away"), "{record:?}");
    play.stop().await;
}

#[tokio::test]
async fn f57_a_stream_that_ends_with_an_error_may_have_run_and_is_not_repeated() {
    let (play, reached) = Secure::new(&["echo", "--era", "modern"]).ready().await;
    reached.front.turn_away(&[Farewell::Broken]);
    cut(&reached.front).await;
    let record = play.write("broken").await;
    assert_eq!(words(&record), (OutcomeKind::Unknown, Some("may_have_executed")), "{record:?}");
    assert_eq!((play.full(&record).await.attempts, play.effects("broken")), (1, 0));
    play.stop().await;
}

#[tokio::test]
async fn f57_calls_wait_for_a_stream_where_the_server_takes_few_at_a_time() {
    let secure = Secure::new(&["echo", "--era", "modern"]);
    secure.front.narrow(2);
    let (play, reached) = secure.ready().await;
    let keys: Vec<String> = (0..12).map(|number| format!("key-{number}")).collect();
    let calls = keys.iter().map(|key| play.write(key));
    for (record, key) in futures_util::future::join_all(calls).await.iter().zip(&keys) {
        assert_eq!((words(record), play.effects(key)), ((OutcomeKind::Ok, None), 1), "{record:?}");
    }
    assert!(
        reached.front.accepted_connections() <= 4,
        "{} connections",
        reached.front.accepted_connections()
    );
    play.stop().await;
}

#[tokio::test]
async fn f60_another_certificate_at_the_same_address_has_everything_listed_again() {
    let (play, reached) = Secure::new(&["echo", "--no-get-stream"]).ready().await;
    let listed = play.received("tools/list");
    reached.front.show(&reached.authority.issue(&HERE, Validity::Long), &["h2"]);
    cut(&reached.front).await;
    let record = play.write("over there").await;
    assert_eq!((words(&record), play.effects("over there")), ((OutcomeKind::Ok, None), 1));
    // Sooner than the reconnect of a cut listener, which would list as well.
    eventually("the tools are listed again", 4 * SECOND, async || {
        play.received("tools/list") > listed
    })
    .await;
    assert_eq!(play.status(), ServerStatus::Ready);
    play.stop().await;
}

#[tokio::test]
async fn f60_a_server_that_took_the_place_of_another_is_held_to_what_was_approved() {
    let secure = Secure::new(&["echo", "--era", "modern"]);
    let overlay = secure.stage.path("overlay");
    let changed = json!({"tools": [{"name": "write", "description": "Writes somewhere else."}]});
    secure.stage.home.write("overlay", changed.to_string());
    let other = secure.stage.listening(&["echo", "--era", "modern", "--overlay", &overlay]);
    let (play, reached) = secure.ready().await;
    let record = play.write("before").await;
    assert_eq!((words(&record), play.effects("before")), ((OutcomeKind::Ok, None), 1));
    reached.front.lead_to(&other.origin());
    reached.front.show(&reached.authority.issue(&HERE, Validity::Long), &["h2"]);
    cut(&reached.front).await;
    // The first request triggers the discovery.
    play.call("echo", json!({"text": "who is there?"})).await;
    play.until("its other definition is held", |fleet| {
        fleet.servers.values().all(|server| server.offers.tool("write").is_none())
    })
    .await;
    let record = play.write("after").await;
    assert_eq!(words(&record), (OutcomeKind::Denied, Some("needs_approval")), "{record:?}");
    assert_eq!(play.effects("after"), 0);
    play.stop().await;
}
