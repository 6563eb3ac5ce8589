//! A conversation that outgrows the model's window is cut, and the part that was cut can be read.

use serde_json::{Value, json};
use switchboard_agent::{Event, TurnEnd};
use switchboard_prompting::{CallMode, ModelErrorKind, Vendor};

use crate::puppet::{Puppet, PuppetQuestion, Questions};
use crate::stage::{Stage, Talk};

/// Returns about 1,700 tokens that contain a word to search for.
fn long(word: &str) -> String {
    format!("{word}\n{}", "some words that fill the page\n".repeat(240))
}

const WINDOW: usize = 10_000;

fn is_summary(asked: &PuppetQuestion) -> bool {
    asked.request.system.starts_with("You shorten conversations")
        && asked.request.tools == Value::Null
}

/// Talks until the model is asked for a summary.
async fn until_full(talk: &mut Talk, questions: &mut Questions) -> PuppetQuestion {
    for number in 1..=12 {
        talk.say(&long(&format!("apple-{number}"))).await;
        let asked = questions.next().await;
        if is_summary(&asked) {
            return asked;
        }
        asked.end(&format!("Answer {number}."));
        assert_eq!(talk.wait_turn_end().await, TurnEnd::Done);
    }
    panic!("the window is never full");
}

async fn small(stage: &Stage) -> (Talk, Questions) {
    let (model, questions) = Puppet::like("small", CallMode::Native(Vendor::OpenAi), WINDOW);
    (stage.talk(model).await, questions)
}

#[tokio::test]
async fn the_model_sums_up_the_beginning_and_can_read_it_again() {
    let stage = Stage::new().await;
    let (mut talk, mut questions) = small(&stage).await;
    let summary = until_full(&mut talk, &mut questions).await;
    assert!(summary.message_lines()[0].contains("apple-1\n"), "{:?}", summary.message_lines());
    summary.end("They spoke of apples.");
    let asked = questions.next().await;
    let told = asked.message_lines();
    assert!(
        told[0].contains("They spoke of apples.") && told[0].contains("result `h1`"),
        "{told:?}"
    );
    assert!(!told.concat().contains("apple-1\n"), "the beginning is still there");
    assert!(told.last().unwrap().contains("apple-"), "the newest words are gone");
    asked.call(&[("read_result", json!({"result": "h1", "containing": "apple-1"}))]);
    let asked = questions.next().await;
    assert!(asked.newest().contains(": apple-1\n"), "{}", asked.newest());
    asked.end("Found.");
    assert_eq!(talk.wait_turn_end().await, TurnEnd::Done);
    let session = talk.conversation.session().clone();
    assert_eq!(stage.state(&session).await.cuts, 1);
    talk.conversation.close().await;
    stage.stop().await;
}

#[tokio::test]
async fn without_a_summary_the_first_words_of_each_message_stand_for_it() {
    let stage = Stage::new().await;
    let (mut talk, mut questions) = small(&stage).await;
    let summary = until_full(&mut talk, &mut questions).await;
    summary.fail(ModelErrorKind::Unreachable);
    let asked = questions.next().await;
    let first = &asked.message_lines()[0];
    assert!(first.contains("- User: apple-1 some words"), "{first}");
    assert!(first.contains("- Assistant: Answer 1."), "{first}");
    asked.end("Done.");
    assert_eq!(talk.wait_turn_end().await, TurnEnd::Done);
    talk.conversation.close().await;
    stage.stop().await;
}

#[tokio::test]
async fn a_summary_that_was_given_up_is_asked_for_again_with_the_next_words() {
    let stage = Stage::new().await;
    let (mut talk, mut questions) = small(&stage).await;
    let summary = until_full(&mut talk, &mut questions).await;
    talk.conversation.cancel().await;
    assert_eq!(talk.wait_turn_end().await, TurnEnd::Cancelled);
    summary.given_up().await;
    talk.say("once more").await;
    let summary = questions.next().await;
    assert!(is_summary(&summary));
    let session = talk.conversation.session().clone();
    let before = stage.state(&session).await.number;
    talk.say("and this").await;
    while stage.state(&session).await.number == before {
        tokio::task::yield_now().await;
    }
    summary.end("They spoke of apples.");
    let asked = questions.next().await;
    let told = asked.message_lines();
    assert!(told[0].contains("They spoke of apples."), "{told:?}");
    assert_eq!(told[told.len() - 2..], ["user: once more", "user: and this"]);
    asked.end("Done.");
    talk.conversation.close().await;
    stage.stop().await;
}

#[tokio::test]
async fn a_process_that_dies_while_it_sums_up_is_followed_by_one_that_does() {
    let stage = Stage::new().await;
    let (model, mut questions) = Puppet::like("small", CallMode::Native(Vendor::OpenAi), WINDOW);
    let mut talk = stage.talk(model.clone()).await;
    let session = talk.conversation.session().clone();
    let summary = until_full(&mut talk, &mut questions).await;
    talk.conversation.close().await;
    summary.given_up().await;
    let mut talk = stage.resume(model, session).await;
    let summary = questions.next().await;
    assert!(is_summary(&summary));
    summary.end("They spoke of apples.");
    questions.next().await.end("Done.");
    assert_eq!(talk.wait_turn_end().await, TurnEnd::Done);
    talk.conversation.close().await;
    stage.stop().await;
}

#[tokio::test]
async fn what_the_vendor_finds_too_long_is_cut_once() {
    let stage = Stage::new().await;
    let (model, mut questions) = Puppet::new("large");
    let mut talk = stage.talk(model).await;
    for number in 1..=4 {
        talk.say(&long(&format!("pear-{number}"))).await;
        questions.next().await.end(&long("Answer"));
        assert_eq!(talk.wait_turn_end().await, TurnEnd::Done);
    }
    talk.say("And now?").await;
    questions.next().await.fail(ModelErrorKind::TooLong);
    let summary = questions.next().await;
    assert!(is_summary(&summary), "{:?}", summary.message_lines());
    summary.end("They spoke of pears.");
    let asked = questions.next().await;
    assert!(
        asked.message_lines()[0].contains("They spoke of pears."),
        "{:?}",
        asked.message_lines()
    );
    asked.fail(ModelErrorKind::TooLong);
    let end = talk.wait_turn_end().await;
    assert!(
        matches!(&end, TurnEnd::Failed(failure) if failure.trouble == ModelErrorKind::TooLong),
        "{end:?}"
    );
    assert!(questions.is_empty());
    talk.conversation.close().await;
    stage.stop().await;
}

#[tokio::test]
async fn the_face_is_told_how_much_was_cut() {
    let stage = Stage::new().await;
    let (mut talk, mut questions) = small(&stage).await;
    until_full(&mut talk, &mut questions).await.end("Apples.");
    let cut = talk
        .until(|event| match event {
            Event::Compacted { messages, summary } => Some((*messages, summary.clone())),
            _ => None,
        })
        .await;
    assert!(cut.0 >= 2 && cut.1 == "Apples.", "{cut:?}");
    questions.next().await.end("Done.");
    talk.conversation.close().await;
    stage.stop().await;
}
