//! Messages are undone, retried, read by another model and by another process.

use serde_json::{Value, json};
use switchboard_agent::TurnEnd;
use switchboard_prompting::{CallMode, ModelErrorKind, Vendor};

use crate::puppet::{Puppet, Questions};
use crate::stage::{Stage, Talk};

/// Completes one turn without calls.
async fn turn(talk: &mut Talk, questions: &mut Questions, said: &str, answer: &str) {
    talk.say(said).await;
    questions.next().await.end(answer);
    assert_eq!(talk.wait_turn_end().await, TurnEnd::Done);
}

#[tokio::test]
async fn a_turn_is_taken_back_with_its_calls() {
    let stage = Stage::new().await;
    let (model, mut questions) = Puppet::new("main");
    let mut talk = stage.talk(model).await;
    turn(&mut talk, &mut questions, "one", "First.").await;
    talk.say("two").await;
    questions.next().await.call(&[("echo__write", json!({"key": "a"}))]);
    questions.next().await.end("Written.");
    assert_eq!(talk.wait_turn_end().await, TurnEnd::Done);
    talk.conversation.undo().await;
    talk.say("three").await;
    let asked = questions.next().await;
    assert_eq!(asked.message_lines(), ["user: one", "assistant: First.", "user: three"]);
    asked.end("Third.");
    assert_eq!(talk.wait_turn_end().await, TurnEnd::Done);
    for there_is_one in [true, true, false] {
        assert_eq!(talk.conversation.undo().await, there_is_one);
    }
    assert_eq!(stage.home.journal_lines(), ["write a"]);
    talk.conversation.close().await;
    stage.stop().await;
}

#[tokio::test]
async fn words_said_in_the_middle_of_a_turn_are_taken_back_with_it() {
    let stage = Stage::new().await;
    let (model, mut questions) = Puppet::new("main");
    let mut talk = stage.talk(model).await;
    talk.say("one").await;
    questions.next().await.call(&[("echo__slow", json!({"ms": 200}))]);
    talk.wait_call("slow").await;
    talk.say("hurry").await;
    questions.next().await.end("Done.");
    assert_eq!(talk.wait_turn_end().await, TurnEnd::Done);
    talk.conversation.undo().await;
    talk.say("afresh").await;
    let asked = questions.next().await;
    assert_eq!(asked.message_lines(), ["user: afresh"]);
    asked.end("Hello.");
    talk.conversation.close().await;
    stage.stop().await;
}

#[tokio::test]
async fn while_something_runs_nothing_is_taken_back() {
    let stage = Stage::new().await;
    let (model, mut questions) = Puppet::new("main");
    let mut talk = stage.talk(model).await;
    talk.say("one").await;
    let asked = questions.next().await;
    assert!(!talk.conversation.undo().await);
    asked.end("First.");
    assert_eq!(talk.wait_turn_end().await, TurnEnd::Done);
    talk.conversation.close().await;
    stage.stop().await;
}

#[tokio::test]
async fn taking_back_a_turn_does_not_bring_the_limits_of_another_model_back() {
    let stage = Stage::new().await;
    let (large, mut questions) = Puppet::new("large");
    let (small, _nothing) = Puppet::like("small", CallMode::Native(Vendor::OpenAi), 5_000);
    let mut talk = stage.talk(large).await;
    turn(&mut talk, &mut questions, "one", "First.").await;
    talk.conversation.use_model(small).await;
    talk.conversation.undo().await;
    let session = talk.conversation.session().clone();
    talk.conversation.close().await;
    let state = stage.state(&session).await;
    assert_eq!((state.limits.window, state.messages.len()), (5_000, 0));
    stage.stop().await;
}

