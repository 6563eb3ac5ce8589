//! A step is cancelled at every possible point, and the conversation continues.

use std::sync::Arc;

use serde_json::json;
use switchboard_agent::{Event, TurnEnd};
use switchboard_host::Question;
use switchboard_host::{ReviewFuture, Reviewer};
use tokio::sync::mpsc;

use crate::puppet::{Puppet, Questions};
use crate::stage::{Consent, Stage, Talk};

/// Sends another message, answers it, and returns the messages before it.
async fn go_on(talk: &mut Talk, questions: &mut Questions) -> Vec<String> {
    talk.say("go on").await;
    let asked = questions.next().await;
    let mut told = asked.message_lines();
    assert_eq!(told.pop().as_deref(), Some("user: go on"));
    asked.end("Here I am.");
    assert_eq!(talk.wait_turn_end().await, TurnEnd::Done);
    told
}

#[tokio::test]
async fn an_answer_that_has_begun_is_kept_as_far_as_it_was_heard() {
    let stage = Stage::new().await;
    let (model, mut questions) = Puppet::new("main");
    let mut talk = stage.talk(model).await;
    talk.say("hi").await;
    let asked = questions.next().await;
    asked.begin("Half an ans").await;
    talk.until(|event| matches!(event, Event::Text { .. }).then_some(())).await;
    talk.conversation.cancel().await;
    assert_eq!(talk.wait_turn_end().await, TurnEnd::Cancelled);
    asked.given_up().await;
    let told = go_on(&mut talk, &mut questions).await;
    let half = "assistant: Half an ans\n\n[The user interrupted this answer.]";
    assert_eq!(told, ["user: hi", half]);
    talk.conversation.close().await;
    stage.stop().await;
}

#[tokio::test]
async fn an_answer_of_which_nothing_was_heard_leaves_nothing_behind() {
    let stage = Stage::new().await;
    let (model, mut questions) = Puppet::new("main");
    let mut talk = stage.talk(model).await;
    talk.say("hi").await;
    let asked = questions.next().await;
    talk.conversation.cancel().await;
    assert_eq!(talk.wait_turn_end().await, TurnEnd::Cancelled);
    asked.given_up().await;
    assert_eq!(go_on(&mut talk, &mut questions).await, ["user: hi"]);
    talk.conversation.close().await;
    stage.stop().await;
}

#[tokio::test]
async fn calls_are_given_up_and_those_that_wait_do_not_run() {
    let stage = Stage::new().await;
    let (model, mut questions) = Puppet::new("main");
    let mut talk = stage.talk(model).await;
    talk.say("hi").await;
    let calls = [("echo__slow", json!({"ms": 60_000})), ("echo__write", json!({"key": "never"}))];
    questions.next().await.call(&calls);
    talk.wait_call("slow").await;
    talk.conversation.cancel().await;
    assert_eq!(talk.wait_turn_end().await, TurnEnd::Cancelled);
    let told = go_on(&mut talk, &mut questions).await;
    let results = told.last().unwrap();
    assert!(results.starts_with("results: Cancelled before it ended: "), "{results}");
    assert!(results.ends_with(" | Not run: the user stopped this step."), "{results}");
    let effects = stage.home.journal_lines();
    assert!(!effects.contains(&"write never".to_owned()), "{effects:?}");
    talk.conversation.close().await;
    stage.stop().await;
}

/// A reviewer that reads every question and answers none.
struct Silent(mpsc::Sender<()>);

impl Reviewer for Silent {
    fn ask<'a>(&'a self, _: &'a Question) -> ReviewFuture<'a> {
        Box::pin(async move {
            self.0.send(()).await.unwrap();
            std::future::pending().await
        })
    }
}

#[tokio::test]
async fn a_question_that_nobody_has_answered_is_given_up() {
    let (reads, mut read) = mpsc::channel(8);
    let stage = Stage::with(&["echo"], Consent::Ask(Arc::new(Silent(reads)))).await;
    let (model, mut questions) = Puppet::new("main");
    let mut talk = stage.talk(model).await;
    talk.say("hi").await;
    questions.next().await.call(&[("echo__write", json!({"key": "never"}))]);
    read.recv().await.unwrap();
    talk.conversation.cancel().await;
    assert_eq!(talk.wait_turn_end().await, TurnEnd::Cancelled);
    let told = go_on(&mut talk, &mut questions).await;
    assert!(told.last().unwrap().starts_with("results: Cancelled before it ended"), "{told:?}");
    assert_eq!(stage.home.journal_lines(), Vec::<String>::new());
    talk.conversation.close().await;
    stage.stop().await;
}

#[tokio::test]
async fn the_question_whether_to_go_on_is_given_up() {
    let mut stage = Stage::new().await;
    stage.settings.mistake_limit = 1;
    let (model, mut questions) = Puppet::new("main");
    let mut talk = stage.talk(model).await;
    talk.say("hi").await;
    questions.next().await.call(&[("no_such_tool", json!({}))]);
    talk.until(|event| matches!(event, Event::Limit(_)).then_some(())).await;
    talk.conversation.cancel().await;
    assert_eq!(talk.wait_turn_end().await, TurnEnd::Cancelled);
    let told = go_on(&mut talk, &mut questions).await;
    assert!(told.last().unwrap().contains("unknown tool `no_such_tool`"), "{told:?}");
    talk.conversation.close().await;
    stage.stop().await;
}

#[tokio::test]
async fn while_nothing_runs_there_is_nothing_to_give_up() {
    let stage = Stage::new().await;
    let (model, mut questions) = Puppet::new("main");
    let mut talk = stage.talk(model).await;
    talk.conversation.cancel().await;
    assert_eq!(go_on(&mut talk, &mut questions).await, Vec::<String>::new());
    talk.conversation.cancel().await;
    let told = go_on(&mut talk, &mut questions).await;
    assert_eq!(told, ["user: go on", "assistant: Here I am."]);
    talk.conversation.close().await;
    stage.stop().await;
}

#[tokio::test]
async fn closing_gives_up_what_runs_and_the_record_knows() {
    let stage = Stage::new().await;
    let (model, mut questions) = Puppet::new("main");
    let mut talk = stage.talk(model.clone()).await;
    let session = talk.conversation.session().clone();
    talk.say("hi").await;
    questions.next().await.call(&[("echo__slow", json!({"ms": 60_000}))]);
    talk.wait_call("slow").await;
    talk.conversation.close().await;
    let talk = stage.resume(model, session).await;
    let asked = questions.next().await;
    assert!(
        asked.newest().starts_with("results: Cancelled before it ended"),
        "{:?}",
        asked.message_lines()
    );
    asked.end("I see.");
    talk.conversation.close().await;
    stage.stop().await;
}
