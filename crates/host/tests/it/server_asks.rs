//! Requests and notifications of servers besides their answers: withdrawn or excessive requests,
//! roots, log messages, resource changes, completions, pings.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_config::LogLevel;
use switchboard_core::{Event, EventKind};
use switchboard_fleet::{
    Completion, CompletionRequest, CompletionTarget, ServerMessage, SupervisorCommand,
    messages_file,
};
use switchboard_host::{
    Ask, Asker, FaceAnswers, Host, Options, OutcomeKind, ReplyFuture, ServerId,
};
use switchboard_store::AskReply;
use tokio::sync::{Notify, broadcast};

use crate::stage::{Play, SERVER, Stage, eventually, fixture, options, text, words};

const ERAS: [&str; 2] = ["legacy", "modern"];
const PATIENCE: Duration = Duration::from_secs(10);
const RESOURCE: &str = "test://static-text";

/// An asker that never answers, and records when it is asked and cancelled.
#[derive(Default)]
struct Silent {
    asked: AtomicUsize,
    left: Notify,
    completed: Notify,
}

impl Asker for Silent {
    fn ask<'a>(&'a self, ask: &'a Ask) -> ReplyFuture<'a> {
        struct Left<'a>(&'a Notify);
        impl Drop for Left<'_> {
            fn drop(&mut self) {
                self.0.notify_one();
            }
        }
        self.asked.fetch_add(1, Ordering::SeqCst);
        let is_address = matches!(ask.kind, switchboard_host::AskKind::Url(_));
        let left = Left(&self.left);
        Box::pin(async move {
            let _left = left;
            if is_address {
                return AskReply::Accept(None);
            }
            std::future::pending().await
        })
    }

    fn notify_completed(&self, _server: &str) {
        self.completed.notify_one();
    }
}

/// Starts a host with the asker fixture, these settings and an asker that never answers.
async fn asker(era: &str, settings: Value) -> (Play, Arc<Silent>) {
    let stage = Stage::new();
    let config = configured(&stage.home, era, settings);
    let silent: Arc<Silent> = Arc::default();
    let answers = Arc::new(FaceAnswers::new(Arc::clone(&silent) as Arc<dyn Asker>, Vec::new()));
    let usual = options(stage.home.path(), config, false, Duration::from_secs(30));
    let host = Host::start(Options { answers, ..usual }).unwrap();
    host.wait_settled(None).await;
    (Play { home: stage.home, host }, silent)
}

fn configured(home: &switchboard_testkit::Home, era: &str, mut settings: Value) -> PathBuf {
    settings["builtin"] = json!(false);
    let entry = fixture(home, &["asker", "--era", era], 20);
    let config = json!({"mcpServers": {SERVER: entry}, "settings": settings});
    home.write("config.json", config.to_string())
}

/// Returns the messages with this word that have reached the fixture.
fn reached(play: &Play, word: &str) -> Vec<String> {
    let trace = play.trace();
    let bodies = trace.iter().filter_map(|line| line["body"].as_str());
    let word = format!("\"{word}\"");
    bodies.filter(|body| body.contains(&word)).map(str::to_owned).collect()
}

async fn event(
    events: &mut broadcast::Receiver<Event>,
    wanted: impl Fn(&EventKind) -> bool,
) -> EventKind {
    let waiting = async {
        loop {
            if let Ok(event) = events.recv().await
                && wanted(&event.what)
            {
                return event.what;
            }
        }
    };
    tokio::time::timeout(PATIENCE, waiting).await.expect("the event comes")
}

#[tokio::test]
async fn a_question_that_the_server_takes_back_goes_away_and_gets_no_answer() {
    let (play, silent) = asker("legacy", json!({})).await;
    let record = play.call("withdraw", json!({})).await;
    assert_eq!(words(&record), (OutcomeKind::Ok, None), "{record:?}");
    assert_eq!(silent.asked.load(Ordering::SeqCst), 1);
    let left = tokio::time::timeout(PATIENCE, silent.left.notified()).await;
    assert!(left.is_ok(), "the person is still asked");
    assert_eq!(reached(&play, "to-be-withdrawn").len(), 0, "an answer was sent");
    play.stop().await;
}