#[tokio::test]
async fn calls_of_a_native_model_are_words_to_one_that_calls_in_text() {
    let stage = Stage::new().await;
    let (native, mut questions) = Puppet::new("native");
    let (textual, mut others) = Puppet::in_text("textual");
    let mut talk = stage.talk(native.clone()).await;
    talk.say("one").await;
    questions.next().await.call(&[("echo__echo", json!({"text": "hey"}))]);
    questions.next().await.end("Heard.");
    assert_eq!(talk.wait_turn_end().await, TurnEnd::Done);
    talk.conversation.use_model(textual).await;
    talk.say("two").await;
    let asked = others.next().await;
    assert_eq!(
        asked.message_lines(),
        [
            "user: one",
            "assistant: [called echo__echo with {\"text\":\"hey\"}]",
            "user: [echo__echo] Result:\n```\n[Data from `echo/echo`:]\n\nhey\n```",
            "assistant: Heard.",
            "user: two",
        ]
    );
    assert_eq!(asked.request.tools, Value::Null);
    assert!(asked.request.system.contains("use_mcp_tool"), "{}", asked.request.system);
    let call = "I call.\n\n<use_mcp_tool>\n<server_name>echo</server_name>\n\
                <tool_name>echo</tool_name>\n<arguments>\n{\"text\":\"ho\"}\n</arguments>\n\
                </use_mcp_tool>";
    asked.end(call);
    let asked = others.next().await;
    let result = "user: [use_mcp_tool of `echo` on server `echo`] Result:\n```\n[Data from `echo/echo`:]\n\nho\n```";
    assert_eq!(asked.newest(), result);
    asked.end("Heard too.");
    assert_eq!(talk.wait_turn_end().await, TurnEnd::Done);
    // Back to the first model: the calls that the other one made in its text stay text.
    talk.conversation.use_model(native).await;
    talk.say("three").await;
    let asked = questions.next().await;
    let told = asked.message_lines();
    assert_eq!(told[1], "assistant:  echo__echo{\"text\":\"hey\"}");
    assert_eq!(
        told[5..],
        [&format!("assistant: {call}"), result, "assistant: Heard too.", "user: three"]
    );
    asked.end("Third.");
    talk.conversation.close().await;
    stage.stop().await;
}

#[tokio::test]
async fn a_question_that_failed_is_asked_again_as_it_was() {
    let stage = Stage::new().await;
    let (model, mut questions) = Puppet::new("main");
    let mut talk = stage.talk(model).await;
    talk.conversation.retry().await;
    assert_eq!(talk.wait_warning().await, "no unanswered request to retry");
    assert_eq!(talk.wait_turn_end().await, TurnEnd::Done);
    talk.say("one").await;
    let asked = questions.next().await;
    let told = asked.message_lines();
    asked.fail(ModelErrorKind::Unreachable);
    let end = talk.wait_turn_end().await;
    assert!(matches!(&end, TurnEnd::Failed(failure) if failure.message == "it cannot"), "{end:?}");
    talk.conversation.retry().await;
    let asked = questions.next().await;
    assert_eq!(asked.message_lines(), told);
    asked.call(&[("echo__echo", json!({"text": "hey"}))]);
    questions.next().await.fail(ModelErrorKind::CutOff);
    assert!(matches!(talk.wait_turn_end().await, TurnEnd::Failed(_)));
    talk.conversation.retry().await;
    let asked = questions.next().await;
    assert_eq!(asked.newest(), "results: [Data from `echo/echo`:]\n\nhey");
    asked.end("Done.");
    assert_eq!(talk.wait_turn_end().await, TurnEnd::Done);
    talk.conversation.retry().await;
    assert_eq!(talk.wait_warning().await, "no unanswered request to retry");
    talk.conversation.close().await;
    stage.stop().await;
}

#[tokio::test]
async fn another_process_goes_on_where_the_first_one_was() {
    let stage = Stage::new().await;
    let (model, mut questions) = Puppet::new("main");
    let mut talk = stage.talk(model.clone()).await;
    let session = talk.conversation.session().clone();
    turn(&mut talk, &mut questions, "one", "First.").await;
    talk.say("two").await;
    let asked = questions.next().await;
    let told = asked.message_lines();
    talk.conversation.close().await;
    asked.given_up().await;
    let mut talk = stage.resume(model, session.clone()).await;
    let asked = questions.next().await;
    assert_eq!(asked.message_lines(), told);
    asked.end("Second.");
    assert_eq!(talk.wait_turn_end().await, TurnEnd::Done);
    talk.conversation.close().await;
    let kept = stage.state(&session).await;
    assert_eq!((kept.messages.len(), kept.is_idle()), (4, true));
    stage.stop().await;
}
