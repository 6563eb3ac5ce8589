//! OpenAI's chat completions.

mod answer;
mod check;
mod refusal;

pub(crate) use answer::{events, model, models, whole};
pub(crate) use check::{check, messages};
pub(crate) use refusal::refusal;
