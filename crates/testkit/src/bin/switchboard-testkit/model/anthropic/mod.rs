//! Anthropic's messages.

mod answer;
mod blocks;
mod check;
mod pairs;
mod refusal;

pub(crate) use answer::{events, model, models, whole};
pub(crate) use check::{check, messages};
pub(crate) use refusal::refusal;
