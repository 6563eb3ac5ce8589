//! Calls that a server runs only after the person has visited an address (error -32042).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use switchboard_host::{Ask, AskKind, Asker, NobodyToAsk, OutcomeKind, ReplyFuture};
use switchboard_store::AskReply;

use crate::stage::{Play, SERVER, Stage, message, text, words};

/// An asker that agrees to every address, and counts them.
#[derive(Default)]
struct Agrees(AtomicUsize);

impl Asker for Agrees {
    fn ask<'a>(&'a self, ask: &'a Ask) -> ReplyFuture<'a> {
        assert!(matches!(ask.kind, AskKind::Url(_)), "{ask:?}");
        assert_eq!(ask.tool.as_deref(), Some("visit"));
        self.0.fetch_add(1, Ordering::SeqCst);
        Box::pin(async { AskReply::Accept(None) })
    }
}

async fn asked_by(asker: Arc<dyn Asker>) -> Play {
    let stage = Stage::new().fixture(SERVER, &["echo", "--tasks", "--era", "legacy"], 60);
    stage.asked_by(asker).await
}

#[tokio::test]
async fn a_call_is_made_again_after_the_address_was_visited_and_nobody_is_asked_twice() {
    for (arguments, questions, said) in [
        (json!({"refusals": 1}), 1, "in after 1 refusals"),
        (json!({"refusals": 2}), 1, "in after 2 refusals"),
        (json!({"refusals": 3, "fresh": true}), 3, "in after 3 refusals"),
    ] {
        let asker: Arc<Agrees> = Arc::default();
        let play = asked_by(Arc::clone(&asker) as Arc<dyn Asker>).await;
        let record = play.call("visit", arguments.clone()).await;
        assert_eq!(words(&record), (OutcomeKind::Ok, None), "{arguments}: {record:?}");
        assert_eq!(text(&record), said);
        assert_eq!(asker.0.load(Ordering::SeqCst), questions, "{arguments}");
        play.stop().await;
    }
}

#[tokio::test]
async fn an_address_that_nobody_agrees_to_visit_ends_the_call_and_it_did_not_run() {
    let play = asked_by(Arc::new(NobodyToAsk)).await;
    let record = play.call("visit", json!({})).await;
    assert_eq!(words(&record), (OutcomeKind::Refused, Some("url_declined")), "{record:?}");
    assert!(message(&record).contains("was not approved"), "{record:?}");
    assert_eq!(play.received("tools/call"), 1);
    assert_eq!(play.home.journal_lines(), Vec::<String>::new());
    play.stop().await;
}

#[tokio::test]
async fn el_05_a_server_that_always_wants_another_address_is_given_up() {
    let asker: Arc<Agrees> = Arc::default();
    let play = asked_by(Arc::clone(&asker) as Arc<dyn Asker>).await;
    let record = play.call("visit", json!({"refusals": 1_000, "fresh": true})).await;
    assert_ne!(record.outcome.kind, OutcomeKind::Ok, "{record:?}");
    assert!(message(&record).contains("more than 10 times"), "{record:?}");
    assert_eq!(asker.0.load(Ordering::SeqCst), 11);
    play.stop().await;
}
