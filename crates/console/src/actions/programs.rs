//! Actions for calls of other programs of the same user, whose updates are streamed.

use std::convert::Infallible;

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::IntoResponse as _;
use futures_util::StreamExt as _;
use switchboard_core::Face;
use switchboard_views::{QuestionAnswered, WantedCall};

use super::body::{ApiResult, parse_body};
use super::responses::{AnswerTaken, CallGivenUp};
use crate::auth::Principal;
use crate::console::ConsoleState;
use crate::programs::AnswerRejection;
use crate::reply::ApiError;
use crate::{programs, reply};

/// Starts a call and streams its updates as JSON Lines.
pub(crate) async fn make_call(
    State(console): ConsoleState,
    Extension(signed): Extension<Principal>,
    body: Bytes,
) -> ApiResult {
    let wanted: WantedCall = parse_body(&body)?;
    // Calls of commands have the same face with and without a running instance.
    let face = if signed.is_program() { Face::Cli } else { Face::Console };
    let lines = programs::start_call(&console, &wanted, face)?;
    let body = Body::from_stream(lines.map(Ok::<String, Infallible>));
    let kind = HeaderValue::from_static("application/jsonl");
    Ok(([(CONTENT_TYPE, kind)], body).into_response())
}

pub(crate) async fn answer_call(
    State(console): ConsoleState,
    Path(id): Path<String>,
    body: Bytes,
) -> ApiResult {
    let QuestionAnswered { question, said } = parse_body(&body)?;
    let given = said.into_decision()?;
    let word = given.word();
    match console.lines.answer(&id, question, given) {
        Ok(()) => Ok(reply::json(&AnswerTaken { question, answered: word })),
        Err(AnswerRejection::NoCall) => Err(no_call(&id)),
        Err(AnswerRejection::Over) => {
            let why = format!("question {question} is no longer open");
            Err(ApiError::new(StatusCode::CONFLICT, why).with_hint("the first answer counts"))
        }
        Err(AnswerRejection::DoesNotFit) => {
            let why = format!("answer `{word}` does not fit question {question}");
            Err(ApiError::unprocessable(why))
        }
    }
}

pub(crate) async fn give_up_call(
    State(console): ConsoleState,
    Path(id): Path<String>,
) -> ApiResult {
    if console.lines.give_up(&id) {
        return Ok(reply::json(&CallGivenUp { given_up: true }));
    }
    Err(no_call(&id))
}

fn no_call(id: &str) -> ApiError {
    ApiError::not_found(format!("no call `{id}` in flight"))
}
