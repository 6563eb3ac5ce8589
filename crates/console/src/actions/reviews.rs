//! Answers what waits for a person.

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use switchboard_store::{QueueError, UserDecision};

use super::body::{ApiResult, parse_body};
use super::responses::ReviewAnswered;
use crate::console::SharedConsole;
use crate::reply;
use crate::reply::ApiError;

/// An answer to something that waits.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct AnswerGiven {
    /// The `digest` of what was shown.
    digest: String,
    #[serde(flatten)]
    said: PersonAnswer,
}

/// What a person said.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "PersonSaid")]
pub(crate) struct PersonAnswer {
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

impl PersonAnswer {
    /// It as an answer.
    pub(super) fn into_decision(self) -> Result<UserDecision, ApiError> {
        let Self { answer, words, arguments, content } = self;
        Ok(match answer.as_str() {
            "run" => arguments.map_or(UserDecision::Run, UserDecision::RunWith),
            "session" => UserDecision::Session,
            "always" => UserDecision::Always,
            "skip" => UserDecision::Skip,
            "reject" => match words.filter(|words| !words.trim().is_empty()) {
                Some(words) => UserDecision::Reject(words),
                None => UserDecision::Skip,
            },
            "accept" => UserDecision::Accept(content),
            "decline" => UserDecision::Decline,
            "cancel" => UserDecision::Cancel,
            other => {
                let words = "a call takes `run`, `session`, `always`, `skip` or `reject`; what a \
                    server asks takes `accept`, `decline` or `cancel`";
                return Err(
                    ApiError::unprocessable(format!("`{other}` is no answer")).with_hint(words)
                );
            }
        })
    }
}

/// Answers something that waits.
pub(crate) async fn answer_review(
    State(console): State<SharedConsole>,
    Path(id): Path<String>,
    body: Bytes,
) -> ApiResult {
    let AnswerGiven { digest, said } = parse_body(&body)?;
    let given = said.into_decision()?;
    let word = given.word();
    let answered = console.host.reviews().answer(&id, &digest, given, "the console").await;
    answered.map_err(|error| queue_error(&error))?;
    Ok(reply::json(&ReviewAnswered { id, answered: word }))
}

fn queue_error(error: &QueueError) -> ApiError {
    ApiError::new(StatusCode::CONFLICT, error.to_string())
}
