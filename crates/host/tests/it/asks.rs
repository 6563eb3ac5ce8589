//! Requests of a server during a call: their recipient, their time limit, and the outcome of the
//! call.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use switchboard_host::{Ask, Asker, CallOptions, NobodyToAsk, OutcomeKind, ReplyFuture};
use switchboard_store::AskReply;
use tokio::sync::Notify;

use crate::stage::{Play, SERVER, Stage, text, words};

const ERAS: [&str; 2] = ["legacy", "modern"];

/// An asker that answers slowly or never.
#[derive(Default)]
struct Slow {
    takes: Option<Duration>,
    asked: Notify,
    left: Notify,
    open: AtomicUsize,
}

impl Asker for Slow {
    fn ask<'a>(&'a self, _ask: &'a Ask) -> ReplyFuture<'a> {
        struct Open<'a>(&'a Slow);
        impl Drop for Open<'_> {
            fn drop(&mut self) {
                self.0.open.fetch_sub(1, Ordering::SeqCst);
                self.0.left.notify_one();
            }
        }
        self.open.fetch_add(1, Ordering::SeqCst);
        self.asked.notify_one();
        let open = Open(self);
        Box::pin(async move {
            match self.takes {
                Some(takes) => tokio::time::sleep(takes).await,
                None => std::future::pending().await,
            }
            drop(open);
            AskReply::Accept(json!({"answer": "green"}).as_object().cloned())
        })
    }
}

async fn asked_by(asker: Arc<dyn Asker>, era: &str, timeout_seconds: u64) -> Play {
    let stage = Stage::new().fixture(SERVER, &["echo", "--era", era], timeout_seconds);
    stage.asked_by(asker).await
}

#[tokio::test]
async fn a_person_may_think_longer_than_a_call_may_be_silent() {
    for era in ERAS {
        let takes = Some(Duration::from_millis(2_500));
        let play = asked_by(Arc::new(Slow { takes, ..Slow::default() }), era, 1).await;
        let record = play.call("ask", json!({"question": "Which colour?"})).await;
        assert_eq!(words(&record), (OutcomeKind::Ok, None), "{era}: {record:?}");
        assert_eq!(text(&record), "green", "{era}");
        play.stop().await;
    }
}

#[tokio::test]
async fn a_question_goes_away_with_the_call_that_needed_it() {
    for era in ERAS {
        let slow: Arc<Slow> = Arc::default();
        let play = asked_by(Arc::clone(&slow) as Arc<dyn Asker>, era, 20).await;
        let attention = CallOptions::default();
        let arguments = json!({"question": "Which colour?"});
        let call = play.call_with("ask", &arguments, &attention);
        let give_up = async {
            slow.asked.notified().await;
            attention.cancel.cancel();
        };
        let (record, ()) = tokio::join!(call, give_up);
        assert_eq!(words(&record), (OutcomeKind::Cancelled, Some("by_caller")), "{era}");
        let left = tokio::time::timeout(Duration::from_secs(10), slow.left.notified()).await;
        assert!(left.is_ok(), "{era}: the person is still asked");
        assert_eq!(slow.open.load(Ordering::SeqCst), 0, "{era}");
        play.stop().await;
    }
}

#[tokio::test]
async fn el_03_where_nobody_can_be_asked_the_answer_is_no_and_the_call_has_one_outcome() {
    for era in ERAS {
        let play = asked_by(Arc::new(NobodyToAsk), era, 20).await;
        let record = play.call("ask", json!({"question": "Which colour?"})).await;
        assert_eq!(words(&record), (OutcomeKind::Ok, None), "{era}: {record:?}");
        assert_eq!(text(&record), "no answer: decline", "{era}");
        play.stop().await;
    }
}

#[tokio::test]
async fn el_06_what_was_not_declared_is_refused_and_nobody_is_asked() {
    let play = Stage::new().fixture(SERVER, &["echo", "--era", "modern"], 20).ready().await;
    let record = play.call("ask", json!({"question": "Which colour?"})).await;
    let message = record.outcome.message.clone().unwrap_or_default();
    assert_ne!(record.outcome.kind, OutcomeKind::Ok, "{record:?}");
    assert!(message.contains("does not answer `elicitation/create`"), "{record:?}");
    play.stop().await;
}
