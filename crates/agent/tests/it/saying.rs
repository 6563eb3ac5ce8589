//! Messages that a person sends during a turn reach the model with the next request.

use serde_json::json;
use switchboard_agent::TurnEnd;
use switchboard_prompting::Image;

use crate::puppet::Puppet;
use crate::stage::Stage;

#[tokio::test]
async fn words_said_while_the_model_thinks_begin_the_next_turn() {
    let stage = Stage::new().await;
    let (model, mut questions) = Puppet::new("main");
    let mut talk = stage.talk(model).await;
    talk.say("one").await;
    let asked = questions.next().await;
    talk.say("two").await;
    talk.say("three").await;
    // The messages are stored before the answer.
    let session = talk.conversation.session().clone();
    while stage.state(&session).await.number < 4 {
        tokio::task::yield_now().await;
    }
    asked.end("First.");
    let asked = questions.next().await;
    assert_eq!(asked.message_lines(), ["user: one", "assistant: First.", "user: two\n\nthree"]);
    asked.end("Second.");
    assert_eq!(talk.wait_turn_end().await, TurnEnd::Done);
    talk.conversation.close().await;
    stage.stop().await;
}

#[tokio::test]
async fn words_said_while_a_call_runs_follow_its_result() {
    let stage = Stage::new().await;
    let (model, mut questions) = Puppet::new("main");
    let mut talk = stage.talk(model).await;
    talk.say("one").await;
    questions.next().await.call(&[("echo__slow", json!({"ms": 300}))]);
    talk.wait_call("slow").await;
    talk.say("hurry").await;
    let asked = questions.next().await;
    assert_eq!(
        asked.message_lines()[2..],
        ["results: [Data from `echo/slow`:]\n\nslept 300 ms", "user: hurry"]
    );
    asked.end("I hurry.");
    assert_eq!(talk.wait_turn_end().await, TurnEnd::Done);
    talk.conversation.close().await;
    stage.stop().await;
}

#[tokio::test]
async fn pictures_are_not_lost_when_they_come_while_the_model_thinks() {
    let stage = Stage::new().await;
    let (model, mut questions) = Puppet::new("main");
    let mut talk = stage.talk(model).await;
    talk.say("one").await;
    let asked = questions.next().await;
    let picture = Image { mime: "image/png".to_owned(), data: "aGk=".to_owned() };
    talk.conversation.say("look", vec![picture]).await;
    let session = talk.conversation.session().clone();
    while stage.state(&session).await.number < 3 {
        tokio::task::yield_now().await;
    }
    asked.end("First.");
    let asked = questions.next().await;
    assert_eq!(asked.newest(), "user: look (1 pictures)");
    asked.end("I see.");
    assert_eq!(talk.wait_turn_end().await, TurnEnd::Done);
    talk.conversation.close().await;
    stage.stop().await;
}

#[tokio::test]
async fn words_said_before_a_step_was_given_up_are_there_in_the_next() {
    let stage = Stage::new().await;
    let (model, mut questions) = Puppet::new("main");
    let mut talk = stage.talk(model).await;
    talk.say("one").await;
    let _asked = questions.next().await;
    talk.say("two").await;
    talk.conversation.cancel().await;
    assert_eq!(talk.wait_turn_end().await, TurnEnd::Cancelled);
    talk.say("three").await;
    let asked = questions.next().await;
    assert_eq!(asked.message_lines(), ["user: one", "user: two", "user: three"]);
    asked.end("All three.");
    talk.conversation.close().await;
    stage.stop().await;
}
