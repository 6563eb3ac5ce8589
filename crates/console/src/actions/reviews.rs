//! Answers what waits for a person.

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use switchboard_store::{Given, WaitingError};

use super::body::{Answer, read};
use super::done::ReviewAnswered;
use crate::console::Shared;
use crate::reply;
use crate::reply::Problem;

/// An answer to something that waits.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct AnswerGiven {
    /// The `digest` of what was shown.
    digest: String,
    #[serde(flatten)]
    said: Said,
}

/// What a person said.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "PersonSaid")]
pub(crate) struct Said {
    /// What is answered.
    #[schemars(extend("enum" = ["run", "session", "always", "skip", "reject", "accept", "decline", "cancel"]))]
    answer: String,
    /// With `reject`: what to do instead.
    words: Option<String>,
    /// With `run`: the text of a JSON object to use instead.
    arguments: Option<String>,
    /// With `accept`: what was filled into the form.
    content: Option<Map<String, Value>>,
}

impl Said {
    /// It as an answer.
    pub(super) fn given(self) -> Result<Given, Problem> {
        let Self { answer, words, arguments, content } = self;
        Ok(match answer.as_str() {
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
            other => {
                let words = "a call takes `run`, `session`, `always`, `skip` or `reject`; what a \
                    server asks takes `accept`, `decline` or `cancel`";
                return Err(Problem::unusable(format!("`{other}` is no answer")).with_hint(words));
            }
        })
    }
}

/// Answers something that waits.
pub(crate) async fn answer_review(
    State(console): State<Shared>,
    Path(id): Path<String>,
    body: Bytes,
) -> Answer {
    let AnswerGiven { digest, said } = read(&body)?;
    let given = said.given()?;
    let word = given.word();
    let answered = console.host.waiting().answer(&id, &digest, given, "the console").await;
    answered.map_err(|error| refused(&error))?;
    Ok(reply::json(&ReviewAnswered { id, answered: word }))
}

fn refused(error: &WaitingError) -> Problem {
    Problem::new(StatusCode::CONFLICT, error.to_string())
}