#[tokio::test]
async fn so_many_questions_wait_at_once_and_the_others_are_refused() {
    let (play, _silent) = asker("legacy", json!({})).await;
    let record = play.call("many", json!({"count": 40})).await;
    assert_eq!(text(&record), "8 refused");
    play.stop().await;
}

#[tokio::test]
async fn an_address_that_was_visited_is_told_as_an_event() {
    let (play, silent) = asker("legacy", json!({})).await;
    let mut events = play.host.events().watch();
    play.call("complete", json!({"id": "never-asked"})).await;
    let told =
        event(&mut events, |what| matches!(what, EventKind::ElicitationComplete { .. })).await;
    let EventKind::ElicitationComplete { server, id } = told else { panic!("{told:?}") };
    assert_eq!((server.as_str(), id.as_str()), (SERVER, "never-asked"));
    let heard = tokio::time::timeout(Duration::from_millis(50), silent.completed.notified()).await;
    assert!(heard.is_err(), "the person is told of something that nobody asked");
    play.stop().await;
}

#[tokio::test]
async fn folders_of_the_settings_are_told_and_told_again_when_they_change() {
    let (play, _silent) = asker("legacy", json!({"roots": ["/tmp/one"]})).await;
    let roots = |record: &switchboard_host::Record| -> Value {
        serde_json::from_str(&text(record)).unwrap()
    };
    let told = roots(&play.call("folders", json!({})).await);
    assert_eq!(told, json!({"roots": [{"uri": "file:///tmp/one", "name": "one"}]}));
    configured(&play.home, "legacy", json!({"roots": ["/tmp/one", "/tmp/two"]}));
    eventually("the server is told", PATIENCE, async || {
        reached(&play, "notifications/roots/list_changed").len() == 1
    })
    .await;
    let told = roots(&play.call("folders", json!({})).await);
    assert_eq!(told["roots"][1], json!({"uri": "file:///tmp/two", "name": "two"}));
    play.stop().await;
}

