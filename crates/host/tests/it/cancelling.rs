//! A cancelled call ends at the server too: over pipes and over HTTP, in both eras.

use std::time::Duration;

use serde_json::json;
use switchboard_host::{CallOptions, OutcomeKind};

use crate::stage::{SERVER, Stage, eventually, words};

const SOON: Duration = Duration::from_secs(10);

#[tokio::test]
async fn a_server_is_told_that_a_call_was_given_up_in_the_words_of_its_era() {
    for era in ["legacy", "modern"] {
        for over in ["stdio", "http", "sse"] {
            if (era, over) == ("modern", "sse") {
                continue;
            }
            let words_of = ["echo", "--era", era, "--transport", over];
            let (stage, _fixture) = match over {
                "stdio" => (Stage::new().fixture(SERVER, &words_of, 60), None),
                _ => {
                    let (stage, fixture) = Stage::new().web(&words_of, 60);
                    (stage, Some(fixture))
                }
            };
            let play = stage.ready().await;
            let attention = CallOptions::default();
            let arguments = json!({"ms": 60_000});
            let calling = play.call_with("slow", &arguments, &attention);
            let give_up = async {
                let sent = async || play.received("tools/call") == 1;
                eventually("the call arrives", SOON, sent).await;
                attention.cancel.cancel();
            };
            let (record, ()) = tokio::join!(calling, give_up);
            let expected = (OutcomeKind::Cancelled, Some("by_caller"));
            assert_eq!(words(&record), expected, "{era} over {over}");
            let told = async || {
                play.home.journal_lines().iter().any(|line| line.starts_with("cancelled "))
            };
            eventually("the server is told", SOON, told).await;
            // The protocol defines one way for each: a notification, or closing the stream.
            let notified = if (era, over) == ("modern", "http") { 0 } else { 1 };
            assert_eq!(play.received("notifications/cancelled"), notified, "{era} over {over}");
            play.stop().await;
        }
    }
}
