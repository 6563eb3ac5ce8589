//! Answers what waits for a person.

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use switchboard_host::review::{Given, WaitingError};

use super::body::{Answer, read};
use crate::console::Shared;
use crate::reply::{self, Problem};

#[derive(Deserialize)]
struct AnswerGiven {
    digest: String,
    answer: String,
    words: Option<String>,
    arguments: Option<String>,
    content: Option<Map<String, Value>>,
}

/// Answers something that waits.
pub(crate) async fn answer_review(
    State(console): State<Shared>,
    Path(id): Path<String>,
    body: Bytes,
) -> Answer {
    let AnswerGiven { digest, answer, words, arguments, content } = read(&body)?;
    let given = match answer.as_str() {
        "run" => arguments.map_or(Given::Run, Given::RunWith),
        "session" => Given::Session,
        "always" => Given::Always,
        "skip" => Given::Skip,
        "reject" => match words.filter(|words| !words.trim().is_empty()) {
            Some(words) => Given::Reject(words),
            None => Given::Skip,
        },
        "accept" => Given::Accept(content),
        "decline" => Given::Decline,
        "cancel" => Given::Cancel,
        other => return Err(Problem::unusable(format!("`{other}` is no answer"))),
    };
    let word = given.word();
    let answered = console.host.waiting().answer(&id, &digest, given, "the console").await;
    answered.map_err(|error| refused(&error))?;
    Ok(reply::json(&json!({"id": id, "answered": word})))
}

fn refused(error: &WaitingError) -> Problem {
    Problem::new(StatusCode::CONFLICT, error.to_string())
}
