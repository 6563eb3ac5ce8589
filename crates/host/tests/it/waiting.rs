//! Questions that wait for a person: answered from anywhere, and for one call by its registered
//! asker.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_core::EventKind;
use switchboard_host::{
    Ask, Asker, Caller, DEFAULT_REVIEW_LIMIT, Face, FaceAnswers, Host, Options, Origin,
    OutcomeKind, ProposedCall, Record, ReplyFuture, ReviewFuture, ReviewQueue, Reviewer,
};
use switchboard_policy::Question;
use switchboard_store::{AskReply, Matter, QueueEntry, QueueError, QueueFile, UserDecision};
use switchboard_wire::Json;

use crate::stage::{Play, SERVER, Stage, eventually, message, options, text, words};

const PATIENCE: Duration = Duration::from_secs(20);

/// An asker that gives the same answer to everything, and records the questions.
struct Says {
    answer: &'static str,
    asked: Mutex<Vec<String>>,
}

impl Says {
    fn new(answer: &'static str) -> Arc<Self> {
        Arc::new(Self { answer, asked: Mutex::default() })
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

impl Asker for Says {
    fn ask<'a>(&'a self, ask: &'a Ask) -> ReplyFuture<'a> {
        let Ask { server, tool, reference, message, .. } = ask;
        let tool = tool.as_deref();
        let reference = reference.as_deref();
        let about = format!("{server} {tool:?} {reference:?}: {message}");
        self.asked.lock().unwrap().push(about);
        let content = json!({"answer": self.answer}).as_object().cloned();
        Box::pin(async move { AskReply::Accept(content) })
    }
}

/// A face without a person, which never answers.
struct Gone;

impl Reviewer for Gone {
    fn ask<'a>(&'a self, _question: &'a Question) -> ReviewFuture<'a> {
        Box::pin(std::future::pending())
    }
}

impl Asker for Gone {
    fn ask<'a>(&'a self, _ask: &'a Ask) -> ReplyFuture<'a> {
        Box::pin(std::future::pending())
    }
}

async fn play(asker: Arc<dyn Asker>, era: &str, limit: Duration) -> Play {
    let stage = Stage::new().fixture(SERVER, &["echo", "--era", era], 20);
    let config = stage.write_config();
    let usual = options(stage.home.path(), config, false, Duration::from_secs(30));
    let store = QueueFile::in_state_folder(&stage.home.path().join("state"));
    let waiting = ReviewQueue::new(store, limit);
    let answers = FaceAnswers::new(asker, Vec::new()).with_queue(waiting.clone());
    let host = Host::start(Options {
        answers: Arc::new(answers),
        reviewer: Arc::new(Gone),
        waiting: Some(waiting),
        ..usual
    });
    let host = host.unwrap();
    host.wait_settled(None).await;
    Play { home: stage.home, host }
}

/// Calls a tool as a model would, by its name for models.
async fn call(host: &Host, tool: &str, arguments: Value, reference: Option<&str>) -> Record {
    let proposed = ProposedCall::tool(SERVER, tool, Json::from(&arguments));
    let origin = if tool == "write" { Origin::Model } else { Origin::Person };
    let reference = reference.map(str::to_owned);
    let caller = Caller { face: Face::Library, origin, name: "test".to_owned(), reference };
    host.call(&host.lease(), proposed, &caller).await
}

async fn entry(waiting: &ReviewQueue) -> QueueEntry {
    let mut watch = waiting.watch();
    let coming = async {
        loop {
            if let Some(entry) = watch.next_change().await.unwrap().pop() {
                return entry;
            }
        }
    };
    tokio::time::timeout(PATIENCE, coming).await.expect("something waits")
}

#[tokio::test]
async fn whoever_registered_for_a_call_is_asked_what_belongs_to_it_and_nothing_else() {
    for era in ["legacy", "modern"] {
        let face = Says::new("from the face");
        let mine = Says::new("from mine");
        let play = play(Arc::clone(&face) as Arc<dyn Asker>, era, DEFAULT_REVIEW_LIMIT).await;
        let question = || json!({"question": "Which?"});
        let registration = play.host.answer_for("call_1", Arc::clone(&mine) as Arc<dyn Asker>);
        let other = call(&play.host, "ask", question(), Some("call_2")).await;
        assert_eq!(text(&other), "from the face", "{era}");
        assert_eq!(face.asked(), [r#"flaky Some("ask") Some("call_2"): Which?"#], "{era}");
        let leased = call(&play.host, "ask", question(), Some("call_1")).await;
        assert_eq!(text(&leased), "from mine", "{era}");
        assert_eq!(mine.asked(), [r#"flaky Some("ask") Some("call_1"): Which?"#], "{era}");
        // The registration ends with the call.
        let again = call(&play.host, "ask", question(), Some("call_1")).await;
        assert_eq!(text(&again), "from the face", "{era}");
        drop(registration);

        let registration = play.host.answer_for("call_3", Arc::clone(&mine) as Arc<dyn Asker>);
        drop(registration);
        let dropped = call(&play.host, "ask", question(), Some("call_3")).await;
        assert_eq!(text(&dropped), "from the face", "{era}");
        assert_eq!((face.asked().len(), mine.asked().len()), (2, 0), "{era}");
        play.stop().await;
    }
}

#[tokio::test]
async fn where_two_calls_are_under_way_a_legacy_server_s_question_goes_to_the_face() {
    for (era, expected) in [("legacy", "from the face"), ("modern", "from mine")] {
        let face = Says::new("from the face");
        let mine = Says::new("from mine");
        let play = play(Arc::clone(&face) as Arc<dyn Asker>, era, DEFAULT_REVIEW_LIMIT).await;
        let _registration = play.host.answer_for("call_1", Arc::clone(&mine) as Arc<dyn Asker>);
        let host = play.host.clone();
        let slow =
            tokio::spawn(
                async move { call(&host, "slow", json!({"ms": 3_000}), Some("call_0")).await },
            );
        let is_sent = async || play.received("tools/call") > 0;
        eventually("the slow call is under way", PATIENCE, is_sent).await;
        let record = call(&play.host, "ask", json!({"question": "Which?"}), Some("call_1")).await;
        assert_eq!(text(&record), expected, "{era}");
        assert_eq!(words(&slow.await.unwrap()), (OutcomeKind::Ok, None), "{era}");
        play.stop().await;
    }
}

#[tokio::test]
async fn a_review_is_answered_through_the_host_and_told_as_events() {
    let play = play(Arc::new(Gone), "modern", DEFAULT_REVIEW_LIMIT).await;
    let waiting = play.host.reviews().clone();
    let mut events = play.host.events().watch();
    let calling = call(&play.host, "write", json!({"key": "a"}), Some("call_1"));
    let answering = async {
        let entry = entry(&waiting).await;
        assert!(waiting.is_needed());
        let Matter::Review(review) = &entry.asked.matter else { panic!("{entry:?}") };
        assert_eq!(
            (review.target.as_str(), review.arguments.as_str()),
            ("write", r#"{"key":"a"}"#)
        );
        assert_eq!(entry.asked.reference.as_deref(), Some("call_1"));
        let wrong = waiting.answer(&entry.id, "another", UserDecision::Run, "me").await;
        assert_eq!(wrong, Err(QueueError::OtherDigest { id: entry.id.clone() }));
        waiting.answer(&entry.id, &entry.digest, UserDecision::Run, "me").await.unwrap();
        entry
    };
    let (record, entry) = tokio::join!(calling, answering);
    assert_eq!(words(&record), (OutcomeKind::Ok, None), "{record:?}");
    assert_eq!(play.effects("a"), 1);
    assert!(!waiting.is_needed());
    let late = waiting.answer(&entry.id, &entry.digest, UserDecision::Skip, "you").await;
    let how = "already answered by me, with `run`".to_owned();
    assert_eq!(late, Err(QueueError::Over { id: entry.id.clone(), how }));
    let mut told = Vec::new();
    while let Ok(event) = events.try_recv() {
        match event.what {
            EventKind::Waiting { id, kind, server, target, .. } => {
                told.push(format!("{id} {kind} {server} {target:?}"));
            }
            EventKind::Answered { id, how, by } => told.push(format!("{id} {how} {by:?}")),
            _ => {}
        }
    }
    let id = &entry.id;
    assert_eq!(
        told,
        [format!(r#"{id} review flaky Some("write")"#), format!(r#"{id} run Some("me")"#)]
    );
    play.stop().await;
}

#[tokio::test]
async fn what_nobody_answers_expires_and_a_call_that_is_given_up_takes_its_question_back() {
    let play = play(Arc::new(Gone), "modern", Duration::from_millis(300)).await;
    let record = call(&play.host, "write", json!({"key": "a"}), None).await;
    assert_eq!(words(&record), (OutcomeKind::Denied, Some("unanswered")));
    assert!(
        message(&record).starts_with("the review of `flaky/write` was not answered"),
        "{record:?}"
    );
    let record = call(&play.host, "ask", json!({"question": "Which?"}), None).await;
    assert_eq!(text(&record), "no answer: cancel");
    assert_eq!(play.host.reviews().list().await, Ok(Vec::new()));
    play.stop().await;

    let play = self::play(Arc::new(Gone), "modern", DEFAULT_REVIEW_LIMIT).await;
    let host = play.host.clone();
    let waiting = play.host.reviews().clone();
    let calling =
        tokio::spawn(async move { call(&host, "write", json!({"key": "a"}), None).await });
    entry(&waiting).await;
    calling.abort();
    let is_empty = async || waiting.list().await == Ok(Vec::new());
    eventually("the question is withdrawn", PATIENCE, is_empty).await;
    assert_eq!(play.effects("a"), 0);
    play.stop().await;
}

#[tokio::test]
async fn without_a_queue_only_the_face_can_answer_and_silence_is_no() {
    let play = play(Arc::new(Gone), "modern", Duration::from_millis(300)).await;
    // A folder at the queue's path cannot be opened as a file.
    std::fs::create_dir(play.home.path().join("state/record/waiting.db")).unwrap();
    let record = call(&play.host, "write", json!({"key": "a"}), None).await;
    assert_eq!(words(&record), (OutcomeKind::Denied, Some("unanswered")));
    let expected = "the review of `flaky/write` was not answered: the review queue cannot be used";
    assert!(message(&record).starts_with(expected), "{record:?}");
    assert_eq!(play.effects("a"), 0);
    play.stop().await;
}
