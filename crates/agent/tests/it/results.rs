//! Results as the model sees them: notices of the server, and long texts in parts.

use serde_json::json;

use crate::puppet::Puppet;
use crate::stage::{Consent, Stage};

#[tokio::test]
async fn what_a_server_says_during_a_call_stands_under_its_result() {
    let fault = ["flaky", "--fault", "notification-flood", "--count", "3"];
    let stage = Stage::with(&fault, Consent::Everything).await;
    let (model, mut questions) = Puppet::new("main");
    let talk = stage.talk(model).await;
    talk.say("hi").await;
    questions.next().await.call(&[("echo__echo", json!({"text": "hello"}))]);
    let asked = questions.next().await;
    let expected = "results: [Data from `echo/echo`:]\n\nhello\n\n[Log messages of the server:]\n\
                    - info: [flood] 0\n- info: [flood] 1\n- info: [flood] 2";
    assert_eq!(asked.newest(), expected);
    asked.call(&[("echo__echo", json!({"text": "once more"}))]);
    // The fault occurs once, and its notice is shown once.
    let asked = questions.next().await;
    assert_eq!(asked.newest(), "results: [Data from `echo/echo`:]\n\nonce more");
    asked.end("Done.");
    talk.conversation.close().await;
    stage.stop().await;
}

#[tokio::test]
async fn a_long_result_is_cut_and_can_be_read_whole() {
    let mut stage = Stage::new().await;
    stage.settings.result_chars = 1_000;
    let (model, mut questions) = Puppet::new("main");
    let talk = stage.talk(model).await;
    talk.say("hi").await;
    questions.next().await.call(&[("echo__big", json!({"bytes": 5_000}))]);
    let asked = questions.next().await;
    let told = asked.newest();
    assert!(told.len() < 1_500 && told.contains(" of 5000 bytes omitted here"), "{told}");
    let handle = told.split("result `").nth(1).and_then(|rest| rest.split('`').next()).unwrap();
    let handle = handle.to_owned();
    asked.call(&[
        ("read_result", json!({"result": handle})),
        ("read_result", json!({"result": "r99-1"})),
        ("read_result", json!({"nothing": true})),
    ]);
    let asked = questions.next().await;
    let whole: String = "abcdefghij".chars().cycle().take(5_000).collect();
    let told = asked.newest();
    // A line that is too long is read in parts, each of which names its source.
    let expected = format!("results: [Data from `echo/big`:]{whole}");
    assert!(told.replace('\n', "").starts_with(&expected), "{told}");
    assert!(told.contains("no stored result named `r99-1`"), "{told}");
    assert!(told.contains("invalid arguments for `read_result`"), "{told}");
    asked.end("Read.");
    talk.conversation.close().await;
    stage.stop().await;
}

#[tokio::test]
async fn a_long_result_can_be_read_by_the_next_process() {
    let mut stage = Stage::new().await;
    stage.settings.result_chars = 1_000;
    let (model, mut questions) = Puppet::new("main");
    let talk = stage.talk(model.clone()).await;
    let session = talk.conversation.session().clone();
    talk.say("hi").await;
    questions.next().await.call(&[("echo__big", json!({"bytes": 5_000}))]);
    let asked = questions.next().await;
    let told = asked.newest();
    talk.conversation.close().await;
    asked.given_up().await;
    let talk = stage.resume(model, session).await;
    let asked = questions.next().await;
    assert_eq!(asked.newest(), told);
    asked.call(&[("read_result", json!({"result": "r3-1", "lines": 1}))]);
    let asked = questions.next().await;
    let part = asked.newest();
    assert!(part.ends_with("\n[continues at line 2 of 3]"), "{part}");
    assert!(part.starts_with("results: [Data from `echo/big`:]\n\nabcdefghij"), "{part}");
    asked.end("Read.");
    talk.conversation.close().await;
    stage.stop().await;
}