#[tokio::test]
async fn a_server_is_told_which_messages_are_wanted_and_they_are_kept() {
    for era in ERAS {
        let (play, _silent) = asker(era, json!({"logLevel": "warning"})).await;
        for (level, said) in [("info", "idle talk"), ("error", "it burns")] {
            play.call("say", json!({"level": level, "text": said})).await;
        }
        let wanted = |level: &str| match era {
            "legacy" => format!(r#""level":"{level}""#),
            _ => format!(r#""io.modelcontextprotocol/logLevel":"{level}""#),
        };
        let method = if era == "legacy" { "logging/setLevel" } else { "tools/call" };
        let told = |level: &str| {
            let wanted = wanted(level);
            reached(&play, method).iter().any(|body| body.contains(&wanted))
        };
        assert!(told("warning"), "{era}");
        let server = ServerId::new(SERVER).unwrap();
        let kept = play.host.messages().list(&server);
        let brief: Vec<_> = kept.iter().map(|kept| (kept.level.as_str(), &*kept.text)).collect();
        assert_eq!(brief, [("error", "it burns")], "{era}");
        let file = messages_file(&play.home.path().join("state"), &server);
        let filed: ServerMessage =
            serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
        assert_eq!([filed], kept[..], "{era}");
        // The level can change while the server runs.
        configured(&play.home, era, json!({"logLevel": LogLevel::Debug.as_str()}));
        eventually("the server is told", PATIENCE, async || {
            play.call("say", json!({"level": "debug", "text": "hm"})).await;
            told("debug")
        })
        .await;
        play.stop().await;
    }
}

#[tokio::test]
async fn a_server_that_talks_without_end_costs_no_call() {
    let (play, _silent) = asker("legacy", json!({})).await;
    let begun = std::time::Instant::now();
    let record = play.call("say", json!({"level": "info", "text": "again", "times": 20_000})).await;
    assert_eq!(words(&record), (OutcomeKind::Ok, None), "{record:?}");
    assert!(begun.elapsed() < PATIENCE, "it took {:?}", begun.elapsed());
    let kept = play.host.messages().list(&ServerId::new(SERVER).unwrap());
    assert!((1..=1_000).contains(&kept.len()), "{}", kept.len());
    play.stop().await;
}

#[tokio::test]
async fn changes_of_a_resource_are_told_also_after_the_server_was_started_again() {
    for era in ERAS {
        let (play, _silent) = asker(era, json!({})).await;
        let mut events = play.host.events().watch();
        let subscription = play.host.subscribe(SERVER, RESOURCE).unwrap();
        let subscribed = |what: &EventKind| matches!(what, EventKind::ResourceSubscribed { .. });
        let updated = |what: &EventKind| matches!(what, EventKind::ResourceUpdated { .. });
        for is_first in [true, false] {
            let told = event(&mut events, subscribed).await;
            let EventKind::ResourceSubscribed { uri, problem, .. } = told else {
                panic!("{told:?}")
            };
            assert_eq!((uri.as_str(), problem), (RESOURCE, None), "{era}");
            let told = async {
                let told = event(&mut events, updated).await;
                let EventKind::ResourceUpdated { server, uri } = told else { panic!("{told:?}") };
                assert_eq!((server.as_str(), uri.as_str()), (SERVER, RESOURCE), "{era}");
            };
            // A modern server may not have received the subscription request yet.
            let touching = async {
                loop {
                    play.call("touch", json!({"uri": "test://other"})).await;
                    play.call("touch", json!({"uri": RESOURCE})).await;
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            };
            tokio::select! {
                () = told => {}
                () = touching => {}
            }
            if is_first {
                play.host.command(SupervisorCommand::Restart(ServerId::new(SERVER).unwrap())).await;
                eventually("it starts again", PATIENCE, async || play.started().len() > 1).await;
                play.host.wait_settled(None).await;
            }
        }
        drop(subscription);
        if era == "legacy" {
            eventually("the subscription ends", PATIENCE, async || {
                !reached(&play, "resources/unsubscribe").is_empty()
            })
            .await;
        }
        play.stop().await;
    }
}

#[tokio::test]
async fn what_a_server_does_not_offer_cannot_be_subscribed_to() {
    let play = Stage::new().fixture(SERVER, &["echo"], 20).ready().await;
    let refused = play.host.subscribe(SERVER, RESOURCE).unwrap_err();
    let expected = "server `flaky` does not support resource subscriptions";
    assert_eq!(refused.to_string(), expected);
    let refused = play.host.subscribe("nobody", RESOURCE).unwrap_err();
    assert_eq!(refused.to_string(), "server `nobody` is not ready");
    play.stop().await;
}

#[tokio::test]
async fn arguments_are_completed_where_the_server_offers_it() {
    for era in ERAS {
        let stage = Stage::new().fixture(SERVER, &["echo", "--era", era], 20);
        let play = stage.fixture("plain", &["weather", "--era", era], 20).ready().await;
        let context = BTreeMap::from([("title".to_owned(), "Dr".to_owned())]);
        let completing =
            |of| CompletionRequest { target: of, argument: "name", value: "A", context: &context };
        let lease = play.host.lease();
        for of in
            [CompletionTarget::Prompt("greet"), CompletionTarget::Template("test://template/{id}")]
        {
            let got = play.host.complete(&lease, SERVER, &completing(of)).await.unwrap();
            let values = vec!["Ada".to_owned(), "Alan".to_owned()];
            assert_eq!(got, Completion { values, total: Some(2), has_more: false }, "{era}");
        }
        let sent = &reached(&play, "completion/complete")[0];
        assert!(sent.contains(r#""context":{"arguments":{"title":"Dr"}}"#), "{sent}");
        let of = completing(CompletionTarget::Prompt("greet"));
        let refused = play.host.complete(&lease, "plain", &of).await.unwrap_err();
        assert_eq!(refused.to_string(), "server `plain` does not support completion", "{era}");
        play.stop().await;
    }
}

#[tokio::test]
async fn a_ping_is_answered() {
    let (play, _silent) = asker("legacy", json!({})).await;
    assert_eq!(text(&play.call("ping", json!({})).await), "{}");
    play.stop().await;
}
